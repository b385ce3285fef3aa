// Runs the real command as a process in a temporary folder.
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Call, Ended } from './command-host.js';

const MAIN = resolve('dist/cli/main.js');

export interface Ran {
  /** Exit code; null if a signal ended it. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stdoutBytes: Buffer;
  readonly stderr: string;
}

export interface RunOptions {
  readonly stdin?: string | Uint8Array;
  readonly env?: Record<string, string>;
  /** Called with the process when it has started. */
  readonly started?: (child: ChildProcess) => void;
}

/** Commands that go on until somebody stops them, but for those words. */
const LONG: Readonly<Record<string, RegExp>> = {
  bench: /^--compare$/,
  serve: /^--(?:check|print)-config$/,
  worker: /^setup$/,
};

/** Settings that a process reads once, and options of Node. */
const ONCE = /^(?:HEXCODES_(?:INDEX|REACH|UWS)|NODE_\w+)$/;

let host: { readonly child: ChildProcess; readonly ended: Promise<never> } | undefined;
let isBusy = false;

/** Whether a call does in a process that stays what it does in one of its own. */
function mayBeHosted(args: readonly string[], { env = {}, started }: RunOptions): boolean {
  const [command = '', text = ''] = args;
  // A position alone is answered before the program is loaded.
  const isAlone = command === 'encode' && args.length === 2 && /^\d/.test(text);
  const isOwn = started !== undefined || Object.keys(env).some((name) => ONCE.test(name));
  const isShort = LONG[command]?.test(text) ?? true;
  return isShort && !isAlone && !isOwn && !args.some((arg) => /^\/(?:dev|proc)\//.test(arg));
}

/** Starts the process that stays; it ends with this one. */
function startHost(): NonNullable<typeof host> {
  const child = fork('build/test/support/command-host.js', { serialization: 'advanced' });
  child.unref();
  child.channel?.unref();
  const ended = once(child, 'exit').then(() => {
    host = undefined;
    throw new Error('the process that commands share has ended');
  });
  // Heard by the call that it ends.
  ended.catch(() => {});
  return { child, ended };
}

async function hosted(call: Call): Promise<Ran> {
  isBusy = true;
  try {
    host ??= startHost();
    const answer = once(host.child, 'message') as Promise<[Ended]>;
    host.child.send(call);
    const [{ code, stdout, stderr }] = await Promise.race([answer, host.ended]);
    const stdoutBytes = Buffer.from(stdout);
    return { code, stdout: stdoutBytes.toString(), stdoutBytes, stderr: Buffer.from(stderr).toString() };
  } finally {
    isBusy = false;
  }
}

export class CliFolder {
  readonly path = mkdtempSync(join(tmpdir(), 'hexcodes-cli-'));

  file(name: string): string {
    return join(this.path, name);
  }

  write(name: string, content: string | Uint8Array): string {
    writeFileSync(this.file(name), content);
    return name;
  }

  read(name: string): string {
    return readFileSync(this.file(name), 'utf8');
  }

  bytes(name: string): Buffer {
    return readFileSync(this.file(name));
  }

  /** Names of all files, sorted. */
  names(): string[] {
    return readdirSync(this.path).sort();
  }

  /** The words that run the command, for scripts of a shell. */
  commandLine(args: readonly string[]): string[] {
    return [process.execPath, MAIN, ...args];
  }

  /** @param line the words after `hexcodes`, or a text of words without blanks of their own */
  run(line: string | readonly string[], options: RunOptions = {}): Promise<Ran> {
    const { stdin, env = {}, started } = options;
    const args = typeof line === 'string' ? line.split(' ') : line;
    const { NO_COLOR: _, FORCE_COLOR: __, HEXCODES_INDEX: ___, ...inherited } = process.env;
    if (!isBusy && mayBeHosted(args, options))
      return hosted({ args, cwd: this.path, env: { ...inherited, ...env }, stdin: Buffer.from(stdin ?? '') });
    return new Promise((done, failed) => {
      const child = spawn(process.execPath, [MAIN, ...args], {
        cwd: this.path,
        env: { ...inherited, ...env },
      });
      const out: Buffer[] = [];
      const err: Buffer[] = [];
      child.stdout.on('data', (bytes: Buffer) => out.push(bytes));
      child.stderr.on('data', (bytes: Buffer) => err.push(bytes));
      child.on('error', failed);
      child.on('close', (code) => {
        const stdoutBytes = Buffer.concat(out);
        done({ code, stdout: stdoutBytes.toString(), stdoutBytes, stderr: Buffer.concat(err).toString() });
      });
      child.stdin.on('error', () => {});
      child.stdin.end(stdin ?? '');
      started?.(child);
    });
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}
