// Says in the log that peers were cut off for flooding: at most one line a second, with how many there were, so that a flood of
// connections is not a flood of lines.
import type { Logger } from './log.js';

const LINE_MS = 1000;

export class CutPeers {
  #count = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(private readonly logger: Logger) {}

  /** Counts a connection that was closed. The first of a second is logged at once. */
  add(): void {
    this.#count++;
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
    this.logger.warn(
      { connections: this.#count },
      'closed for too many requests or frames in one turn of the event loop',
    );
    this.#count = 0;
  }
}
