// `npm run proof -- schemathesis [--cases 4000] [--seeds 7,11] [--tools FOLDER]`: schemathesis with all its checks
// against a service, by the OpenAPI document that it serves: at least the given number of cases for each seed. A report
// is a fault unless its case breaks a rule that a schema cannot say; these are counted. FOLDER
// (~/.cache/hexcodes/generators) keeps its environment of Python, made with pip when it is missing.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ServerProcess } from '../support/server-process.js';
import { report } from './run-length.js';

const VERSION = 'schemathesis==4.32.5';
/** Rules between values, or between a value and what the service has, by the words of the answer or of the report. */
const UNTRUE: readonly (readonly [rule: string, words: RegExp])[] = [
  [
    'a tile is outside of its zoom',
    /"y must be an integer from 0 to \d+ at zoom|"x must be an integer from 0 to \d+ at zoom/,
  ],
  [
    'no such version of the data is there',
    /Hexcodes-Data must be a version of the boundary data that answers here/,
  ],
  // The transport drops bytes beyond ASCII at both ends of a header's value, and the header then is empty.
  [
    'a header of bytes beyond ASCII arrives empty',
    /Invalid component: parameter `Hexcodes-Data`[\s\S]*\$'Hexcodes-Data: (?:\\x[89a-f][0-9a-f])+'/,
  ],
  ['query and body contradict one another', /is given more than once with different values/],
  ['the text has no column of that name', /There is no column/],
  [
    'a text is a header row of CSV, whatever is in it',
    /Invalid component: in body - incorrect type[\s\S]*Content-Type: text\/csv/,
  ],
  [
    'a text is a line of NDJSON, which fails alone',
    /ST201[\s\S]*body(?: -|:) violates `type`[\s\S]*Content-Type: application\/x-ndjson/,
  ],
  // Traccar leaves a placeholder empty whose value it does not have.
  [
    'an empty object is an empty parameter, which counts as absent',
    /parameter `fixTime`[\s\S]*fixTime=(?:&|')/,
  ],
  ['the answer to a batch that is too long and wrong is 413', /ST201[\s\S]*a batch has at most 10000 items/],
];
/** NDJSON is a text to it: without a serializer it leaves such bodies out. */
const HOOKS = `import schemathesis
schemathesis.serializer.alias("application/x-ndjson", "text/plain")
`;
/** Operations of the document. */
const OPERATIONS = 21;

export default async function proveSchemathesis(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      cases: { type: 'string', default: '4000' },
      seeds: { type: 'string', default: '7,11' },
      tools: { type: 'string', default: join(homedir(), '.cache/hexcodes/generators') },
    },
  });
  mkdirSync(values.tools, { recursive: true });
  const python = join(values.tools, 'python/bin/python');
  const program = join(values.tools, 'python/bin/schemathesis');
  if (!existsSync(python))
    spawnSync('python3', ['-m', 'venv', join(values.tools, 'python')], { stdio: 'inherit' });
  if (!existsSync(program)) spawnSync(python, ['-m', 'pip', 'install', '-q', VERSION], { stdio: 'inherit' });
  const folder = mkdtempSync(join(tmpdir(), 'hexcodes-schemathesis-'));
  writeFileSync(join(folder, 'hooks.py'), HOOKS);
  const env = { ...process.env, PYTHONPATH: folder, SCHEMATHESIS_HOOKS: 'hooks' };
  for (const seed of values.seeds.split(',')) {
    const server = await ServerProcess.start({ isQuiet: true });
    const options = [
      ...[
        '--checks',
        'all',
        '--seed',
        seed,
        '--continue-on-failure',
        '--generation-with-security-parameters',
        'false',
      ],
      ...['--max-examples', String(Math.ceil(Number(values.cases) / OPERATIONS))],
      ...[
        '--phases',
        'examples,coverage,fuzzing,stateful',
        '--header',
        `X-API-Key: ${server.key}`,
        '--no-color',
      ],
    ];
    const { status, stdout, stderr } = spawnSync(
      program,
      ['run', `http://127.0.0.1:${server.port}/openapi.json`, ...options],
      // Schemathesis leaves files where it runs.
      { encoding: 'utf8', maxBuffer: 1 << 28, cwd: folder, env },
    );
    await server.kill();
    if (stderr !== '') console.log(stderr);
    const said = /(\d+) generated[^\n]*/.exec(stdout)?.[0] ?? stdout.trim().split('\n').at(-1) ?? '';
    const reports = reportsIn(stdout);
    const counts = new Map<string, number>();
    const faults: string[] = [];
    for (const text of reports) {
      const [rule] = UNTRUE.find(([, words]) => words.test(text)) ?? [];
      if (rule === undefined) faults.push(text);
      else counts.set(rule, (counts.get(rule) ?? 0) + 1);
    }
    const notes = [...counts].map(([rule, count]) => `${count} × ${rule}`);
    if (status !== 0 && reports.length === 0) faults.push(`ended with ${status}`);
    if (/ errored/.test(said)) faults.push('not every operation was tried');
    report('schemathesis', `${said}; ${notes.join('; ')}`, Number(seed), faults);
  }
  rmSync(folder, { recursive: true });
}

/** Each report with its request: the parts of its last page that begin with `- `, up to the next one. */
function reportsIn(stdout: string): string[] {
  const [, failures = ''] = stdout.split(/^=+ FAILURES =+$/m);
  const [listed = ''] = failures.split(/^=+ (?:WARNINGS|SUMMARY) =+$/m);
  const cases = listed.split(/^\d+\. Test Case ID: .*$/m).slice(1);
  return cases.flatMap((text) => {
    const request = text.slice(text.indexOf('Reproduce with:'));
    return text
      .slice(0, text.indexOf('Reproduce with:'))
      .split(/^(?=- )/m)
      .slice(1)
      .map((each) => each + request);
  });
}
