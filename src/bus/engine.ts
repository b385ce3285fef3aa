// The message bus as a worker sees it: a stream to receive from, and answers that are stored once. The
// adapters are nats/ and kafka/.

/** One delivery of a message. */
export interface Received {
  readonly subject: string;
  /** The producer's id of the message, or one made of its sequence in the stream: equal at every delivery. */
  readonly id: string;
  readonly bytes: Uint8Array;
  /** Headers of the producer, without those of the bus. */
  readonly headers: ReadonlyMap<string, string>;
  /** Why its headers cannot be read; the message then has neither headers nor a producer's id. */
  readonly damage?: string;
  /** Name of the message by its sequence, for messages without an id: `stream HEXCODES_IN, message 17`. */
  readonly origin: string;
  /** 1 at the first delivery. */
  readonly deliveries: number;
  /** The adapter's name of the message, needed to store its answer. */
  readonly handle?: unknown;
  /** Acknowledges the message: it is not delivered again. */
  accept(): void;
  /** Negative acknowledgement: delivers the message again after `delayMs`, to any worker. */
  giveBack(delayMs: number): void;
  /** Extends the acknowledgement deadline while the message is being worked on. */
  keep(): void;
}

/** A message that is to be stored. */
export interface Outgoing {
  /** No second message is stored under the same subject. */
  readonly subject: string;
  readonly id: string;
  readonly bytes: Uint8Array;
  readonly headers: ReadonlyMap<string, string>;
  /** Handle of the message that is answered, or that becomes a dead letter. */
  readonly handle?: unknown;
  readonly isDead?: boolean;
  /** Nothing of the message goes with it, not even its key. */
  readonly isBare?: boolean;
}

/**
 * `already`: the subject has a message, so this one was not stored. `lost`: nothing was stored, because the message
 * to be answered is delivered again, to this worker or another.
 */
export type Stored = 'stored' | 'already' | 'lost';

/** Why a message could not be stored: `full` and `away` are temporary, `too-large` is permanent. */
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
  /** Failed attempts to store several messages at once; absent where each is stored by itself. */
  readonly storeFaults?: number;
  /**
   * Deliveries, until `stop`, through outages of the bus.
   * @throws EngineFault where it cannot continue: the stream or the consumer is gone, or the credentials have expired
   */
  receive(): AsyncIterable<Received>;
  /** Ends `receive`; deliveries that were not yet returned go to any worker again. */
  stop(): void;
  /**
   * Resolves when the message is stored.
   * @throws StoreFault
   */
  store(message: Outgoing): Promise<Stored>;
}

// A histogram of durations, with buckets as Prometheus has them.

/** Upper bounds in seconds. */
export const DURATION_BOUNDS_S = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30,
] as const;

export class Durations {
  /** Number of durations in each bucket; the last one has no upper bound. */
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
