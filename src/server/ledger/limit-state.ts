// The state of a key's limits, as its ledger reports it: the points and requests left, and the reason of a refusal.
import type { Period } from '../usage/calendar.js';
import type { TokenBucket } from './token-bucket.js';

/** Why points or a request are refused. */
export interface LimitRefusal {
  /**
   * 'quota': nothing of the day or month is left for this. 'service': it is not the key that did too much; the service
   * is at its own limit, or cannot settle the key's with other processes.
   */
  readonly kind: 'rate' | 'quota' | 'service';
  /** Sentence for people. */
  readonly message: string;
  readonly waitMs: number;
}

/** Points may be let in in a moment: the store, or work under way, has to tell first. */
export const WAIT = Symbol('wait');

export interface RateState {
  readonly name: 'points' | 'requests';
  readonly bucket: TokenBucket;
  /** Less than 0 where some are owed. */
  readonly left: number;
  readonly fullInMs: number;
}

export interface QuotaState {
  readonly name: 'points-day' | 'points-month';
  readonly quota: number;
  readonly left: number;
  readonly period: Period;
  readonly endsInMs: number;
}
