// The message bus as a worker sees it: a stream to receive from, and answers that are stored once. The
// adapters are nats/ and kafka/.

/** One delivery of a message. */
export interface Received {
  readonly subject: string;
  /** The producer's own id of the message, or one made of its number in the stream: the same at every delivery. */
  readonly id: string;
  readonly bytes: Uint8Array;
  /** Headers of the producer, without those of the bus. */
  readonly headers: ReadonlyMap<string, string>;
  /** Why its headers cannot be read; it has neither an id of its producer then nor headers. */
  readonly damage?: string;
  /** Names the message where only its number in the stream does: `stream HEXCODES_IN, message 17`. */
  readonly origin: string;
  /** 1 at the first delivery. */
  readonly deliveries: number;
  /** Name that the adapter gives the message, for its answer. */
  readonly handle?: unknown;
  /** Acknowledges the message: it is not delivered again. */
  accept(): void;
  /** Delivers it again after `delayMs`, to any worker. */
  giveBack(delayMs: number): void;
  /** Restarts the time after which the bus delivers the message again, as work on it goes on. */
  keep(): void;
}

/** A message that is to be stored. */
export interface Outgoing {
  /** No second message is stored under the same subject. */
  readonly subject: string;
  readonly id: string;
  readonly bytes: Uint8Array;
  readonly headers: ReadonlyMap<string, string>;
  /** That of the message that it answers, or is the dead letter of. */
  readonly handle?: unknown;
  readonly isDead?: boolean;
}

/**
 * `already`: there is a message under this subject, so this one was not stored. `lost`: nothing was stored, as the
 * message that it answers is delivered again, to this worker or another.
 */
export type Stored = 'stored' | 'already' | 'lost';

/** Why a message could not be stored: `full` and `away` pass, `too-large` does not. */
type StoreFaultKind = 'full' | 'away' | 'too-large';

export class StoreFault extends Error {
  override readonly name = 'StoreFault';
  constructor(
    readonly kind: StoreFaultKind,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** Ends a command with one sentence: the bus cannot be used as it is. */
export class EngineFault extends Error {
  override readonly name = 'EngineFault';
  constructor(
    message: string,
    /** The remedy. */
    readonly hint?: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

export interface Engine {
  /** Tries to store many messages at once that were not successful; absent where each is stored by itself. */
  readonly storeFaults?: number;
  /**
   * Deliveries, until `stop`. It goes on through outages of the bus.
   * @throws EngineFault where it cannot go on: stream or consumer are gone, the credentials hold no longer
   */
  receive(): AsyncIterable<Received>;
  /** Ends `receive`: deliveries that were not handed out are made again, to any worker. */
  stop(): void;
  /**
   * Resolves when the message is stored.
   * @throws StoreFault
   */
  store(message: Outgoing): Promise<Stored>;
}

// How long something took, counted in buckets as Prometheus has them.

/** Upper bounds in seconds. */
export const DURATION_BOUNDS_S = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30,
] as const;

export class Durations {
  /** Counts of durations up to each bound and above the one before; the last count has no bound. */
  readonly counts: number[] = new Array(DURATION_BOUNDS_S.length + 1).fill(0) as number[];
  sumS = 0;

  add(ms: number): void {
    const seconds = ms / 1000;
    this.sumS += seconds;
    let at = 0;
    while (at < DURATION_BOUNDS_S.length && seconds > DURATION_BOUNDS_S[at]!) at++;
    this.counts[at]!++;
  }
}
