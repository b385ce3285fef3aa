// Positions on disk: what a kill leaves, and folders of processes that are gone.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { Backlog, LeftFolders, leave, nameOwn, release } from '#dist/server/traccar/forward/backlog.js';
import { ownFolder } from '../../support/shared.js';
import { line, newFolder, opened, root, texts, until } from '../../support/traccar.js';

// The backlog on disk: order, segments, what a killed process leaves, and whose it is.
describe('the backlog', () => {
  const root = ownFolder('backlog');
  let folders = 0;
  const newFolder = (): string => join(root, `own-${++folders}`);

  const lines = (from: number, to: number): Buffer =>
    Buffer.from(Array.from({ length: to - from }, (_, i) => `{"n":${from + i}}\n`).join(''));
  const segmentsIn = (folder: string): string[] =>
    readdirSync(folder).filter((name) => name.endsWith('.ndjson'));

  /** All that is left, delivered in pieces of `rows` rows. */
  async function drained(backlog: Backlog, maxRows: number): Promise<number[]> {
    const found: number[] = [];
    for (;;) {
      const piece = await backlog.next(64, maxRows);
      if (piece === undefined) return found;
      const rows = piece.lines.toString().trimEnd().split('\n');
      expect(rows).toHaveLength(piece.rows);
      expect(piece.rows).toBeLessThanOrEqual(maxRows);
      found.push(...rows.map((line) => (JSON.parse(line) as { n: number }).n));
      await backlog.accept(piece);
    }
  }
  /** A state file as every version has written it. */
  function checkedText(state: unknown): string {
    const text = JSON.stringify(state);
    const digest = createHash('sha256').update(text).digest('hex').slice(0, 32);
    return `{"digest":"${digest}","state":${text}}`;
  }
  const numbers = (from: number, to: number): number[] =>
    Array.from({ length: to - from }, (_, i) => from + i);

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

  test.each([
    ['', 'an empty file'],
    ['{"segment":1', 'a torn one'],
    ['null', 'null'],
    ['{"segment":7,"deliveredBytes":9}', 'of a segment that is gone'],
    [
      checkedText({ segment: 1, deliveredBytes: 8 }).replace('8}', '16}'),
      'a row later, with the former digest',
    ],
    [checkedText({ segment: 1, deliveredBytes: 9 }), 'in the midst of a line, with a digest'],
    [checkedText(null), 'null with a digest'],
    ['{"segment":1,"deliveredBytes":100000}', 'beyond the segment'],
    ['{"segment":1,"deliveredBytes":9}', 'in the midst of a line'],
    ['{"segment":1,"deliveredBytes":-8}', 'before its beginning'],
    ['{"segment":1,"deliveredBytes":"8"}', 'no number'],
  ])('a cursor that is damaged costs repetitions only: %j, %s', async (cursor) => {
    const folder = newFolder();
    const killed = await Backlog.open(folder, 1000);
    await killed.append(lines(0, 4), 4);
    writeFileSync(join(folder, 'cursor.json'), cursor);
    await killed.close();
    const backlog = await Backlog.open(folder, 1000);
    expect(backlog.rows).toBe(4);
    expect(await drained(backlog, 9)).toEqual([0, 1, 2, 3]);
    expect(backlog.rows).toBe(0);
    await backlog.close();
  });

  test('bytes without a line end, longer than any line, hide none of the lines after them', async () => {
    const folder = newFolder();
    mkdirSync(folder);
    const zeros = Buffer.alloc(200);
    writeFileSync(join(folder, '0000000001.ndjson'), Buffer.concat([lines(0, 2), zeros, lines(2, 5)]));
    const backlog = await Backlog.open(folder, 1000);
    let delivered = '';
    for (let piece = await backlog.next(64, 9); piece !== undefined; piece = await backlog.next(64, 9)) {
      expect(piece.isFound).toBe(true);
      delivered += piece.lines.toString();
      await backlog.accept(piece);
    }
    expect(delivered.replaceAll('\0', '')).toBe(lines(0, 5).toString());
    expect(delivered.length).toBeLessThan(lines(0, 5).length + 64);
    await backlog.append(lines(5, 6), 1);
    expect(await backlog.next(64, 9)).toMatchObject({ rows: 1, isFound: false });
    await backlog.close();
  });

  test('a folder that another process has taken over: what was appended is there, what comes later does not count', async () => {
    const folder = newFolder();
    const own = await Backlog.open(folder, 1000);
    await own.append(lines(0, 3), 3);
    expect(await own.isThere()).toBe(true);
    renameSync(folder, `${folder}-taken`);
    expect(await own.isThere()).toBe(false);
    await expect(own.append(lines(3, 4), 1)).rejects.toMatchObject({ code: 'ENOENT' });
    await expect(own.append(lines(4, 5), 1)).rejects.toMatchObject({ code: 'ENOENT' });
    const taken = await Backlog.open(`${folder}-taken`, 1000);
    expect((await drained(taken, 9)).slice(0, 3)).toEqual([0, 1, 2]);
  });

  test('a file that somebody has removed is passed over', async () => {
    const backlog = await Backlog.open(newFolder(), 30);
    for (let n = 0; n < 12; n += 3) await backlog.append(lines(n, n + 3), 3);
    rmSync(join(backlog.folder, segmentsIn(backlog.folder)[1]!));
    expect(await drained(backlog, 9)).toEqual([0, 1, 2, 6, 7, 8, 9, 10, 11]);
    expect(backlog.rows).toBe(0);
    await backlog.close();
  });

  test('remaining rows wait for the next process; an empty folder is removed', async () => {
    const left = await Backlog.open(newFolder(), 1000);
    await left.append(lines(0, 2), 2);
    await left.close();
    expect(existsSync(left.folder)).toBe(true);
  });

  /** Owners as the names of folders have them, and a folder for one in the order of calls. */
  function owners() {
    const parent = newFolder();
    mkdirSync(parent);
    const mine = nameOwn();
    const [, pid, ticks, namespace, boot] = /^backlog-\d+-(\d+)-(\d+)-(\w+)-(\w+)-/.exec(mine)!;
    expect(pid).toBe(String(process.pid));
    const folder = (name: string): string => {
      mkdirSync(join(parent, name));
      return name;
    };
    // Set, not taken from the clock: two touches in a millisecond would be one.
    let touches = 0;
    const touchAs = (name: string): void => utimesSync(join(parent, name), ++touches, touches);
    return { parent, mine, pid, ticks, namespace, boot, folder, touchAs };
  }

  test('folders of processes that are gone are taken over at once; of living ones never', () => {
    const { parent, mine, pid, ticks, namespace, boot, folder } = owners();
    const living = [
      folder(mine),
      folder(`backlog-5-${process.ppid}-${ticksOfParent()}-${namespace}-${boot}-1`),
      folder('something-else'),
    ];
    folder(`backlog-9-77-5-${namespace}-${boot}-2`);
    folder(`backlog-7-77-5-${namespace}-${boot}-1`);
    // The number of this process, of an earlier one.
    folder(`backlog-10-${pid}-${Number(ticks) - 1}-${namespace}-${boot}-1`);
    const left = new LeftFolders(parent);
    const taken = left.takeOver();
    // Ordered by their begin, not by when they were touched.
    expect(taken.map((name) => name.split('-')[1])).toEqual(['7', '9', '10']);
    expect(readdirSync(parent).sort()).toEqual([...living, ...taken].sort());
    expect(left.hasUnjudged).toBe(false);
    expect(left.takeOver()).toEqual([]);
    release(mine);
    expect(left.takeOver()).toHaveLength(1);
  });

  test('a folder that its owner has left is taken at once, also where the owner cannot be seen', () => {
    const { parent, mine, namespace, boot, folder } = owners();
    folder(mine);
    leave(join(parent, mine));
    folder(`backlog-5-77-5-9${namespace}-${boot}-1-left`);
    const left = new LeftFolders(parent);
    expect(left.takeOver()).toHaveLength(2);
    expect(left.hasUnjudged).toBe(false);
  });

  test('an owner of another boot or namespace counts as alive while its folder changes, whatever its clock says', () => {
    const { parent, namespace, boot, folder, touchAs } = owners();
    const names = [`backlog-5-77-5-9${namespace}-${boot}-1`, `backlog-7-77-5-${namespace}-${boot}x-1`];
    // Half a century ago by the clock of this machine.
    for (const name of names) touchAs(folder(name));
    const left = new LeftFolders(parent);
    expect(left.takeOver()).toEqual([]);
    expect(left.hasUnjudged).toBe(true);
    for (let look = 0; look < 4; look++) expect(left.takeOver()).toEqual([]);
    for (const name of names) touchAs(name);
    expect(left.takeOver()).toEqual([]);
    expect(left.hasUnjudged).toBe(false);
    // From here on the first is touched, the second is not.
    for (let look = 0; look < 4; look++) {
      touchAs(names[0]!);
      expect(left.takeOver()).toEqual([]);
    }
    touchAs(names[0]!);
    expect(left.takeOver().map((name) => name.split('-')[1])).toEqual(['7']);
    expect(readdirSync(parent)).toContain(names[0]);
  });

  test('a folder that goes while it is watched leaves nothing open', () => {
    const { parent, namespace, boot, folder } = owners();
    const name = folder(`backlog-5-77-5-9${namespace}-${boot}-1`);
    const left = new LeftFolders(parent);
    left.takeOver();
    rmSync(join(parent, name), { recursive: true });
    left.takeOver();
    expect(left.hasUnjudged).toBe(false);
  });

  /** When the process began that has started this one (proc(5)). */
  function ticksOfParent(): string {
    return readFileSync(`/proc/${process.ppid}/stat`, 'latin1')
      .replace(/^.*\) /s, '')
      .split(' ')[19]!;
  }

  test('a piece of several rows is taken off as a whole', async () => {
    const backlog = await Backlog.open(join(root, 'counted'), 1000);
    await backlog.append(Buffer.from('a\nb\nc\nd\n'), 4);
    const piece = await backlog.next(6, 100);
    expect(piece).toMatchObject({ rows: 3 });
    await backlog.accept(piece!);
    expect(backlog.rows).toBe(1);
    await backlog.accept((await backlog.next(100, 100))!);
    expect(backlog.rows).toBe(0);
    await backlog.close();
  });

  test('lines cut short by a full disk are dropped, and the next ones follow', () => {
    const folder = join(root, 'full');
    const script = `
    const { Backlog } = await import(${JSON.stringify(resolve('dist/server/traccar/forward/backlog.js'))});
    const backlog = await Backlog.open(${JSON.stringify(folder)}, 1e6);
    await backlog.append(Buffer.from('first\\n'), 1);
    const code = await backlog.append(Buffer.from('x'.repeat(9000) + '\\n'), 1).catch((error) => error.code);
    await backlog.append(Buffer.from('next\\n'), 1);
    console.log(JSON.stringify([code, backlog.rows, backlog.sizeBytes]));
    await backlog.close();
  `;
    // A file of 4 KiB at most, in blocks of 1 KiB: the system takes a part and refuses the rest.
    const command = `ulimit -f 4; exec "${process.execPath}" --input-type=module -e "$SCRIPT"`;
    const { stdout, stderr } = spawnSync('bash', ['-c', command], {
      encoding: 'utf8',
      env: { ...process.env, SCRIPT: script },
    });
    expect([stdout, stderr]).toEqual(['["EFBIG",2,11]\n', '']);
    const [segment] = readdirSync(folder).filter((name) => name.endsWith('.ndjson'));
    expect(readFileSync(join(folder, segment!), 'utf8')).toBe('first\nnext\n');
  });
});

// Backlogs that change hands: folders that processes have left, that are taken from a living one, that are damaged.
describe('folders that were left', () => {
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
    // The process ends before that: its own lines wait behind the found ones.
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
    // Mended by one step below: a look at the folder between two would find nothing in it.
    writeFileSync(join(folder, `${ELSEWHERE}-left`, '0000000002.ndjson'), line(2));
    const { forwarder, sink, said } = await opened({ folder, touchMs: 1 });
    await until(() => sink.lines.length === 2);
    const name = readdirSync(folder).find((each) => each.startsWith('backlog-5-'))!;
    rmSync(join(folder, name, '0000000001.ndjson'), { recursive: true });
    await until(() => sink.lines.length === 3);
    expect(sink.lines).toEqual(texts(3));
    expect(said.filter((each) => each.startsWith('positions that were left cannot be read'))).toHaveLength(1);
    await forwarder.close();
    expect(readdirSync(folder)).toEqual([]);
  });
});
