// Pieces of work one a turn of the event loop: in order, with other work in between, bounded, and one that fails ends
// none.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { OneATurn } from '#dist/server/grid/route.js';

test('other work has its turn between two pieces; what is too much is not taken', async () => {
  const pieces = new OneATurn(3);
  const done: string[] = [];
  const fail = (error: unknown): void => void done.push(String(error));
  const add = (name: string): boolean => pieces.add(() => void done.push(name), fail);
  expect(['a', 'b', 'c', 'd'].map(add)).toEqual([true, true, true, false]);
  expect(done).toEqual([]);
  for (let turn = 1; turn <= 3; turn++) {
    await nextTurn();
    expect(done).toHaveLength(turn);
  }
  expect(add('e')).toBe(true);
  await nextTurn();
  expect(done).toEqual(['a', 'b', 'c', 'e']);
});

test('a piece that fails says so to whoever added it, and the next follow', async () => {
  const pieces = new OneATurn(3);
  const done: string[] = [];
  const broken = (): void => {
    throw new Error('broken');
  };
  pieces.add(broken, (error) => void done.push((error as Error).message));
  pieces.add(
    () => void done.push('next'),
    () => {},
  );
  await nextTurn();
  await nextTurn();
  expect(done).toEqual(['broken', 'next']);
});
