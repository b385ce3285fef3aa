// Files on disk: inputs, rows that are put aside, the files of a run after a crash, and how formats are told.
import { spawnSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  linkSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { checkedText, readChecked } from '#dist/config/checked-state.js';
import { destinationOf } from '#dist/files/disk/destination.js';
import { openInput } from '#dist/files/disk/input.js';
import { SpillFolder } from '#dist/files/disk/spill-folder.js';
import { Targets, type TargetsRequest } from '#dist/files/disk/targets.js';
import { FILE_FORMATS, FORMATS, formatOfBytes, formatOfName } from '#dist/files/format.js';
import { ownFolder } from '../../../support/own-folder.js';

// The files of a run: what is on the disk after a crash at each step, and how the next run begins.
describe('the files of a run', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'hexcodes-targets-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const at = (name: string): string => join(folder, name);
  const textOf = (name: string): string => readFileSync(at(name), 'utf8');
  const request = (more: Partial<TargetsRequest> = {}): TargetsRequest => ({
    output: destinationOf(at('out.csv')),
    rejects: destinationOf(at('bad.csv')),
    notResumable: null,
    isResume: false,
    digest: 'same',
    ...more,
  });

  /** A run that wrote three lines and crashed; the journal knows two of them. */
  async function crashed(): Promise<void> {
    const targets = new Targets(request());
    await targets.output.write(Buffer.from('one\ntwo\n'));
    await targets.rejects?.write(Buffer.from('bad one\n'));
    targets.tally.rows = 3;
    targets.tally.fail('NOT_FOUND');
    targets.checkpoint({ inputNumber: 0, inputOffset: 30, inputRows: 3 }, 1000, true);
    await targets.output.write(Buffer.from('three, not in the journal\n'));
    await targets.rejects?.write(Buffer.from('bad two, not in the journal\n'));
    for (const name of ['out.csv', 'bad.csv']) endHolder(name);
  }

  /** Lets the lock of an output look as after the crash of its process. */
  function endHolder(name: string): void {
    const lock = `${name}.partial.lock`;
    const holder = JSON.parse(textOf(lock));
    expect(holder.pid).toBe(process.pid);
    writeFileSync(at(lock), JSON.stringify({ ...holder, started: 'before' }));
  }

  test('a resumed run cuts off the rows after the journal and goes on', async () => {
    await crashed();
    expect(existsSync(at('out.csv'))).toBe(false);
    const targets = new Targets(request({ isResume: true }));
    expect(targets.from).toMatchObject({ inputNumber: 0, inputOffset: 30, inputRows: 3 });
    expect([targets.tally.rows, targets.tally.failedRows, targets.tally.elapsedBeforeMs]).toEqual([
      3, 1, 1000,
    ]);
    await targets.output.write(Buffer.from('three\n'));
    await targets.finish(500);
    expect(textOf('out.csv')).toBe('one\ntwo\nthree\n');
    expect(textOf('bad.csv')).toBe('bad one\n');
    for (const name of [
      'out.csv.partial',
      'out.csv.partial.journal',
      'out.csv.partial.lock',
      'bad.csv.partial',
    ]) {
      expect([name, existsSync(at(name))]).toEqual([name, false]);
    }
  });

  test('after a crash between the last journal and a rename, --resume only renames', async () => {
    for (const renamed of [[], ['out.csv'], ['out.csv', 'bad.csv']]) {
      await crashed();
      const journal = readChecked(textOf('out.csv.partial.journal')) as object;
      writeFileSync(at('out.csv.partial.journal'), checkedText({ ...journal, isWhole: true }));
      for (const name of renamed) {
        writeFileSync(at(name), readFileSync(at(`${name}.partial`)));
        rmSync(at(`${name}.partial`));
      }
      const targets = new Targets(request({ isResume: true }));
      expect(targets.isDone).toBe(true);
      expect(textOf('out.csv')).toContain('one\n');
      expect(textOf('bad.csv')).toContain('bad one\n');
      expect(existsSync(at('out.csv.partial.journal'))).toBe(false);
      for (const name of ['out.csv', 'bad.csv']) rmSync(at(name));
    }
  });

  test('--resume with other options is refused; without --resume the run starts again and says so', async () => {
    await crashed();
    expect(() => new Targets(request({ isResume: true, digest: 'other' }))).toThrow(/other options/);
    const targets = new Targets(request());
    expect(targets.note).toContain('is overwritten');
    expect(targets.from).toBeNull();
    await targets.output.write(Buffer.from('new\n'));
    await targets.finish(1);
    expect(textOf('out.csv')).toBe('new\n');
  });

  test('a journal that is not as it was written is refused by name, whichever byte is another or missing', async () => {
    await crashed();
    const journal = readFileSync(at('out.csv.partial.journal'));
    const altered = [...journal.keys()].flatMap((i) => [
      Buffer.from(journal).fill(journal[i]! ^ 1, i, i + 1),
      journal.subarray(0, i),
    ]);
    // Numbers and members that a person may have typed.
    const { state } = JSON.parse(journal.toString()) as { state: object };
    altered.push(Buffer.from(JSON.stringify(state)), Buffer.from('null'));
    for (const bytes of altered) {
      writeFileSync(at('out.csv.partial.journal'), bytes);
      expect(() => new Targets(request({ isResume: true })), bytes.toString()).toThrow(
        /cannot resume by .*out\.csv\.partial\.journal: it is not as it was written/,
      );
    }
    expect(textOf('out.csv.partial')).toContain('three');
    const targets = new Targets(request());
    expect(targets.from).toBeNull();
    targets.abandon(false);
  });

  test('without the partial file the run starts again', async () => {
    await crashed();
    rmSync(at('out.csv.partial'));
    const targets = new Targets(request({ isResume: true }));
    expect(targets.from).toBeNull();
    expect(targets.tally.rows).toBe(0);
  });

  test('an abandoned run leaves its files only if they are worth keeping', async () => {
    await crashed();
    new Targets(request({ isResume: true })).abandon(true);
    expect(existsSync(at('out.csv.partial.journal'))).toBe(true);
    new Targets(request({ isResume: true })).abandon(false);
    for (const name of ['out.csv', 'out.csv.partial', 'out.csv.partial.journal', 'bad.csv.partial']) {
      expect([name, existsSync(at(name))]).toEqual([name, false]);
    }
  });

  test('a partial file shorter than its journal is refused, whole or not, and stays as it is', async () => {
    for (const isWhole of [false, true]) {
      await crashed();
      const journal = readChecked(textOf('out.csv.partial.journal')) as object;
      writeFileSync(at('out.csv.partial.journal'), checkedText({ ...journal, isWhole }));
      writeFileSync(at('out.csv.partial'), 'one\n');
      expect(() => new Targets(request({ isResume: true }))).toThrow(/has 4 bytes, its journal counts 8/);
      expect(textOf('out.csv.partial')).toBe('one\n');
      expect(existsSync(at('out.csv'))).toBe(false);
    }
  });

  test('links in place of a partial file are neither followed nor resumed', async () => {
    writeFileSync(at('precious'), 'precious\n'.repeat(9));
    for (const link of [symlinkSync, linkSync]) {
      link(at('precious'), at('out.csv.partial'));
      const afresh = new Targets(request());
      await afresh.output.write(Buffer.from('rows\n'));
      await afresh.finish(1);
      expect([textOf('out.csv'), textOf('precious')]).toEqual(['rows\n', 'precious\n'.repeat(9)]);
      await crashed();
      rmSync(at('out.csv.partial'));
      link(at('precious'), at('out.csv.partial'));
      expect(() => new Targets(request({ isResume: true }))).toThrow(/is not the file of the earlier run/);
      expect(textOf('precious')).toBe('precious\n'.repeat(9));
      rmSync(at('out.csv.partial'));
    }
  });

  test('a second run with one of the files is refused until the first has ended, however it ends', async () => {
    const ends = [(run: Targets) => run.finish(1), async (run: Targets) => run.abandon(false)];
    for (const end of ends) {
      const first = new Targets(request());
      const sameRejects = request({ output: destinationOf(at('other.csv')) });
      for (const second of [request(), request({ isResume: true }), sameRejects]) {
        expect(() => new Targets(second)).toThrow(`process ${process.pid} is writing it`);
      }
      await end(first);
      new Targets(request()).abandon(false);
    }
    expect(readdirSync(folder).filter((name) => name.includes('partial'))).toEqual([]);
  });

  test('the lock of a dead process is taken over; that of another host, or one that cannot be read, is not', () => {
    const lock = at('out.csv.partial.lock');
    const ended = spawnSync(process.execPath, ['--version']).pid;
    writeFileSync(lock, JSON.stringify({ host: hostname(), pid: ended, started: null }));
    new Targets(request()).abandon(false);
    // A process that was killed left it empty, or had moved another one aside.
    writeFileSync(lock, '');
    writeFileSync(`${lock}.stale`, JSON.stringify({ host: hostname(), pid: ended, started: null }));
    new Targets(request()).abandon(false);
    expect(readdirSync(folder).filter((name) => name.includes('partial'))).toEqual([]);
    for (const text of [JSON.stringify({ host: 'elsewhere', pid: ended, started: null }), 'no JSON']) {
      writeFileSync(lock, text);
      expect(() => new Targets(request())).toThrow(/is writing it/);
      expect(readFileSync(lock, 'utf8')).toBe(text);
    }
    rmSync(lock);
    symlinkSync('nowhere', lock);
    expect(() => new Targets(request())).toThrow(/another run is writing it/);
  });
});

