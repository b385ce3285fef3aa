// `npm run proof -- builds [--node 20,22,24] [--tests PATH]`: the end-to-end tests on each supported Node with each
// build of uWebSockets.js that has a binary for it, and what `serve` says on a Node that none has one for.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { canHaveOtherNodes, NODE_VERSIONS, type OtherNode, otherNode } from '../support/other-nodes.js';
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
