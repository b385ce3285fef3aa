// The environment that .ci/python makes: the wheel of clients/python installed with the engines that tests drive.

import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';

const FOLDER = resolve('build/python-env');
export const PYTHON = `${FOLDER}/bin/python`;

/** The folder of the packages in it. */
export const packagesFolder = (): string =>
  execFileSync(PYTHON, ['-c', "import sysconfig; print(sysconfig.get_path('purelib'))"], {
    encoding: 'utf8',
  }).trim();

/** Why tests with the package are skipped; undefined where they run. */
export const noPackage: string | undefined =
  existsSync(PYTHON) && spawnSync(PYTHON, ['-c', 'import hexcodes']).status === 0
    ? undefined
    : 'build/python-env is missing: .ci/python makes it';
/** Words for the names of tests that may be skipped. */
export const packageNote = noPackage === undefined ? '' : ` (${noPackage})`;

const hasJava = (): boolean => spawnSync('java', ['-version']).status === 0;
/** Why tests with Spark are skipped; undefined where they run. */
export const noSpark: string | undefined = noPackage ?? (hasJava() ? undefined : 'java is not installed');

export interface PythonRan {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs Python of the environment; its programs of examples are on the path of none but themselves. */
export function runPython(
  args: readonly string[],
  { input = '', env = {} }: { input?: string | Uint8Array; env?: Record<string, string> } = {},
): Promise<PythonRan> {
  const { PYTHONPATH: _, ...inherited } = process.env;
  const child = spawn(PYTHON, ['-B', ...args], {
    env: { ...inherited, PYTHONUTF8: '1', PATH: `${FOLDER}/bin:${process.env['PATH']}`, ...env },
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  return new Promise((done, failed) => {
    child.on('error', failed);
    child.on('close', (code) => done({ code, stdout, stderr }));
  });
}
