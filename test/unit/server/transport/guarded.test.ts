// The one guard of an exchange: where errors of callbacks go, and when nothing runs any more.
import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Guarded } from '#dist/server/transport/guarded.js';

class Probe extends Guarded {
  readonly errors: unknown[] = [];

  end(): void {
    this.state = 'over';
    this.notifyOver();
  }

  protected thrown(error: unknown): void {
    this.errors.push(error);
  }
}

const fail = (message: string) => () => {
  throw new Error(message);
};

test('errors of callbacks, turns and promises all go to thrown', async () => {
  const x = new Probe();
  x.guard(fail('callback'));
  x.nextTurn(fail('turn'));
  x.after(Promise.resolve(1), fail('value'));
  x.after(Promise.reject(new Error('rejection')), () => {});
  x.reject(new Error('rejected'));
  await turn();
  expect(x.errors.map((error) => (error as Error).message).sort()).toEqual(
    ['callback', 'rejected', 'rejection', 'turn', 'value'].sort(),
  );
});

test('callbacks get their values', async () => {
  const x = new Probe();
  const values: unknown[] = [];
  x.guard(() => values.push('callback'));
  x.nextTurn(() => values.push('turn'));
  x.after(Promise.resolve('value'), (value) => values.push(value));
  await turn();
  expect(values.sort()).toEqual(['callback', 'turn', 'value']);
  expect(x.errors).toEqual([]);
});

test('nothing runs once the exchange is over, and rejections are dropped', async () => {
  const x = new Probe();
  let runs = 0;
  x.nextTurn(() => runs++);
  x.after(Promise.resolve(), () => runs++);
  x.after(Promise.reject(new Error('late')), () => runs++);
  x.end();
  x.guard(() => runs++);
  x.reject(new Error('late'));
  await turn();
  expect([runs, x.errors]).toEqual([0, []]);
});

test('an error behind the answer is reported all the same', () => {
  const x = new Probe();
  x.guard(() => {
    x.end();
    throw new Error('behind');
  });
  expect(x.errors).toHaveLength(1);
});

test('onOver is called once; its error goes to thrown', () => {
  const x = new Probe();
  let calls = 0;
  x.onOver = () => {
    calls++;
    throw new Error('over');
  };
  x.end();
  x.end();
  expect([calls, x.errors.length]).toEqual([1, 1]);
});
