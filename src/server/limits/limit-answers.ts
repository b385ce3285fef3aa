// Limits of a key in the words of HTTP: 429 with Retry-After where one is reached, and on every answer to a key with limits the
// header fields of draft-ietf-httpapi-ratelimit-headers-11.
import type { KeyInfo } from '../../keys/key-record.js';
import type { UnderstoodInput } from '../answers.js';
import { fail } from '../router.js';
import type { Exchange } from '../transport/exchange.js';
import type { KeyMeter } from './key-meter.js';
import type { LimitRefusal } from './limit-state.js';
import type { Meters } from './meters.js';

const DAY_SEC = 86_400;

/** Counts the request for its key; false where that has no request left, and the request is answered. */
export function admitRequest(meters: Meters, x: Exchange, key: KeyInfo): boolean {
  const meter = meters.of(key);
  x.meter = meter;
  if (!meter.hasLimits) return true;
  const refusal = meter.admitRequest();
  x.limitLines = limitLines(meter);
  if (refusal !== undefined) failOverLimit(x, refusal);
  return refusal === undefined;
}

/** Reserves points for a request; false where the limits leave none, and the request is answered. */
export function admitPoints(x: Exchange, count: number, input?: UnderstoodInput): boolean {
  const { meter } = x;
  if (meter === undefined || meter.isFree) return true;
  const refusal = meter.admitPoints(count);
  if (refusal === undefined) x.limitLines = limitLines(meter);
  else refusePoints(x, refusal, count, input);
  return refusal === undefined;
}

/** Answers a request whose points are refused. */
export function refusePoints(
  x: Exchange,
  refusal: LimitRefusal,
  count: number,
  input?: UnderstoodInput,
): void {
  x.meter?.refuse(x.operation, count);
  failOverLimit(x, refusal, input);
}

/** 429; 503 where it is not the key that has reached a limit but the service. */
export function failOverLimit(
  x: Exchange,
  refusal: LimitRefusal,
  input?: UnderstoodInput,
  close = false,
): void {
  if (x.meter !== undefined) x.limitLines = limitLines(x.meter);
  const headerLines = `\r\nRetry-After: ${Math.max(1, secondsOf(refusal.waitMs))}`;
  const failure = { headerLines, close, ...(input === undefined ? {} : { input }) };
  fail(x, refusal.kind === 'service' ? 503 : 429, refusal.message, failure);
}

/** `RateLimit-Policy` and `RateLimit` of a key; '' for a key without limits. */
export function limitLines(meter: KeyMeter): string {
  if (!meter.hasLimits) return '';
  const policies: string[] = [];
  const states: string[] = [];
  const add = (name: string, quota: number, windowSec: number, left: number, untilSec: number): void => {
    policies.push(`"${name}";q=${quota};w=${windowSec}`);
    states.push(`"${name}";r=${Math.max(0, Math.floor(left))};t=${untilSec}`);
  };
  for (const { name, bucket, left, fullInMs } of meter.rates()) {
    const windowSec = Math.max(1, Math.ceil(bucket.capacity / bucket.perSecond));
    add(name, bucket.capacity, windowSec, left, secondsOf(fullInMs));
  }
  for (const { name, quota, left, period, endsInMs } of meter.quotas()) {
    const windowSec = name === 'points-day' ? DAY_SEC : Math.round((period.endMs - period.startMs) / 1000);
    add(name, quota, windowSec, left, secondsOf(endsInMs));
  }
  return `\r\nRateLimit-Policy: ${policies.join(', ')}\r\nRateLimit: ${states.join(', ')}`;
}

function secondsOf(ms: number): number {
  return Math.ceil(ms / 1000);
}
