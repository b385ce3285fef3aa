// An answer that leaves piece by piece, as the flow of a /bulk body sees it: of unknown length (chunked.ts) or of a length
// that is known before its first byte (sized.ts).

export interface StreamedAnswer {
  /** Called when all that was queued is handed over after `write` returned false. */
  onDrain: (() => void) | undefined;
  /** When the socket last had room, by performance.now(). */
  readonly progressMs: number;
  /**
   * Queues bytes, which must not change until `sent` is called; false asks the caller to wait for `onDrain`.
   */
  write(bytes: Uint8Array, sent?: () => void): boolean;
  /**
   * Writes at once what the socket has room for, of bytes that hold during the call only. Only in a turn of the event loop
   * of its own. `isLast`: the end follows, for which one of unknown length keeps something back.
   * @returns how many bytes went; the rest is for `write`
   */
  writeNow(bytes: Uint8Array, isLast: boolean): number;
  /** Ends the answer once everything queued is sent. */
  end(): void;
  /** Told when the last byte of the body has come. */
  setBodyEnded(): void;
  /** Told when the reading of the body is stopped and when it goes on. */
  setReadingStopped(stopped: boolean): void;
  /** Forgets what is queued: the request is gone. */
  drop(): void;
}

/** What `write` was given and has not gone yet. */
export interface Piece {
  readonly bytes: Uint8Array;
  readonly sent: (() => void) | undefined;
}

export interface AnswerHooks {
  /** Writes status line and headers: within the cork of the first write. */
  readonly head: () => void;
  /** The answer is ended before all of the body may have come: the reading, if it is stopped, may go on. */
  readonly ending: () => void;
  readonly finished: () => void;
  /** Runs what comes from timers and turns of the event loop. */
  readonly guard: (work: () => void) => void;
}

/** `write` asks for a pause above this. */
export const HIGH_WATER_BYTES = 256 * 1024;

/**
 * How often the transport's clock, which ends a connection ten seconds after a write that did not go whole, is set back
 * while a reader takes its time: by stopping the reading for a moment.
 */
export const CLOCK_MS = 4000;
