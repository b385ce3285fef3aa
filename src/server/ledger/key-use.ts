// The use of one key: counts in cells that are flushed, and sums of the day and the month. The sums are those of all
// processes that share the store, as far as this one knows.
import type { UsedByKey } from '../usage/batch.js';
import { NOTHING_USED } from '../usage/batch-rows.js';
import { CELLS, cellAt, FAILED, OK, REFUSED } from '../usage/operations.js';

/** Requests and points of a key, refused ones left out. */
type Used = { -readonly [K in keyof UsedByKey]: UsedByKey[K] };

export class KeyUse {
  /** Until the cells were taken last. */
  #used: Used;
  readonly #cells = new Float64Array(2 * CELLS);
  #isDirty = false;

  /** @param onFirst called with the first count since the cells were taken */
  constructor(
    used: UsedByKey | undefined,
    private readonly onFirst: () => void,
  ) {
    this.#used = used ?? NOTHING_USED;
  }

  /** Counts points that are converted, `ok` and otherwise. */
  converted(operation: number, ok: number, failed: number): void {
    const cells = this.#cells;
    cells[cellAt(operation, OK) + 1]! += ok;
    cells[cellAt(operation, FAILED) + 1]! += failed;
    if (!this.#isDirty) this.#setDirty();
  }

  /** Counts points that are refused. */
  refuse(operation: number, points: number): void {
    this.#cells[cellAt(operation, REFUSED) + 1]! += points;
    if (!this.#isDirty) this.#setDirty();
  }

  /** Counts a request that is answered. */
  answered(operation: number, httpStatus: number): void {
    const outcome = httpStatus < 400 ? OK : httpStatus === 429 ? REFUSED : FAILED;
    this.#cells[cellAt(operation, outcome)]!++;
    if (!this.#isDirty) this.#setDirty();
  }

  get isDirty(): boolean {
    return this.#isDirty;
  }

  /** The use until now. */
  sums(): UsedByKey {
    let requests = 0;
    let points = 0;
    const cells = this.#cells;
    for (let at = 0; at < 2 * CELLS; at += cellAt(1, 0)) {
      for (const outcome of [OK, FAILED]) {
        requests += cells[at + cellAt(0, outcome)]!;
        points += cells[at + cellAt(0, outcome) + 1]!;
      }
    }
    const { dayRequests, dayPoints, monthRequests, monthPoints } = this.#used;
    return {
      ...this.#used,
      dayRequests: dayRequests + requests,
      dayPoints: dayPoints + points,
      monthRequests: monthRequests + requests,
      monthPoints: monthPoints + points,
    };
  }

  /** The sums that the store has answered with. */
  get stored(): UsedByKey {
    return this.#used;
  }

  /** Moves the cells to `to`, which has room for them. */
  takeCells(to: Float64Array): void {
    this.#used = { ...this.sums() };
    to.set(this.#cells);
    this.#cells.fill(0);
    this.#isDirty = false;
  }

  /** Takes in the use by all processes until the cells were taken last. */
  learn(used: UsedByKey): void {
    this.#used = { ...used };
  }

  /** Another day or month has begun; the cells are taken. */
  startPeriod(dayIsNew: boolean, monthIsNew: boolean): void {
    if (dayIsNew) this.#used = { ...this.#used, dayRequests: 0, dayPoints: 0, dayHeld: 0 };
    if (!monthIsNew) return;
    this.#used = { ...this.#used, monthRequests: 0, monthPoints: 0, monthHeld: 0 };
  }

  #setDirty(): void {
    this.#isDirty = true;
    this.onFirst();
  }
}
