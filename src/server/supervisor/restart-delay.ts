// How long a process that died stays away: at once the first time, then longer each time, so that a fault that kills it
// over and over does not take the machine.

/** Lifetime after which earlier deaths of a process are forgotten. */
const STABLE_MS = 60_000;
const FIRST_DELAY_MS = 1000;
const MOST_DELAY_MS = 30_000;

export class RestartDelay {
  #deaths = 0;

  /** The delay for a process that has just died. */
  nextMs(livedMs: number): number {
    if (livedMs >= STABLE_MS) this.#deaths = 0;
    const delayMs = this.#deaths === 0 ? 0 : FIRST_DELAY_MS * 2 ** (this.#deaths - 1);
    this.#deaths++;
    return Math.min(delayMs, MOST_DELAY_MS);
  }
}
