// The state of a key's limits, as its meter reports it: the points and requests left, and the reason of a refusal.
import type { Period } from '../../usage/calendar.js';
import type { TokenBucket } from './token-bucket.js';

/** Why points or a request are refused. */
export interface LimitRefusal {
  /** 'ceiling': the service is at its own limit; 'quota': nothing of the day or month is left for this. */
  readonly kind: 'rate' | 'quota' | 'ceiling';
  /** For people. */
  readonly message: string;
  readonly waitMs: number;
}

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
