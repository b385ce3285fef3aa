// Says counts from time to time on standard error, where they have changed, and once more at the end.
import { grouped } from '../../files/terminal/paint.js';

/** A count with its words: `[17, 'messages']`. */
export type Count = readonly [number, string];

export class CountsReport {
  #last = '';
  readonly #timer: NodeJS.Timeout;

  constructor(
    readonly counts: () => readonly Count[],
    everyMs: number,
    readonly isQuiet: boolean,
  ) {
    this.#timer = setInterval(() => this.#tell(), everyMs);
  }

  end(): void {
    clearInterval(this.#timer);
    this.#tell();
  }

  #tell(): void {
    const line = this.counts()
      .map(([count, words]) => `${grouped(count)} ${words}`)
      .join('  ');
    if (line !== this.#last && !this.isQuiet) process.stderr.write(`${line}\n`);
    this.#last = line;
  }
}
