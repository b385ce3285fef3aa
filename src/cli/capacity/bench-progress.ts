// The part of a bench that runs now, on standard error: one line that is redrawn on a terminal, a line for each part
// elsewhere.
import { say } from '../../files/terminal/say.js';

const CLEAR_LINE = '\r\u001b[K';
const BAR_CELLS = 20;

export class BenchProgress {
  readonly #isTerminal = process.stderr.isTTY === true && process.env.TERM !== 'dumb';
  readonly #startMs = performance.now();
  #last = '';

  show(text: string, share: number): void {
    if (this.#isTerminal) {
      const full = Math.round(share * BAR_CELLS);
      const bar = '█'.repeat(full) + '░'.repeat(BAR_CELLS - full);
      say(`${CLEAR_LINE}${bar} ${Math.round(100 * share)} %  ${this.#elapsed()}  ${text}`);
    } else if (text !== this.#last) say(`${this.#elapsed()}  ${text}\n`);
    this.#last = text;
  }

  /** Removes the line from the terminal. */
  stop(): void {
    if (this.#isTerminal) say(CLEAR_LINE);
  }

  #elapsed(): string {
    const seconds = Math.floor((performance.now() - this.#startMs) / 1000);
    return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
  }
}
