// Backlogs that change hands: folders that processes have left, that are taken from a living one, that are damaged.
import { mkdirSync, readdirSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Backlog } from '#dist/server/forward/backlog/backlog.js';
import { line, newFolder, opened, root, texts, until } from '../../support/forwarders.js';

test('a folder that somebody has removed is made again: the line is taken', async () => {
  const { forwarder, sink, said, folder } = await opened();
  await forwarder.take(line(0));
  await until(() => sink.lines.length === 1);
  rmSync(folder, { recursive: true });
  await forwarder.take(line(1));
  await until(() => sink.lines.length === 2);
  expect(sink.lines).toEqual(texts(2));
  expect(said.map((each) => each.split(' {')[0])).toEqual([
    'the folder of positions that wait is gone: another process has it, and some may come twice',
  ]);
  await forwarder.close();
});

test('taken over again and again while it takes lines: each line that was taken is delivered by one or the other', async () => {
  const { forwarder, sink, said, folder } = await opened();
  sink.fault = 'away';
  const taken: string[] = [];
  let count = 0;
  const take = async (): Promise<void> => {
    const text = `{"n":${count++}}`;
    await forwarder.take(`${text}\n`);
    taken.push(text);
  };
  const byOthers: string[] = [];
  for (let round = 0; round < 40; round++) {
    await take();
    const writing = [take(), take(), take()];
    for (let turn = 0; turn < round % 8; turn++) await nextTurn();
    writing.push(take());
    // As a process does that cannot see that this one lives: it delivers what it finds after its rename.
    const path = join(root, `taken-${round}`);
    renameSync(join(folder, readdirSync(folder)[0]!), path);
    const other = await Backlog.open(path, 1e6);
    for (let piece = await other.next(1e6, 500); piece !== undefined; piece = await other.next(1e6, 500)) {
      byOthers.push(...piece.lines.toString().trimEnd().split('\n'));
      await other.accept(piece);
    }
    await other.close();
    await Promise.all(writing);
  }
  sink.fault = undefined;
  const missing = (): string[] => {
    const arrived = new Set([...byOthers, ...sink.lines]);
    return taken.filter((text) => !arrived.has(text));
  };
  await until(() => missing().length === 0);
  expect(taken).toHaveLength(200);
  expect(byOthers.length).toBeGreaterThanOrEqual(40);
  expect(said.filter((each) => each.includes('refused'))).toEqual([]);
  await forwarder.close();
  expect(readdirSync(folder)).toEqual([]);
});

/** The folder of a process that cannot be seen from here. */
const ELSEWHERE = 'backlog-5-77-5-elsewhere-elsewhere-1';

function leftFolder(name: string, text: string): string {
  const folder = newFolder();
  mkdirSync(join(folder, name), { recursive: true });
  writeFileSync(join(folder, name, '0000000001.ndjson'), text);
  return folder;
}

test('lines of a process that cannot be seen are delivered first, once it is plain that it is gone', async () => {
  const folder = leftFolder(ELSEWHERE, line(0) + line(1));
  // It ends before that: its own lines wait behind those.
  const first = await opened({ folder, touchMs: 3_600_000 });
  for (let n = 2; n < 4; n++) await first.forwarder.take(line(n));
  await first.forwarder.close();
  expect(first.sink.tries).toBe(0);
  const second = await opened({ folder, touchMs: 1 });
  for (let n = 4; n < 6; n++) await second.forwarder.take(line(n));
  await until(() => second.sink.lines.length === 6);
  expect(second.sink.lines).toEqual(texts(6));
  await second.forwarder.close();
  expect(readdirSync(folder)).toEqual([]);
});

test('lines of a process that cannot be seen and is alive are its own, and no others wait for them', async () => {
  const folder = leftFolder(ELSEWHERE, line(7));
  let touches = 0;
  // Its owner: it touches the folder before every look at it, however busy the machine is.
  const owner = setInterval(() => utimesSync(join(folder, ELSEWHERE), ++touches, touches), 1);
  const { forwarder, sink } = await opened({ folder, touchMs: 5 });
  for (let n = 0; n < 3; n++) await forwarder.take(line(n));
  await until(() => sink.lines.length === 3);
  clearInterval(owner);
  expect(sink.lines).toEqual(texts(3));
  await forwarder.close();
  expect(readdirSync(folder)).toEqual([ELSEWHERE]);
});

test('lines on disk that a power cut has damaged are left out, and said', async () => {
  const zeros = `${'\0'.repeat(5000)}\n`;
  const folder = leftFolder(`${ELSEWHERE}-left`, `${line(0)}${zeros}${line(1)}{"n":9,"te\n7\n\n${line(2)}`);
  const { forwarder, sink, said } = await opened({ folder });
  await until(() => sink.lines.length === 3);
  expect(sink.lines).toEqual(texts(3));
  expect(said).toEqual([
    'positions that were left are delivered {"waiting":7}',
    'lines on disk are damaged and left out {"damaged":4}',
  ]);
  await until(() => forwarder.figures.delivered === 3);
  expect(forwarder.waitingRows).toBe(0);
  await forwarder.close();
  expect(readdirSync(folder)).toEqual([]);
});

test('nothing but damaged lines: the sink is not called', async () => {
  const folder = leftFolder(`${ELSEWHERE}-left`, 'x\n'.repeat(700));
  const { forwarder, sink } = await opened({ folder });
  await until(() => forwarder.waitingRows === 0);
  await forwarder.close();
  expect(sink.tries).toBe(0);
  expect(readdirSync(folder)).toEqual([]);
});

test('a folder that cannot be opened is said once and tried again, and holds up no other', async () => {
  const folder = leftFolder('backlog-7-77-5-elsewhere-elsewhere-1-left', line(0) + line(1));
  const segment = join(folder, `${ELSEWHERE}-left`, '0000000001.ndjson');
  mkdirSync(segment, { recursive: true });
  const { forwarder, sink, said } = await opened({ folder, touchMs: 1 });
  await until(() => sink.lines.length === 2);
  const name = readdirSync(folder).find((each) => each.startsWith('backlog-5-'))!;
  rmSync(join(folder, name, '0000000001.ndjson'), { recursive: true });
  writeFileSync(join(folder, name, '0000000001.ndjson'), line(2));
  await until(() => sink.lines.length === 3);
  expect(sink.lines).toEqual(texts(3));
  expect(said.filter((each) => each.startsWith('positions that were left cannot be read'))).toHaveLength(1);
  await forwarder.close();
  expect(readdirSync(folder)).toEqual([]);
});
