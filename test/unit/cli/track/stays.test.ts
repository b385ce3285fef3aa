// Positions to stays: every rule, and against a plain implementation over random tracks.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Stay, Stays, type TrackPoint } from '#dist/files/points/stays.js';

const at = (id: string, timeMs: number, cell: number, admin = 1): TrackPoint => ({
  id,
  timeMs,
  cell: BigInt(cell),
  admin,
});

function staysOf(points: readonly TrackPoint[], gapMs = Number.POSITIVE_INFINITY): Stay[] {
  const stays = new Stays(gapMs);
  const ended = points.map((point) => stays.take(point)).filter((stay) => stay !== null);
  return [...ended, ...stays.open()];
}
const wordsOf = ({ id, cell, event, previousAdmin, enteredMs, leftMs, points }: Stay): string =>
  `${id} ${cell} ${event} ${previousAdmin ?? '-'} ${enteredMs}-${leftMs} ${points}`;

test('positions in one cell are one stay; another cell begins the next', () => {
  expect(staysOf([at('a', 1, 5), at('a', 2, 5), at('a', 2, 5), at('a', 9, 6)]).map(wordsOf)).toEqual([
    'a 5 first - 1-2 3',
    'a 6 cell 1 9-9 1',
  ]);
});

test('another province is an event, in the same cell too', () => {
  expect(staysOf([at('a', 1, 5, 1), at('a', 2, 5, 2), at('a', 3, 6, 2)]).map(wordsOf)).toEqual([
    'a 5 first - 1-1 1',
    'a 5 province 1 2-2 1',
    'a 6 cell 2 3-3 1',
  ]);
});

test('a position outside ends a stay; coming back is a change only into another province', () => {
  expect(staysOf([at('a', 1, 5, 1), at('a', 2, 0, 255), at('a', 3, 5, 1)]).map(wordsOf)).toEqual([
    'a 5 first - 1-1 1',
    'a 5 cell 1 3-3 1',
  ]);
  expect(staysOf([at('a', 1, 5, 1), at('a', 2, 0, 255), at('a', 3, 7, 2)]).map(wordsOf)[1]).toBe(
    'a 7 province 1 3-3 1',
  );
  expect(staysOf([at('a', 1, 0, 255)])).toEqual([]);
});

test('a time without positions that is longer than the gap ends a stay', () => {
  expect(staysOf([at('a', 0, 5), at('a', 10, 5), at('a', 21, 5)], 10).map(wordsOf)).toEqual([
    'a 5 first - 0-10 2',
    'a 5 cell 1 21-21 1',
  ]);
});

test('a position earlier than the one before is left out and counted', () => {
  const stays = new Stays(Number.POSITIVE_INFINITY);
  for (const point of [at('a', 5, 5), at('a', 4, 6), at('b', 1, 6), at('a', 5, 5)]) stays.take(point);
  expect(stays.late).toBe(1);
  expect([...stays.open()].map(wordsOf)).toEqual(['a 5 first - 5-5 2', 'b 6 first - 1-1 1']);
});

test('any tracks: as cut by hand, one vehicle at a time', () => {
  const point = fc.record({
    id: fc.constantFrom('a', 'b', 'c'),
    step: fc.integer({ min: 0, max: 30 }),
    cell: fc.integer({ min: 0, max: 3 }),
    admin: fc.integer({ min: 1, max: 2 }),
  });
  fc.assert(
    fc.property(fc.array(point, { maxLength: 60 }), fc.integer({ min: 5, max: 40 }), (given, gapMs) => {
      let now = 0;
      const points = given.map(({ id, step, cell, admin }) => {
        now += step;
        return at(id, now, cell, cell === 0 ? 255 : admin);
      });
      const found = staysOf(points, gapMs);
      for (const id of ['a', 'b', 'c']) {
        const own = points.filter((each) => each.id === id);
        const isBreak = (i: number): boolean =>
          i === 0 ||
          own[i]!.cell !== own[i - 1]!.cell ||
          own[i]!.admin !== own[i - 1]!.admin ||
          own[i]!.timeMs - own[i - 1]!.timeMs > gapMs;
        const starts = own.map((_, i) => i).filter(isBreak);
        const runs = starts.map((start, n) => own.slice(start, starts[n + 1] ?? own.length));
        const wanted = runs.filter(([first]) => first!.cell !== 0n);
        expect(
          found
            .filter((stay) => stay.id === id)
            .map((stay) => [stay.cell, stay.enteredMs, stay.leftMs, stay.points]),
        ).toEqual(wanted.map((run) => [run[0]!.cell, run[0]!.timeMs, run.at(-1)!.timeMs, run.length]));
        const events = found.filter((stay) => stay.id === id).map((stay) => stay.event);
        expect(events).toEqual(
          wanted.map((run, n) =>
            n === 0 ? 'first' : run[0]!.admin === wanted[n - 1]![0]!.admin ? 'cell' : 'province',
          ),
        );
      }
    }),
    { seed: 26, numRuns: 300 },
  );
});
