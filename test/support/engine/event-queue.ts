// Events of a simulation by their time: a binary heap. Events of the same time happen in the order in which they were
// added.

interface Event {
  readonly atS: number;
  readonly number: number;
  readonly happen: () => void;
}

const isBefore = (a: Event, b: Event): boolean => a.atS < b.atS || (a.atS === b.atS && a.number < b.number);

export class EventQueue {
  nowS = 0;
  #count = 0;
  readonly #heap: Event[] = [];

  in(delayS: number, happen: () => void): void {
    this.at(this.nowS + delayS, happen);
  }

  at(atS: number, happen: () => void): void {
    const event = { atS, number: this.#count++, happen };
    const heap = this.#heap;
    let at = heap.length;
    heap.push(event);
    while (at > 0) {
      const above = (at - 1) >> 1;
      if (!isBefore(event, heap[above]!)) break;
      heap[at] = heap[above]!;
      at = above;
    }
    heap[at] = event;
  }

  /** Lets the next event happen. @returns false where there is none */
  next(): boolean {
    const heap = this.#heap;
    const [first] = heap;
    const last = heap.pop();
    if (first === undefined || last === undefined) return false;
    if (heap.length > 0) this.#sink(last);
    this.nowS = first.atS;
    first.happen();
    return true;
  }

  /** Puts an event to the top, and lets it sink to its place. */
  #sink(event: Event): void {
    const heap = this.#heap;
    let at = 0;
    for (;;) {
      let below = 2 * at + 1;
      if (below >= heap.length) break;
      if (below + 1 < heap.length && isBefore(heap[below + 1]!, heap[below]!)) below++;
      if (!isBefore(heap[below]!, event)) break;
      heap[at] = heap[below]!;
      at = below;
    }
    heap[at] = event;
  }
}