// Files that cannot be converted are not left open: a worker meets thousands of them.
describe('inputs', () => {
  const folder = ownFolder('input');
  const OPEN = '/proc/self/fd';

  /** How many descriptors of this process lead to a file. */
  function openOnes(path: string): number {
    const linkOf = (name: string): string => {
      try {
        return readlinkSync(join(OPEN, name));
      } catch {
        // The descriptor of the list itself.
        return '';
      }
    };
    return readdirSync(OPEN).filter((name) => linkOf(name) === path).length;
  }

  /** Larger than what is read of a file at first. */
  function fileOf(name: string, ...head: readonly Uint8Array[]): string {
    const path = join(folder, name);
    writeFileSync(path, Buffer.concat([...head, Buffer.alloc(1 << 20, 'x')]));
    return path;
  }

  test.skipIf(!existsSync(OPEN)).each([
    ['a.zip', Buffer.from('PK\u0003\u0004'), /ZIP/],
    ['b.csv.gz', gzipSync('lat,lng\n').subarray(0, 12), /gzip/],
    ['c.pdf', Buffer.from('%PDF-1.7\n'), /PDF/],
  ])('%s', async (name, head, reason) => {
    const path = fileOf(name, head);
    await expect(openInput(path)).rejects.toThrow(reason);
    await expect.poll(() => openOnes(path)).toBe(0);
  });
});

