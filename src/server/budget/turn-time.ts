// How long one turn of the event loop has worked on batches. With more requests ready than it can answer soon, a turn
// would go on until all are answered, each later than the one before, and the transport would close the last of them
// without an answer. So those that find a second of work before them are refused at once, and may come again.

/** Long enough for some four hundred batches of 1,000 points. */
const MOST_MS = 1000;

export class TurnTime {
  #startMs = 0;
  #isOver = true;

  /** @param nowMs a clock that nobody sets */
  constructor(
    private readonly mostMs = MOST_MS,
    private readonly nowMs: () => number = () => performance.now(),
  ) {}

  /** The turn should take up no more work. A turn begins when this is first asked for in it. */
  get isUp(): boolean {
    if (!this.#isOver) return this.nowMs() - this.#startMs >= this.mostMs;
    this.#isOver = false;
    this.#startMs = this.nowMs();
    setImmediate(() => {
      this.#isOver = true;
    });
    return false;
  }
}
