// Work of some milliseconds a piece, done one piece a turn of the event loop, so that other requests are answered in
// between.

interface Piece {
  readonly work: () => void;
  readonly failed: (error: unknown) => void;
}

export class OneATurn {
  readonly #waiting: Piece[] = [];
  readonly #mostWaiting: number;

  constructor(mostWaiting: number) {
    this.#mostWaiting = mostWaiting;
  }

  /** @returns false if too much waits: then the work is not taken */
  add(work: () => void, failed: (error: unknown) => void): boolean {
    if (this.#waiting.length >= this.#mostWaiting) return false;
    this.#waiting.push({ work, failed });
    if (this.#waiting.length === 1) setImmediate(() => this.#next());
    return true;
  }

  #next(): void {
    const { work, failed } = this.#waiting[0]!;
    try {
      work();
    } catch (error) {
      failed(error);
    }
    this.#waiting.shift();
    if (this.#waiting.length > 0) setImmediate(() => this.#next());
  }
}
