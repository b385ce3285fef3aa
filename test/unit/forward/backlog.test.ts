// The backlog on disk: order, segments, what a killed process leaves, and whose it is.
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { Backlog } from '#dist/forward/backlog/backlog.js';
import { nameOwn, release, takeOver } from '#dist/forward/backlog/owner.js';

const root = mkdtempSync(join(tmpdir(), 'hexcodes-backlog-'));
afterAll(() => rmSync(root, { recursive: true }));
let folders = 0;
const newFolder = (): string => join(root, `own-${++folders}`);

const lines = (from: number, to: number): Buffer =>
  Buffer.from(Array.from({ length: to - from }, (_, i) => `{"n":${from + i}}\n`).join(''));
const segmentsIn = (folder: string): string[] =>
  readdirSync(folder).filter((name) => name.endsWith('.ndjson'));

/** All that is left, delivered in pieces of so many rows. */
async function drained(backlog: Backlog, mostRows: number): Promise<number[]> {
  const found: number[] = [];
  for (;;) {
    const piece = await backlog.next(64, mostRows);
    if (piece === undefined) return found;
    const rows = piece.lines.toString().trimEnd().split('\n');
    expect(rows).toHaveLength(piece.rows);
    expect(piece.rows).toBeLessThanOrEqual(mostRows);
    found.push(...rows.map((line) => (JSON.parse(line) as { n: number }).n));
    await backlog.accept(piece);
  }
}
const numbers = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, i) => from + i);

test('first in, first out, over segments, while more comes; a segment goes when it is delivered', async () => {
  const backlog = await Backlog.open(newFolder(), 100);
  for (let n = 0; n < 50; n += 5) await backlog.append(lines(n, n + 5), 5);
  expect(backlog.rows).toBe(50);
  expect(segmentsIn(backlog.folder).length).toBeGreaterThan(4);
  const first = (await backlog.next(64, 3))!;
  expect(first.rows).toBe(3);
  await backlog.accept(first);
  await backlog.append(lines(50, 55), 5);
  expect(await drained(backlog, 4)).toEqual(numbers(3, 55));
  expect(backlog.rows).toBe(0);
  expect(segmentsIn(backlog.folder)).toHaveLength(1);
  await backlog.append(lines(55, 57), 2);
  expect(await drained(backlog, 4)).toEqual([55, 56]);
  await backlog.close();
  expect(existsSync(backlog.folder)).toBe(false);
});

test('a row longer than a segment has one of its own', async () => {
  const backlog = await Backlog.open(newFolder(), 10);
  await backlog.append(lines(100_000, 100_001), 1);
  await backlog.append(lines(100_001, 100_002), 1);
  expect(segmentsIn(backlog.folder)).toHaveLength(2);
  expect(await drained(backlog, 9)).toEqual([100_000, 100_001]);
  await backlog.close();
});

test('opened again after a kill: from the cursor, without a line that was torn, and it takes more', async () => {
  const folder = newFolder();
  const killed = await Backlog.open(folder, 100);
  for (let n = 0; n < 20; n += 2) await killed.append(lines(n, n + 2), 2);
  const piece = (await killed.next(64, 3))!;
  await killed.accept(piece);
  appendFileSync(join(folder, segmentsIn(folder).at(-1)!), '{"n":99');
  await killed.close();

  const backlog = await Backlog.open(folder, 100);
  expect(backlog.rows).toBe(17);
  await backlog.append(lines(20, 22), 2);
  expect(await drained(backlog, 5)).toEqual(numbers(3, 22));
  await backlog.close();
  expect(existsSync(folder)).toBe(false);
});

test('a cursor that is damaged or of a segment that is gone costs repetitions only', async () => {
  for (const cursor of ['', '{"segment":7,"deliveredBytes":9}', '{"segment":1,"deliveredBytes":100000}']) {
    const folder = newFolder();
    const killed = await Backlog.open(folder, 1000);
    await killed.append(lines(0, 4), 4);
    writeFileSync(join(folder, 'cursor.json'), cursor);
    await killed.close();
    const backlog = await Backlog.open(folder, 1000);
    expect(await drained(backlog, 9)).toEqual(cursor.includes('100000') ? [] : [0, 1, 2, 3]);
    expect(backlog.rows).toBe(0);
    await backlog.close();
  }
});

test('a file that somebody has removed is passed over', async () => {
  const backlog = await Backlog.open(newFolder(), 30);
  for (let n = 0; n < 12; n += 3) await backlog.append(lines(n, n + 3), 3);
  rmSync(join(backlog.folder, segmentsIn(backlog.folder)[1]!));
  expect(await drained(backlog, 9)).toEqual([0, 1, 2, 6, 7, 8, 9, 10, 11]);
  expect(backlog.rows).toBe(0);
  await backlog.close();
});

test('what is left waits for the next process; an empty folder goes', async () => {
  const left = await Backlog.open(newFolder(), 1000);
  await left.append(lines(0, 2), 2);
  await left.close();
  expect(existsSync(left.folder)).toBe(true);
});

test('folders of processes that are gone are taken over, once; of living ones never', () => {
  const parent = newFolder();
  mkdirSync(parent);
  const mine = nameOwn();
  const [, pid, ticks, namespace, boot] = /^backlog-\d+-(\d+)-(\d+)-(\w+)-(\w+)-/.exec(mine)!;
  expect(pid).toBe(String(process.pid));
  const folder = (name: string, untouchedMs: number): string => {
    mkdirSync(join(parent, name));
    const then = new Date(Date.now() - untouchedMs);
    utimesSync(join(parent, name), then, then);
    return name;
  };
  const living = [
    folder(mine, 3_600_000),
    folder(`backlog-5-${process.ppid}-${ticksOfParent()}-${namespace}-${boot}-1`, 3_600_000),
    folder(`backlog-5-77-5-9${namespace}-${boot}-1`, 1000),
    folder('something-else', 3_600_000),
  ];
  folder(`backlog-9-77-5-9${namespace}-${boot}-2`, 60_000);
  folder(`backlog-7-77-5-${namespace}-${boot}x-1`, 50_000);
  // The number of this process, of an earlier one.
  folder(`backlog-10-${pid}-${Number(ticks) - 1}-${namespace}-${boot}-1`, 40_000);
  const taken = takeOver(parent);
  // By their begin, not by when they were touched.
  expect(taken.map((name) => name.split('-')[1])).toEqual(['7', '9', '10']);
  expect(readdirSync(parent).sort()).toEqual([...living, ...taken].sort());
  expect(takeOver(parent)).toEqual([]);
  release(mine);
  expect(takeOver(parent)).toHaveLength(1);
});

/** When the process began that has started this one (proc(5)). */
function ticksOfParent(): string {
  return readFileSync(`/proc/${process.ppid}/stat`, 'latin1')
    .replace(/^.*\) /s, '')
    .split(' ')[19]!;
}
