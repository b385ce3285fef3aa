// One connection that has not shown a valid key yet. uWS has one callback of each kind for a connection, which the
// owner of the response may set at any time and the end of an answer clears. So the response that uWS shows when the
// connection opens is kept, and its callbacks say what becomes of the connection between requests (README U39).
import type { UwsResponse } from '../uws.js';

type Receiver = (chunk: ArrayBuffer, isLast: boolean) => void;

export interface KeylessListener {
  /** A request without a body, or the first bytes of a body, have come, in the same callback of uWS as the request. */
  spoke(connection: KeylessConnection, chunk: ArrayBuffer, isLast: boolean): void;
  /** The connection is closed; its response must not be touched again. */
  closed(connection: KeylessConnection): void;
}

export class KeylessConnection {
  /** The door's clock when the connection opened, or last had a request or the end of an answer. */
  lastTick = 0;
  /**
   * Bytes of its last answer's body, which uWS keeps until its next request begins (README U39); 0 before the first.
   */
  lastAnswerBytes = 0;
  /** A request of it is not answered completely. */
  isBusy = false;
  /** Takes the rest of a body. */
  receiver: Receiver | undefined;
  readonly #onData: Receiver;
  readonly #onAborted: () => void;

  constructor(
    readonly res: UwsResponse,
    readonly network: string,
    listener: KeylessListener,
  ) {
    this.#onData = (chunk, isLast) => {
      const { receiver } = this;
      if (receiver === undefined) {
        listener.spoke(this, chunk, isLast);
        return;
      }
      if (isLast) this.receiver = undefined;
      receiver(chunk, isLast);
    };
    this.#onAborted = () => listener.closed(this);
  }

  /** To be called when it opens, and when an answer is complete. */
  awaitClose(): void {
    this.res.onAborted(this.#onAborted);
  }

  /** To be called when an answer is complete. */
  noteAnswer(): void {
    this.lastAnswerBytes = this.res.getWriteOffset();
  }

  /**
   * A request has begun that nothing else was said of. To be asked at rest only, and if there was an answer with a
   * body.
   */
  get hasNewRequest(): boolean {
    return this.res.getWriteOffset() !== this.lastAnswerBytes;
  }

  /** To be called outside of `spoke`, after which uWS forgets the callback if the body has ended. */
  awaitRequest(): void {
    this.res.onData(this.#onData);
  }
}