// Rows on the disk: read as they were written, and a disk that cannot be read is said in words.
describe('rows on the disk', () => {
  const folder = new SpillFolder('hexcodes-test', 'rows');
  afterEach(() => folder.remove());

  test('bytes are read from any place on, fewer at the end', () => {
    const descriptor = folder.create();
    folder.write(descriptor, new Uint8Array([1, 2, 3, 4, 5]));
    const bytes = new Uint8Array(3);
    expect([folder.read(descriptor, bytes, 1), [...bytes]]).toEqual([3, [2, 3, 4]]);
    expect([folder.read(descriptor, bytes, 4), bytes[0]]).toEqual([1, 5]);
    expect(folder.read(descriptor, bytes, 5)).toBe(0);
  });

  test('what cannot be read', () => {
    folder.create();
    const unreadable = openSync(tmpdir(), 'r');
    try {
      expect(() => folder.read(unreadable, new Uint8Array(3), 0)).toThrow(
        /^cannot read rows from .*hexcodes-test-\w+: it is a directory$/,
      );
    } finally {
      closeSync(unreadable);
    }
  });
});

// The list of file formats: names and first bytes lead to one format each, and docs/command.md names every one.
describe('the list of formats', () => {
  const table = readFileSync(new URL('../../../../docs/command.md', import.meta.url), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('| '));

  test('no extension belongs to two formats', () => {
    const all = FILE_FORMATS.flatMap((name) => FORMATS[name].extensions);
    expect(new Set(all).size).toBe(all.length);
  });

  test.each(FILE_FORMATS.map((name) => [name] as const))('%s is found by each of its extensions', (name) => {
    for (const extension of FORMATS[name].extensions)
      for (const path of [`a.${extension}`, `a.b/c.${extension.toUpperCase()}.gz`, `a.${extension}.zst`])
        expect(formatOfName(path).format, path).toBe(name);
  });

  test.each(FILE_FORMATS.map((name) => [name] as const))('docs/command.md has a row for %s', (name) => {
    const { title, extensions } = FORMATS[name];
    const row = table.find((line) => line.slice(2).split(' | ')[0]!.split(', ').includes(title));
    expect(row, title).toBeDefined();
    for (const extension of extensions) expect(row).toContain(`\`.${extension}\``);
  });

  test.each([
    ['csv', 'id,lat,lng\n1,21,105\n'],
    ['csv', ''],
    ['csv', 'a\tb,c\n'],
    ['ndjson', '{"a":1}\t\n'],
    ['tsv', '\ufefflat\tlng\n21\t105\n'],
    ['ndjson', ' {"lat":21}\n'],
    ['geojson', '\u001e{"type":"Feature"}\n'],
    ['parquet', 'PAR1'],
    ['arrow', 'ARROW1\0\0'],
  ])('first bytes of %s: %j', (name, content) => {
    expect(formatOfBytes(Buffer.from(content))).toBe(name);
  });
});
