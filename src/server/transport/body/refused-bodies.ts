// Bodies of requests that are refused while most of the body is still to come. Closed at once, the connection would be
// reset by the bytes under way, and the client would see that in place of the reason (README U37). So the rest is read
// and thrown away, within bounds, and only then the connection is closed, or the answer sent to a client that wants it
// after its body.

/** More than a body of 1 GB. To read bytes and drop them costs the process less than any request of as many bytes. */
const MOST_BYTES = 2 ** 30;
/** As long as a peer that neither sends nor reads is waited for elsewhere (bulk/outlet.ts). */
const MOST_MS = 60_000;
/**
 * Without a byte for this long the peer has stopped sending: most do when they see the answer, and some proxies then
 * wait for us.
 */
const QUIET_MS = 3000;
/**
 * Connections at a time, of all peers and of one key; those without a key count as one. Beyond them they are closed at
 * once.
 */
const MOST_BODIES = 256;
const MOST_BODIES_PER_KEY = 64;
/** The end of a body in chunks is reported before its last two bytes have come (README U36). */
const LAST_BYTES_MS = 200;

/** Counts the bodies that are read on, for all exchanges of an adapter. */
export class RefusedBodies {
  readonly #byKey = new Map<string, number>();
  #count = 0;

  /** Bodies that are read on now. */
  get count(): number {
    return this.#count;
  }

  /** Counts one more of a key, '' for nobody's; false if there are as many as there may be. */
  take(keyId: string): boolean {
    const ofKey = this.#byKey.get(keyId) ?? 0;
    if (this.#count >= MOST_BODIES || ofKey >= MOST_BODIES_PER_KEY) return false;
    this.#byKey.set(keyId, ofKey + 1);
    this.#count++;
    return true;
  }

  /** To be called once for each that was taken. */
  giveBack(keyId: string): void {
    const ofKey = (this.#byKey.get(keyId) ?? 0) - 1;
    if (ofKey > 0) this.#byKey.set(keyId, ofKey);
    else this.#byKey.delete(keyId);
    this.#count--;
  }
}

/** One body that is read on. */
export class RefusedBody {
  /** The body has ended, a bound was reached, or the connection is gone. */
  isOver = false;
  #bytes = 0;
  #timer: NodeJS.Timeout;
  readonly #endMs = performance.now() + MOST_MS;

  /**
   * @param ended called when the body has ended, or a bound is reached, unless the connection is gone by then
   * @param over called once, before `ended` or when the connection is gone
   */
  constructor(
    private readonly ended: () => void,
    private readonly over: () => void,
    /** The body comes in chunks. */
    private readonly isChunked: boolean,
  ) {
    this.#timer = setTimeout(() => this.#end(), QUIET_MS);
  }

  /** Takes bytes, and drops them. Called in callbacks of uWS, where nothing is closed: what is corked would be lost. */
  take(sizeBytes: number, isLast: boolean): void {
    if (this.isOver) return;
    this.#bytes += sizeBytes;
    if (!isLast && this.#bytes <= MOST_BYTES && performance.now() < this.#endMs) {
      this.#timer.refresh();
      return;
    }
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#end(), isLast && this.isChunked ? LAST_BYTES_MS : 0);
  }

  /** The connection is closed. */
  gone(): void {
    if (this.isOver) return;
    this.isOver = true;
    clearTimeout(this.#timer);
    this.over();
  }

  #end(): void {
    if (this.isOver) return;
    this.gone();
    this.ended();
  }
}
