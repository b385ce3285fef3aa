// Limits of a key over HTTP: 429 with Retry-After where one is reached, and on every answer to a key with limits the
// header fields of draft-ietf-httpapi-ratelimit-headers-11.

import type { UnderstoodInput } from '../http/answers.js';
import type { Exchange } from '../http/exchange.js';
import { fail } from '../http/router.js';
import type { KeyInfo } from '../keys/key-record.js';
import type { KeyLedger } from './key-ledger.js';
import type { Ledger } from './ledger.js';
import { type LimitRefusal, WAIT } from './rates.js';

const DAY_SEC = 86_400;
/** The store of limits answers in milliseconds, work under way in less than this. */
const ADMIT_DEADLINE_MS = 30_000;

/**
 * Opens an entry in the ledger for each request of an admitted key: the returned function returns false where the
 * limits reject the request, which is then answered.
 */
export function admission(ledger: Ledger): (x: Exchange, key: KeyInfo) => boolean {
  return (x, key) => {
    const entry = ledger.open(key, x.notes.operation);
    x.notes.entry = entry;
    if (!entry.key.hasLimits) return true;
    const refusal = entry.key.rates.admitRequest();
    x.lateHeaderLines = allLimitLines(entry.key);
    if (refusal !== undefined) failOverLimit(x, refusal);
    return refusal === undefined;
  };
}

/**
 * Reserves points for a request; false where the limits reject it, and it is answered, or where the decision is
 * pending: then `later` is called once the points are reserved, in a turn of the event loop of its own.
 */
export function admitPoints(x: Exchange, count: number, later: () => void, input?: UnderstoodInput): boolean {
  const { entry } = x.notes;
  if (entry === undefined || entry.isFree) return true;
  const refusal = entry.admit(count);
  if (refusal === WAIT) {
    // Counted as under way, which is limited for each key.
    x.hold(0);
    x.deadline(ADMIT_DEADLINE_MS);
    // The input object is reused by the next request.
    const kept = input && { ...input };
    entry.whenAdmitted(count).then(
      (refused) => {
        if (x.state === 'over') entry.done(0, 0, count);
        else if (mayGoOn(x, refused, count, kept)) x.guard(later);
      },
      (error: unknown) => x.reject(error),
    );
    return false;
  }
  return mayGoOn(x, refusal, count, input);
}

function mayGoOn(
  x: Exchange,
  refusal: LimitRefusal | undefined,
  count: number,
  input: UnderstoodInput | undefined,
): boolean {
  if (refusal !== undefined) refusePoints(x, refusal, count, input);
  else if (x.notes.entry !== undefined) x.lateHeaderLines = allLimitLines(x.notes.entry.key);
  return refusal === undefined;
}

/** Answers a request whose points are refused. */
export function refusePoints(
  x: Exchange,
  refusal: LimitRefusal,
  count: number,
  input?: UnderstoodInput,
): void {
  x.notes.entry?.refuse(count);
  failOverLimit(x, refusal, input);
}

/** 429; 413 where waiting does not help; 503 where the service has reached a limit, not the key. */
export function failOverLimit(
  x: Exchange,
  refusal: LimitRefusal,
  input?: UnderstoodInput,
  close = false,
): void {
  const { entry } = x.notes;
  if (entry !== undefined) {
    entry.isOverLimit = true;
    x.lateHeaderLines = allLimitLines(entry.key);
  }
  const isForGood = refusal.isForGood === true;
  const headerLines = isForGood ? '' : `\r\nRetry-After: ${Math.max(1, secondsOf(refusal.waitMs))}`;
  const failure = {
    headerLines,
    close,
    ...(isForGood ? { code: 'limit_reached' as const } : {}),
    ...(input === undefined ? {} : { input }),
  };

  const status = isForGood ? 413 : refusal.kind === 'service' ? 503 : 429;
  fail(x, status, refusal.message, failure);
}

/**
 * `RateLimit-Policy` and `RateLimit` of a key, and the three `X-RateLimit-…` that SDKs read, for the limit with the
 * least left; '' for a key without limits.
 */
export function allLimitLines(key: KeyLedger): string {
  if (!key.hasLimits) return '';
  const policies: string[] = [];
  const states: string[] = [];
  let least = { quota: 0, left: Infinity, untilSec: 0 };
  const add = (name: string, quota: number, windowSec: number, left: number, untilSec: number): void => {
    const [most, whole] = [inField(quota), inField(Math.max(0, Math.floor(left)))];
    policies.push(`"${name}";q=${most};w=${inField(windowSec)}`);
    states.push(`"${name}";r=${whole};t=${untilSec}`);
    if (whole < least.left) least = { quota: most, left: whole, untilSec };
  };
  for (const { name, bucket, left, fullInMs } of key.rates.states()) {
    const windowSec = Math.max(1, Math.ceil(bucket.capacity / bucket.perSecond));
    add(name, bucket.capacity, windowSec, left, secondsOf(fullInMs));
  }
  for (const { name, quota, left, period, endsInMs } of key.quotas()) {
    const windowSec = name === 'points-day' ? DAY_SEC : Math.round((period.endMs - period.startMs) / 1000);
    add(name, quota, windowSec, left, secondsOf(endsInMs));
  }
  const ofSdks = `\r\nX-RateLimit-Limit: ${least.quota}\r\nX-RateLimit-Remaining: ${least.left}\r\nX-RateLimit-Reset: ${least.untilSec}`;
  return `\r\nRateLimit-Policy: ${policies.join(', ')}\r\nRateLimit: ${states.join(', ')}${ofSdks}`;
}

const secondsOf = (ms: number): number => inField(Math.ceil(ms / 1000));

/** Largest integer of a structured field (RFC 9651, 3.3.1). */
const MAX_IN_FIELD = 999_999_999_999_999;

const inField = (value: number): number => Math.min(MAX_IN_FIELD, value);
