// Errors that say how they are answered, for the code that catches what a handler throws.

/** How an error that is not a defect of this program is answered, where no answer has begun. */
export interface ErrorAnswer {
  readonly status: number;
  /** Default: the message of the error. */
  readonly message?: string;
  readonly retryAfterSec?: number;
  /** The connection is closed after it. */
  readonly close: boolean;
  /** Line of the log; undefined: there is one already, or none is needed. */
  readonly logged?: string;
}

/** Line of the log where an answer ends before it is complete, or is replaced by an error. */
export const CUT_OFF = 'an answer was cut off';

/** An error that says how it is answered. */
export class AnsweredError extends Error {
  constructor(
    message: string,
    readonly answer: ErrorAnswer,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
