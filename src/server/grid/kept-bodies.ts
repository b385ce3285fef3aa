// Bodies of answers that are kept in memory, those not asked for longest first to go.

export class KeptBodies {
  readonly #bodies = new Map<string, Uint8Array>();
  readonly #mostBytes: number;
  #bytes = 0;

  /** @param mostBytes of all bodies together */
  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  /** The body of this name, made by `make` if it is not here. */
  get(name: string, make: () => Uint8Array): Uint8Array {
    const kept = this.#bodies.get(name);
    const body = kept ?? make();
    // A map keeps the order of insertion.
    if (kept !== undefined) this.#bodies.delete(name);
    else this.#bytes += sizeOf(name, body);
    this.#bodies.set(name, body);
    for (const [oldest, old] of this.#bodies) {
      if (this.#bytes <= this.#mostBytes) break;
      this.#bodies.delete(oldest);
      this.#bytes -= sizeOf(oldest, old);
    }
    return body;
  }
}

/** With some bytes for the entry itself, so that empty bodies count. */
const sizeOf = (name: string, body: Uint8Array): number => 200 + name.length + body.length;
