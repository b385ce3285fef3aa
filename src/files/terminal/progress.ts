// Progress on stderr: one line that is redrawn on a terminal, a plain line every few seconds elsewhere.

import type { SingleBar } from 'cli-progress';
import { EXIT, type ExitCode } from '../exit-codes.js';
import { grouped } from './say.js';

// Ctrl-C and SIGTERM: the first stops the run at its next tick, a second ends the process at once.

/** Catches both signals from its construction to `end()`. */
export class Interruption {
  #signal: 'SIGINT' | 'SIGTERM' | null = null;
  readonly #listener: (signal: NodeJS.Signals) => void;

  constructor() {
    this.#listener = (signal) => {
      if (this.#signal !== null) process.exit(signal === 'SIGINT' ? EXIT.INTERRUPTED : EXIT.TERMINATED);
      this.#signal = signal as 'SIGINT' | 'SIGTERM';
    };
    process.on('SIGINT', this.#listener);
    process.on('SIGTERM', this.#listener);
  }

  get isAsked(): boolean {
    return this.#signal !== null;
  }

  get exitCode(): ExitCode {
    return this.#signal === 'SIGTERM' ? EXIT.TERMINATED : EXIT.INTERRUPTED;
  }

  end(): void {
    process.off('SIGINT', this.#listener);
    process.off('SIGTERM', this.#listener);
  }
}

export interface ProgressState {
  readonly rows: number;
  readonly failedRows: number;
  /** Bytes of input read so far. */
  readonly readBytes: number;
  /** Size of all inputs; null if the size of one is unknown. */
  readonly totalBytes: number | null;
}

const REDRAW_MS = 200;
const PLAIN_LINE_MS = 5000;

export class Progress {
  readonly #startMs = performance.now();
  readonly #startRows: number;
  readonly #isSilent: boolean;
  #bar: SingleBar | null = null;
  #library: typeof import('cli-progress') | null = null;
  #lastMs = performance.now();

  /** @param startRows rows that an earlier run converted: they do not count for the speed */
  constructor(isSilent: boolean, startRows: number) {
    this.#isSilent = isSilent;
    this.#startRows = startRows;
    // Half of the files that a small run would load.
    if (!isSilent && process.stderr.isTTY === true) void this.#loadLibrary();
  }

  async #loadLibrary(): Promise<void> {
    this.#library = (await import('cli-progress')).default;
  }

  get elapsedMs(): number {
    return performance.now() - this.#startMs;
  }

  update(state: ProgressState): void {
    const nowMs = performance.now();
    const isTerminal = process.stderr.isTTY === true;
    if (this.#isSilent || nowMs - this.#lastMs < (isTerminal ? REDRAW_MS : PLAIN_LINE_MS)) return;
    this.#lastMs = nowMs;
    const line = this.#lineOf(state);
    if (!isTerminal) {
      const { readBytes, totalBytes } = state;
      const share = totalBytes
        ? `${Math.floor((100 * Math.min(readBytes, totalBytes)) / totalBytes)} %  `
        : '';
      process.stderr.write(`${share}${line}\n`);
      return;
    }
    const total = state.totalBytes ?? 0;
    if (this.#library === null) return;
    if (this.#bar === null) {
      this.#bar = new this.#library.SingleBar({
        format: total > 0 ? '{bar} {percentage}%  {line}' : '{line}',
        stream: process.stderr,
        barsize: 20,
        clearOnComplete: true,
        hideCursor: true,
        barCompleteChar: '█',
        barIncompleteChar: '░',
        gracefulExit: false,
      });
      this.#bar.start(Math.max(1, total), 0, { line });
    }
    this.#bar.update(Math.min(state.readBytes, Math.max(1, total)), { line });
  }

  /** Removes the line from the terminal. */
  stop(): void {
    this.#bar?.stop();
    this.#bar = null;
  }

  #lineOf({ rows, failedRows, readBytes, totalBytes }: ProgressState): string {
    const seconds = this.elapsedMs / 1000;
    const parts = [
      `${grouped(rows)} rows`,
      `${grouped((rows - this.#startRows) / seconds)} rows/s`,
      `${(readBytes / seconds / 1e6).toFixed(1)} MB/s`,
    ];
    if (totalBytes !== null && readBytes > 0) {
      const leftS = (seconds * Math.max(0, totalBytes - readBytes)) / readBytes;
      parts.push(`ETA ${duration(leftS * 1000)}`);
    }
    parts.push(`${grouped(failedRows)} failed`);
    return parts.join('  ');
  }
}

/** A duration for people: `0.4 s`, `12 s`, `3 min 20 s`, `2 h 5 min`. */
export function duration(ms: number): string {
  const seconds = ms / 1000;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}
