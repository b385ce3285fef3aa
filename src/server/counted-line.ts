// A line of the log that many peers may cause, at most once a second, with how often it was caused: a flood of
// connections or requests is not a flood of lines.
import type { Logger } from './log.js';

const LINE_MS = 1000;

export class CountedLine {
  #count = 0;
  #fields: Readonly<Record<string, string>> = {};
  #timer: NodeJS.Timeout | undefined;

  /** @param counted the field that has the count */
  constructor(
    private readonly logger: Logger,
    private readonly counted: string,
    private readonly message: string,
  ) {}

  /**
   * Counts a cause. The first of a second is logged at once; of the others the last gives the fields of the next line.
   */
  add(fields: Readonly<Record<string, string>> = {}): void {
    this.#count++;
    this.#fields = fields;
    if (this.#timer !== undefined) return;
    this.#log();
    this.#timer = setInterval(() => {
      if (this.#count > 0) {
        this.#log();
        return;
      }
      clearInterval(this.#timer);
      this.#timer = undefined;
    }, LINE_MS);
    this.#timer.unref();
  }

  #log(): void {
    this.logger.warn({ [this.counted]: this.#count, ...this.#fields }, this.message);
    this.#count = 0;
  }
}
