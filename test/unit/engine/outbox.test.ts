// The outbox sends all of one turn of the event loop together, in order, and nothing twice.
import { expect, test } from 'vitest';
import { Outbox } from '#dist/bus/nats/outbox.js';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('all of a turn is sent at its end, in order and without a promise between', async () => {
  const outbox = new Outbox();
  const sent: string[] = [];
  const send = (name: string): void =>
    outbox.add(() => {
      sent.push(name);
      queueMicrotask(() => sent.push(`the client writes after ${name}`));
    });
  send('a');
  await Promise.resolve();
  send('b');
  expect(sent).toEqual([]);
  await turn();
  expect(sent.slice(0, 2)).toEqual(['a', 'b']);
  expect(sent).toHaveLength(4);
});

test('what is added while others are sent goes in the next turn, and nothing twice', async () => {
  const outbox = new Outbox();
  const sent: string[] = [];
  outbox.add(() => {
    sent.push('a');
    outbox.add(() => sent.push('b'));
  });
  await turn();
  expect(sent).toEqual(['a']);
  await turn();
  await turn();
  expect(sent).toEqual(['a', 'b']);
});
