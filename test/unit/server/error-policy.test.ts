// The error policy of the service: every kind of error, before the answer has begun and afterwards.
import { expect, test } from 'vitest';
import { BulkInputError } from '#dist/hexcodes/wire/job.js';
import { BrokenBatchError } from '#dist/hexcodes/wire/rows/batch.js';
import { PoolLostError } from '#dist/pool/pool.js';
import { PoolFullError } from '#dist/pool/work-queue.js';
import { OverBudgetError } from '#dist/server/budget.js';
import { RevokedKeyError, StalledPeerError } from '#dist/server/bulk/flow.js';
import { GzipBodyError } from '#dist/server/bulk/gzip.js';
import { SpoolDiskError, SpoolFullError } from '#dist/server/bulk/spool.js';
import { endOverError } from '#dist/server/error-policy.js';
import { NotTakenError } from '#dist/server/forward/forwarder.js';

interface Outcome {
  readonly logged: 'warn' | 'error' | undefined;
  /** The status of the error answer; 0 if the connection was closed instead. */
  readonly status: number;
  readonly body: { message?: string; details?: unknown };
  readonly isClosed: boolean;
}

function outcomeOf(error: unknown, state: 'open' | 'answering'): Outcome {
  let logged: Outcome['logged'];
  let status = 0;
  let body = {};
  let isClosed = false;
  const x = {
    state,
    head: {
      path: '/v1/hexcodes/encode/bulk',
      rawQuery: '',
      requestId: 'r',
      pattern: '/p',
      apiKey: undefined,
    },
    headerLines: '',
    notes: { hint: '', dataLine: '' },
    send: (code: number, _type: string, text: string, _lines: string, close: boolean) => {
      status = code;
      body = JSON.parse(text) as object;
      isClosed = close;
    },
    abort: () => {
      isClosed = true;
    },
  };
  const logger = {
    warn: () => {
      logged = 'warn';
    },
    error: () => {
      logged = 'error';
    },
  };
  endOverError(
    logger as unknown as Parameters<typeof endOverError>[0],
    x as unknown as Parameters<typeof endOverError>[1],
    error,
  );
  return { logged, status, body, isClosed };
}

test.each([new BulkInputError('no header row'), new GzipBodyError('not gzip')])(
  '%s: 400 before the answer has begun, cut off afterwards',
  (error) => {
    const { message } = error;
    const early = outcomeOf(error, 'open');
    expect(early).toMatchObject({ logged: undefined, status: 400, body: { message }, isClosed: true });
    expect(outcomeOf(error, 'answering')).toMatchObject({ logged: 'warn', status: 0, isClosed: true });
  },
);

test('a broken JSON batch is 400 with its faults, and the connection stays open', () => {
  const faults = [{ parameter: 'points', message: 'is required' }];
  const { status, body, isClosed } = outcomeOf(new BrokenBatchError(faults), 'open');
  expect([status, body.details, isClosed]).toEqual([400, faults, false]);
});

test.each([new PoolFullError('full'), new PoolLostError('lost')])(
  '%s: 500 or cut off, logged as a warning',
  (error) => {
    expect(outcomeOf(error, 'open')).toMatchObject({ logged: 'warn', status: 500, isClosed: true });
    expect(outcomeOf(error, 'answering')).toMatchObject({ logged: 'warn', status: 0, isClosed: true });
  },
);

test.each([
  [413, new SpoolFullError('too large', 'request')],
  [503, new SpoolFullError('others', 'total')],
  [503, new SpoolDiskError(Object.assign(new Error('x'), { code: 'ENOSPC' }))],
])('%i where the spool does not take an answer: %s; or cut off, logged as a warning', (status, error) => {
  const { message } = error;
  expect(outcomeOf(error, 'open')).toMatchObject({
    ...{ logged: 'warn', status, body: { message }, isClosed: true },
  });
  expect(outcomeOf(error, 'answering')).toMatchObject({ logged: 'warn', status: 0, isClosed: true });
});

test('a body that stopped coming: 408 or cut off, logged as a warning', () => {
  const error = new StalledPeerError('stalled');
  expect(outcomeOf(error, 'open')).toMatchObject({ logged: 'warn', status: 408, isClosed: true });
  expect(outcomeOf(error, 'answering')).toMatchObject({ logged: 'warn', status: 0, isClosed: true });
});

test('past a limit: 503, which the budget has logged, or cut off', () => {
  const error = new OverBudgetError('too much');
  expect(outcomeOf(error, 'open')).toMatchObject({ logged: undefined, status: 503, isClosed: true });
  expect(outcomeOf(error, 'answering')).toMatchObject({ logged: 'warn', status: 0, isClosed: true });
});

test('a position that the disk does not take: 503, which the forwarder has logged, and the connection stays open', () => {
  const error = new NotTakenError('the disk of the service takes no positions');
  const { message } = error;
  expect(outcomeOf(error, 'open')).toMatchObject({
    logged: undefined,
    status: 503,
    body: { message },
    isClosed: false,
  });
});

test('a key that was revoked: 401 or cut off, logged as a warning', () => {
  const error = new RevokedKeyError({ status: 401, message: 'the key is no longer valid' });
  expect(outcomeOf(error, 'open')).toMatchObject({ logged: 'warn', status: 401, isClosed: true });
  expect(outcomeOf(error, 'answering')).toMatchObject({ logged: 'warn', status: 0, isClosed: true });
});

test.each([new TypeError('x is undefined'), new Error('ENOSPC'), 'a string', undefined])(
  '%s: 500 or cut off, logged as an error, and not told to the peer',
  (error) => {
    const early = outcomeOf(error, 'open');
    expect(early).toMatchObject({ logged: 'error', status: 500, isClosed: true });
    expect(early.body.message).toBe('internal error');
    expect(outcomeOf(error, 'answering')).toMatchObject({ logged: 'error', status: 0, isClosed: true });
  },
);
