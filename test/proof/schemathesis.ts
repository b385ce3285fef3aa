// `npm run proof -- schemathesis [--cases 4000] [--seeds 7,11] [--tools FOLDER]`: schemathesis with all its checks
// against a service, by the OpenAPI document that it serves: at least the given number of cases for each seed. Its
// reports are printed. FOLDER (~/.cache/hexcodes/generators) keeps its environment of Python, made with pip when
// it is missing.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ServerProcess } from '../support/server-process.js';
import { report } from './run-length.js';

const VERSION = 'schemathesis==4.32.5';
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
      // It leaves files where it runs.
      { encoding: 'utf8', maxBuffer: 1 << 28, cwd: folder },
    );
    await server.kill();
    console.log(stdout.slice(-20_000) + stderr);
    const said = /(\d+) generated[^\n]*/.exec(stdout)?.[0] ?? stdout.trim().split('\n').at(-1) ?? '';
    const failures = [...stdout.matchAll(/^- (.+)$/gm)].map(([, what]) => what as string);
    report(
      'schemathesis',
      said,
      Number(seed),
      status === 0 ? [] : [`ended with ${status}`, ...new Set(failures)],
    );
  }
  rmSync(folder, { recursive: true });
}
