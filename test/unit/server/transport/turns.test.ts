// One turn of the event loop takes 1,000 requests, and four more for each open connection.
import { expect, test } from 'vitest';
import { SocketTurn, Turns } from '#dist/server/transport/turns.js';

const taken = (turns: Turns, requests: number): boolean[] =>
  Array.from({ length: requests }, () => turns.takeRequest());
const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

test('without connections the request after 1,000 is refused, and the count starts anew', () => {
  const turns = new Turns();
  const answers = taken(turns, 2002);
  expect(answers.flatMap((isTaken, i) => (isTaken ? [] : [i]))).toEqual([1000, 2001]);
});

test('each open connection adds four, and a closed one takes them away', () => {
  const turns = new Turns();
  for (let i = 0; i < 2000; i++) turns.countConnection(1);
  expect(taken(turns, 9000)).not.toContain(false);
  expect(turns.takeRequest()).toBe(false);
  for (let i = 0; i < 1999; i++) turns.countConnection(-1);
  expect(taken(turns, 1004)).not.toContain(false);
  expect(turns.takeRequest()).toBe(false);
});

test('a turn of the event loop later all are taken again', async () => {
  const turns = new Turns();
  for (let turn = 0; turn < 3; turn++) {
    expect(taken(turns, 1000)).not.toContain(false);
    await nextTurn();
  }
});

test.each([
  [1, 64, 1000],
  [64 * 1024, 32, 256],
  [2 * 1024 * 1024, 1, 8],
])(
  'frames of %s bytes: %s are answered at once, %s in all, and the next closes the socket',
  async (sizeBytes, atOnce, inAll) => {
    const socket = new SocketTurn(new Turns());
    for (let turn = 0; turn < 2; turn++) {
      const taken = Array.from({ length: inAll + 1 }, () => socket.take(sizeBytes));
      expect(taken.lastIndexOf('answer now')).toBe(atOnce - 1);
      expect(taken.indexOf('close the socket')).toBe(inAll);
      expect(taken[inAll - 1]).toBe('answer in a later turn');
      await nextTurn();
    }
  },
);
