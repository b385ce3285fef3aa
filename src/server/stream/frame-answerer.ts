// The interface between a session and the one who answers its frames.

/** Instead of an answer: the quota of the key does not cover the frame. */
export const OVER_QUOTA = Symbol('over quota');

/** Answers the frames of one subprotocol. */
export interface FrameAnswerer {
  readonly isBinary: boolean;
  /** Whether a frame is small enough to be answered in the uWS callback. */
  isSmall(frame: Uint8Array): boolean;
  /**
   * The answer to a small frame, valid until the next call; undefined where it proves to be more work than its size
   * says.
   */
  answerNow(frame: Uint8Array): Uint8Array | typeof OVER_QUOTA | undefined;
  /**
   * The answer to any other frame, which is copied before this returns. Where the pool is full, or workers die over the
   * frame, that is the answer that asks the peer to send it again.
   */
  answerLater(frame: Uint8Array): Promise<Uint8Array | typeof OVER_QUOTA>;
  /** Takes back the answer to a large frame once it is sent: the socket has copied what it could not send. */
  giveBack(answer: Uint8Array): void;
}
