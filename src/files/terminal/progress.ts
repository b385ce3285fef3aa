// Progress on stderr: on a terminal one line that is redrawn, elsewhere a plain line every few seconds.

import { EXIT, type ExitCode } from '../exit-codes.js';
import { counted, grouped } from './say.js';

// Handles Ctrl-C and SIGTERM: the first stops the run at its next tick, a second ends the process at once.

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
  readonly readBytes: number;
  /** Size of all inputs; null if the size of one is unknown. */
  readonly totalBytes: number | null;
}

const REDRAW_MS = 200;
const PLAIN_LINE_MS = 5000;
const BAR_CELLS = 20;
const HIDE_CURSOR = '\x1b[?25l';
const SHOW_CURSOR = '\x1b[?25h';
const CLEAR_BEHIND = '\x1b[K';

export class Progress {
  readonly #startMs = performance.now();
  #isDrawn = false;
  #lastMs = performance.now();

  /** @param startRows rows of an earlier run: they do not count for the speed */
  constructor(
    private readonly isSilent: boolean,
    private readonly startRows: number,
  ) {}

  get elapsedMs(): number {
    return performance.now() - this.#startMs;
  }

  update(state: ProgressState): void {
    const nowMs = performance.now();
    const isTerminal = process.stderr.isTTY === true;
    if (this.isSilent || nowMs - this.#lastMs < (isTerminal ? REDRAW_MS : PLAIN_LINE_MS)) return;
    this.#lastMs = nowMs;
    const line = this.#lineOf(state);
    const { readBytes, totalBytes } = state;
    const share = totalBytes ? Math.min(readBytes, totalBytes) / totalBytes : null;
    const percent = share === null ? '' : Math.floor(100 * share);
    if (!isTerminal) {
      process.stderr.write(`${share === null ? '' : `${percent} %  `}${line}\n`);
      return;
    }
    const full = Math.round((share ?? 0) * BAR_CELLS);
    const bar = share === null ? '' : `${'█'.repeat(full)}${'░'.repeat(BAR_CELLS - full)} ${percent}%  `;
    // A longer line would wrap, and only its end would be overwritten.
    const shown = `${bar}${line}`.slice(0, process.stderr.columns || undefined);
    process.stderr.write(`${this.#isDrawn ? '' : HIDE_CURSOR}\r${shown}${CLEAR_BEHIND}`);
    this.#isDrawn = true;
  }

  /** Removes the line from the terminal. */
  stop(): void {
    if (this.#isDrawn) process.stderr.write(`\r${CLEAR_BEHIND}${SHOW_CURSOR}`);
    this.#isDrawn = false;
  }

  #lineOf({ rows, failedRows, readBytes, totalBytes }: ProgressState): string {
    const seconds = this.elapsedMs / 1000;
    const parts = [
      counted(rows, 'row'),
      `${grouped((rows - this.startRows) / seconds)} rows/s`,
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
