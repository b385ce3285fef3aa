// The one-line faults of test/fixtures/mutants.txt, and how one is put into its file, in a copy of the checkout.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

interface Mutant {
  readonly file: string;
  readonly text: string;
  readonly replacement: string;
  readonly tests: readonly string[];
}

/** @throws Error where a block of the list is not as its head says */
export function readMutants(list = readFileSync('test/fixtures/mutants.txt', 'utf8')): Mutant[] {
  const blocks = list
    .split(/\n{2,}/)
    .map((block) => block.split('\n').filter((line) => !/^(#|$)/.test(line)));
  return blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => {
      const [file = '', text = '', replacement = '', tests = ''] = lines;
      const isRight = text.startsWith('- ') && replacement.startsWith('+ ') && tests.startsWith('= ');
      if (lines.length !== 4 || !isRight) throw new Error(`not a file, -, + and =: ${lines.join(' | ')}`);
      return {
        file,
        text: text.slice(2),
        replacement: replacement.slice(2),
        tests: tests.slice(2).split(' '),
      };
    });
}

/** The file with the fault. @throws Error where its text is not there exactly once */
export function mutated(source: string, { file, text, replacement }: Mutant): string {
  const [before, after, ...more] = source.split(text);
  if (after === undefined || more.length > 0) throw new Error(`${file}: not there once: ${text}`);
  return before + replacement + after;
}

// A copy of the checkout in a folder of its own, in which one fault at a time is built and tested. The checkout stays
// as it is; the folder and all processes that work in it go away with `remove`.

const LEFT_OUT = ['node_modules', '.git', '.ci', 'var', 'release'];

/** How a fault was noticed: `what` names the first test that failed. */
interface Catch {
  readonly by: 'build' | 'test' | 'time';
  readonly what: string;
}

interface Run {
  readonly isGood: boolean;
  readonly isLate: boolean;
  readonly output: string;
}

export class MutantCopy {
  readonly #folder = mkdtempSync(join(tmpdir(), 'hexcodes-mutants-'));
  readonly #temporary = join(this.#folder, 'tmp');
  #child: ChildProcess | undefined;

  /** @param timeoutMs of one build or one run of tests */
  constructor(
    readonly timeoutMs: number,
    checkout = '.',
  ) {
    // Some tests start programs as another user.
    chmodSync(this.#folder, 0o755);
    for (const name of readdirSync(checkout)) {
      if (LEFT_OUT.includes(name) || name.endsWith('.tgz')) continue;
      cpSync(join(checkout, name), join(this.#folder, name), {
        recursive: true,
        preserveTimestamps: true,
        filter: (path) => !path.endsWith('/node_modules'),
      });
    }
    execFileSync(process.execPath, ['tools/link-packages.mjs', checkout, this.#folder]);
    mkdirSync(this.#temporary);
  }

  /** Builds and tests with the fault; undefined where neither the build nor one of the tests notices it. */
  async catchOf(
    mutant: Mutant,
    tests: readonly string[],
    timeoutMs = this.timeoutMs,
  ): Promise<Catch | undefined> {
    const path = join(this.#folder, mutant.file);
    const source = readFileSync(path, 'utf8');
    writeFileSync(path, mutated(source, mutant));
    try {
      return (await this.#build(timeoutMs)) ?? (await this.#test(tests, timeoutMs, ['--bail=1']));
    } finally {
      writeFileSync(path, source);
    }
  }

  /**
   * Builds without a fault, and runs the tests, if there are any.
   * @throws Error where one of the two fails: its failing with a fault would say nothing
   */
  async checkWithoutFault(tests: readonly string[]): Promise<void> {
    const timeoutMs = 6 * this.timeoutMs;
    const caught =
      (await this.#build(timeoutMs)) ??
      (tests.length > 0 ? await this.#test(tests, timeoutMs, []) : undefined);
    if (caught !== undefined) throw new Error(`without a fault: ${caught.by} ${caught.what}`);
  }

  /** Ends what runs in the copy, and takes the copy away. */
  remove(): void {
    killGroup(this.#child);
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 10 });
  }

  async #build(timeoutMs: number): Promise<Catch | undefined> {
    const { isGood, isLate, output } = await this.#run(['build.mjs', '--tests'], timeoutMs);
    if (isLate) return { by: 'time', what: 'the build' };
    return isGood
      ? undefined
      : { by: 'build', what: /error .*/i.exec(output)?.[0] ?? output.slice(-200).trim() };
  }

  async #test(
    tests: readonly string[],
    timeoutMs: number,
    options: readonly string[],
  ): Promise<Catch | undefined> {
    const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--no-cache', ...options, ...tests];
    const { isGood, isLate, output } = await this.#run(vitest, timeoutMs);
    if (isLate) return { by: 'time', what: tests.join(' ') };
    return isGood
      ? undefined
      : { by: 'test', what: /^ *FAIL +(.*)$/m.exec(output)?.[1] ?? output.slice(-200).trim() };
  }

  /** Runs a program of Node to its end, and ends all that it has started. */
  #run(args: readonly string[], timeoutMs: number): Promise<Run> {
    return new Promise((done) => {
      // A group of its own, so that servers and workers that a broken test leaves behind can be ended with it.
      const child = spawn(process.execPath, args, {
        cwd: this.#folder,
        detached: true,
        env: { ...process.env, TMPDIR: this.#temporary, NO_COLOR: '1' },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      this.#child = child;
      let output = '';
      let isLate = false;
      for (const stream of [child.stdout, child.stderr]) {
        stream.setEncoding('utf8');
        stream.on('data', (text: string) => {
          if (output.length < 1e6) output += text;
        });
      }
      const timer = setTimeout(() => {
        isLate = true;
        killGroup(child);
      }, timeoutMs);
      child.on('exit', () => killGroup(child));
      child.on('close', (code) => {
        clearTimeout(timer);
        this.#child = undefined;
        for (const name of readdirSync(this.#temporary))
          rmSync(join(this.#temporary, name), { recursive: true, force: true, maxRetries: 10 });
        done({ isGood: code === 0 && !isLate, isLate, output });
      });
    });
  }
}

function killGroup(child: ChildProcess | undefined): void {
  if (child?.pid === undefined) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    // Nothing of the group is left.
  }
}
