// The context that all exchanges of an adapter share, supplied by its owner. `X` is the exchange.
import type { Budget } from '../budget/budget.js';
import type { BodylessAnswers } from './answers/whole-answer.js';
import type { RefusedBodies } from './body/refused-bodies.js';
import type { CorkHolder } from './cork-holder.js';
import type { Door } from './door/door.js';
import type { Turns } from './turns.js';

/** Supplied by the owner of the adapter, for all exchanges. */
export interface ExchangeHooks<X> {
  /** Called right before a status line is written. */
  answered(x: X, status: number): void;
  /** Called once for each request, when its answer is complete, its connection closed, or it has become a WebSocket. */
  over(x: X): void;
  /** A handler or a callback failed: answers the error if no answer has begun, else closes the connection. */
  thrown(x: X, error: unknown): void;
  /** The peer sends in a way that harms others: logs the reason and closes the connection. */
  cut(x: X, reason: string): void;
  /** The deadline passed before a status line was written. Answers 408 if the body has not ended, else 503. */
  expired(x: X): void;
}

export interface ExchangeLimits {
  /** Counts what is held for each request. */
  readonly budget: Budget;
  /** Most bytes of a body that may still come after `pause` and before `resume`; a peer that brings more is cut off. */
  readonly maxPastStopBytes: number;
  /** How long a body may take that is collected. */
  readonly bodyTimeoutMs: number;
}

/** Shared by all exchanges of one adapter. */
export interface ExchangeContext<X> extends ExchangeLimits {
  readonly hooks: ExchangeHooks<X>;
  /** Exchanges whose handler has returned and whose answer is not complete. */
  readonly pending: Set<X>;
  readonly corkHolder: CorkHolder;
  readonly turns: Turns;
  /** Undefined: connections without a key have no bounds of their own. */
  readonly door: Door | undefined;
  readonly bodylessAnswers: BodylessAnswers;
  readonly refusedBodies: RefusedBodies;
  /** The service is stopping: every answer has `Connection: close`. */
  isClosing: boolean;
}
