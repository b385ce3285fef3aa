// The handler of positions over an exchange whose answer cannot be written: the error goes where all errors of
// handlers go, and not past them, as an unhandled rejection, which would end the process.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { traccarRoutes } from '#dist/server/traccar/route.js';
import { Guarded } from '#dist/server/transport/exchange.js';
import { forwardedBody } from '../../support/traccar.js';

class FakeExchange extends Guarded {
  readonly head = { method: 'POST', accept: '', contentType: '', rawQuery: '', contentEncoding: '' };
  readonly notes = { entry: undefined };
  readonly errors: unknown[] = [];
  deadline = (): void => {};

  constructor(private readonly written: () => void) {
    super();
  }

  readonly body = {
    read: (_limitBytes: number, _tooLarge: () => void, work: (body: Uint8Array) => void): void =>
      work(Buffer.from(JSON.stringify(forwardedBody(0)))),
  };

  send(): void {
    this.written();
  }

  protected thrown(error: unknown): void {
    this.errors.push(error);
  }
}

async function errorsOf(written: () => void, take: () => Promise<void>): Promise<unknown[]> {
  const kernel = { exports: { encodeOne: () => 0 }, textAt: () => 'HN-6GHP4-83RFR' };
  const forwarder = { hasSpace: () => true, take };
  const [route] = traccarRoutes({
    kernel: kernel as never,
    forwarder: forwarder as never,
    logsPositions: false,
  });
  const x = new FakeExchange(written);
  route!.handle(x as never, {} as never);
  await nextTurn();
  return x.errors;
}

test('an answer that cannot be written, and a position that is not taken, end at the guard of the exchange', async () => {
  const unwritable = new Error('the answer cannot be written');
  const throwing = (): never => {
    throw unwritable;
  };
  expect(await errorsOf(throwing, () => Promise.resolve())).toEqual([unwritable]);
  const notTaken = new Error('the disk is full');
  expect(await errorsOf(throwing, () => Promise.reject(notTaken))).toEqual([notTaken]);
  let answers = 0;
  const count = (): number => answers++;
  expect(await errorsOf(count, () => Promise.resolve())).toEqual([]);
  expect(answers).toBe(1);
});
