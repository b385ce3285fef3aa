// Runs the real command as a process in a temporary folder.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

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

  /** @param line the words behind `hexcodes`, or a text of words without blanks of their own */
  run(line: string | readonly string[], { stdin, env = {}, started }: RunOptions = {}): Promise<Ran> {
    const args = typeof line === 'string' ? line.split(' ') : line;
    return new Promise((done, failed) => {
      const { NO_COLOR: _, FORCE_COLOR: __, HEXCODES_INDEX: ___, ...inherited } = process.env;
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
