// Bodies of answers that are kept in memory, with their price; where there is no space for a new one, the least
// recently used go first.

export interface KeptBody {
  readonly bytes: Uint8Array;
  /** The price of the answer. */
  readonly points: number;
}

export class KeptBodies {
  readonly #bodies = new Map<string, KeptBody>();
  readonly #mostBytes: number;
  #bytes = 0;

  /** @param mostBytes of all bodies together */
  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  /** The body of this name, which counts as asked for now; undefined if it is not here. */
  find(name: string): KeptBody | undefined {
    const body = this.#bodies.get(name);
    if (body === undefined) return undefined;
    // A map keeps the order of insertion.
    this.#bodies.delete(name);
    this.#bodies.set(name, body);
    return body;
  }

  /** Keeps a body, unless there is one of this name. */
  keep(name: string, body: KeptBody): void {
    if (this.#bodies.has(name)) return;
    this.#bytes += sizeOf(name, body);
    this.#bodies.set(name, body);
    for (const [oldest, old] of this.#bodies) {
      if (this.#bytes <= this.#mostBytes) break;
      this.#bodies.delete(oldest);
      this.#bytes -= sizeOf(oldest, old);
    }
  }
}

/** With some bytes for the entry itself, so that empty bodies count. */
const sizeOf = (name: string, { bytes }: KeptBody): number => 200 + name.length + bytes.length;
