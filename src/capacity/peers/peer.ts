// One connection of the generator, as its loops see it, whatever protocol it speaks.

/** A request that was sent and is not answered yet. Times are those of the clock of the loop. */
export interface Sent {
  /** Which of the prepared exchanges. */
  readonly exchange: number;
  readonly intendedMs: number;
  readonly sentMs: number;
  /** Whether the whole answer is compared with what the library says. */
  readonly isSampled: boolean;
}

/**
 * 'ok', or 'refused' where the server says that it has too much to do. A wrong answer is a fault of the peer instead.
 */
export type Outcome = 'ok' | 'refused';

export interface Peer {
  /** Requests without an answer. */
  readonly unanswered: number;
  /** The most of them that the protocol or the job allows. */
  readonly mostUnanswered: number;
  /** Answers so far. */
  readonly answers: number;
  readonly sentBytes: number;
  readonly receivedBytes: number;
  send(sent: Sent): void;
  onAnswer: (sent: Sent, outcome: Outcome) => void;
  /** Called once: a wrong answer, or a connection that ended. */
  onFault: (reason: string) => void;
  close(): void;
}

/** A request made beforehand, and the judgement of its answer. */
export interface Exchange {
  /** Everything that is written. */
  readonly request: Buffer;
  /** @returns the reason why this is not the answer that the library gives; undefined where it is */
  fault(body: Buffer): string | undefined;
}
