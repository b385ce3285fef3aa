// Where results go: links, devices, FIFOs and descriptors; what a run that crashed leaves, and how the next one begins;
// and the formats of names and of first bytes.

import { spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { basename, resolve } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from 'vitest';
import { sharedCommand } from '../../../support/shared.js';

const folder = sharedCommand();

describe('outputs', () => {
  const MAIN = resolve('dist/cli/main.js');

  const ROWS = 'id,lat,lng\n1,21.0306,105.8489\n2,10.7799,106.7\n3,0,0\n';

  const isRoot = process.getuid?.() === 0;

  let encoded: string;

  beforeAll(async () => {
    folder.write('in.csv', ROWS);
    encoded = (await folder.run('encode in.csv -q')).stdout;
  });

  const leftOvers = (): string[] => folder.names().filter((name) => name.includes('.partial'));

  /**
   * A device like one of /dev; as root one of our own, since a fault would replace that of the machine. Null without.
   */
  function deviceLike(name: string, minor: number): string | null {
    if (!isRoot) return `/dev/${name}`;
    return shell(`mknod ${name} c 1 ${minor}`).status === 0 ? name : null;
  }

  function shell(command: string): ReturnType<typeof spawnSync> {
    const script = `hexcodes() { "${process.execPath}" "${MAIN}" "$@"; }\n${command}`;
    return spawnSync('bash', ['-c', script], { cwd: folder.path, encoding: 'utf8', timeout: 60_000 });
  }

  test('a file that is replaced passes on its permissions, and as root its owner', async () => {
    for (const mode of [0o640, 0o600]) {
      folder.write('kept.csv', 'old');
      chmodSync(folder.file('kept.csv'), mode);
      if (isRoot) chownSync(folder.file('kept.csv'), 12, 34);
      const { uid, gid } = statSync(folder.file('kept.csv'));
      expect((await folder.run('encode in.csv -o kept.csv -q')).code).toBe(0);
      const stat = statSync(folder.file('kept.csv'));
      expect([stat.mode & 0o777, stat.uid, stat.gid]).toEqual([mode, uid, gid]);
      expect(folder.read('kept.csv')).toBe(encoded);
    }
  });

  test('links stay links: the file they lead to is replaced, or made', async () => {
    mkdirSync(folder.file('deep'));
    folder.write('deep/real.csv', 'old');
    symlinkSync('deep/real.csv', folder.file('second.csv'));
    symlinkSync('second.csv', folder.file('link.csv'));
    symlinkSync('deep/new.csv', folder.file('dangling.csv'));
    for (const [link, target, to] of [
      ['link.csv', 'deep/real.csv', 'second.csv'],
      ['dangling.csv', 'deep/new.csv', 'deep/new.csv'],
    ] as const) {
      expect((await folder.run(['encode', 'in.csv', '-o', link, '-q'])).code).toBe(0);
      expect(readlinkSync(folder.file(link))).toBe(to);
      expect(folder.read(target)).toBe(encoded);
    }
    symlinkSync('circle.csv', folder.file('circle.csv'));
    const circle = await folder.run('encode in.csv -o circle.csv');
    expect([circle.code, circle.stderr]).toEqual([4, expect.stringContaining('too many links')]);
  });

  test('a device takes the bytes and stays a device; a full one is a full disk', async (context) => {
    const nothing = deviceLike('null', 3);
    const full = deviceLike('full', 7);
    if (nothing === null || full === null) return context.skip('mknod is not allowed here');
    for (const path of [nothing, 'to-null.csv']) {
      if (path !== nothing) symlinkSync(nothing, folder.file(path));
      const ran = await folder.run(['encode', 'in.csv', '-o', path]);
      expect([ran.code, ran.stderr]).toEqual([0, expect.stringContaining('3 rows in')]);
    }
    expect(statSync(resolve(folder.path, nothing)).isCharacterDevice()).toBe(true);
    for (const args of [
      ['-o', full],
      ['--errors', full, '-o', 'good.csv'],
      ['-o', full, '--to', 'parquet'],
    ]) {
      const ran = await folder.run(['encode', 'in.csv', ...args]);
      expect([ran.code, ran.stderr]).toEqual([
        4,
        expect.stringContaining(`cannot write ${full}: the disk is full`),
      ]);
    }
    expect(statSync(resolve(folder.path, full)).isCharacterDevice()).toBe(true);
    expect(folder.names().filter((name) => name.startsWith('good'))).toEqual([]);
  });

  test('a folder as standard input is refused', () => {
    const ran = shell('hexcodes check --from ndjson < .');
    expect([ran.status, `${ran.stderr}`]).toEqual([3, expect.stringContaining('it is a directory')]);
  });

  test('a file beyond ulimit -f is named and leaves nothing; neither has an empty name', async () => {
    folder.write('much.csv', `lat,lng\n${'21.0306,105.8489\n'.repeat(3000)}`);
    const ran = shell(`ulimit -f 20; hexcodes encode much.csv -q -o much-out.csv`);
    expect([ran.status, `${ran.stderr}`]).toEqual([4, expect.stringContaining('ulimit -f')]);
    expect(folder.names().filter((name) => name.startsWith('much-'))).toEqual([]);
    for (const args of [
      ['in.csv', '-o', ''],
      ['in.csv', '--errors', ''],
      ['in.csv', ''],
    ])
      expect(await folder.run(['encode', ...args])).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('the name of a file is empty'),
      });
  });

  test.each([
    ['csv', '--threads 1'],
    ['csv', '--to ndjson'],
    ['ndjson', '--threads 1'],
  ])('a file of %s that becomes shorter while it is read ends the run: %s', (format, options) => {
    const row = format === 'csv' ? '21.0306,105.8489\n' : '{"lat":21.0306,"lng":105.8489}\n';
    folder.write(`cut.${format}`, `${format === 'csv' ? 'lat,lng\n' : ''}${row.repeat(200_000)}`);
    // The reader takes some bytes, cuts the file, and takes the others.
    const ran = shell(
      `rm -f cut; mkfifo cut; (head -c 9; : > cut.${format}; cat) < cut > taken & hexcodes encode cut.${format} -q -o cut --to ${format} ${options}; echo $?`,
    );
    expect([ran.stdout, ran.stderr]).toEqual(['3\n', expect.stringContaining('became shorter while it was')]);
  });

  test('a FIFO gets the rows, also more than it holds, and the failed rows; a reader that leaves is named', async () => {
    expect(shell('mkfifo fifo').status).toBe(0);
    const many = `id,lat,lng\n${'1,21.0306,105.8489\n'.repeat(20_000)}`;
    folder.write('many.csv', many);
    for (const args of [
      ['many.csv', '-o', 'fifo'],
      ['in.csv', '-o', 'ok.csv', '--errors', 'fifo'],
    ]) {
      const reader = spawn('cat', ['fifo'], { cwd: folder.path });
      const read: Buffer[] = [];
      reader.stdout.on('data', (bytes: Buffer) => read.push(bytes));
      const ended = new Promise((done) => reader.on('close', done));
      const ran = await folder.run(['encode', ...args, '-q']);
      await ended;
      expect([ran.code, ran.stderr]).toEqual([0, '']);
      const lines = Buffer.concat(read).toString().trim().split('\n');
      expect(lines.length).toBe(args.includes('fifo') && args[0] === 'many.csv' ? 20_001 : 2);
      expect(lstatSync(folder.file('fifo')).isFIFO()).toBe(true);
    }
    const head = shell(
      'head -c 10 fifo > first & hexcodes encode many.csv many.csv -o fifo; echo "exit $?"; wait',
    );
    expect([head.stdout, head.stderr]).toEqual([
      'exit 4\n',
      expect.stringContaining('its reader has closed it'),
    ]);
  });

  test('stdout by its names, and descriptors of the shell', async () => {
    for (const name of ['-', '/dev/stdout', '/dev/fd/1', '/proc/self/fd/1']) {
      const ran = await folder.run(['encode', 'in.csv', '-o', name, '-q']);
      expect([name, ran.code, ran.stdout]).toEqual([name, 0, encoded]);
    }
    expect(folder.names()).not.toContain('-');
    const gzip = shell(
      'set -o pipefail; hexcodes encode in.csv -q -o >(gzip > sub.gz; echo done) | cat; gzip -dc sub.gz',
    );
    expect([gzip.stderr, gzip.stdout]).toEqual(['', expect.stringContaining(encoded)]);
    const appended = shell('echo first > log; hexcodes encode in.csv -q -o /dev/stdout >> log; cat log');
    expect(appended.stdout).toBe(`first\n${encoded}`);
    const opened = shell('hexcodes encode in.csv -q -o /dev/fd/5 5> five.csv; cat five.csv');
    expect([opened.stderr, opened.stdout]).toEqual(['', encoded]);
    const closed = shell('hexcodes encode in.csv -q -o /dev/fd/77; echo "exit $?"');
    expect(closed.stdout).toBe('exit 4\n');
  });

  test('folders are refused before the first row, and nothing is left', async () => {
    mkdirSync(folder.file('d'));
    for (const args of [
      ['-o', 'd'],
      ['-o', '/'],
      ['-o', 'new/'],
      ['-o', 'fine.csv', '--errors', 'd'],
    ]) {
      // The input is malformed, which a run that had begun would say.
      const ran = await folder.run(['encode', ...args], { stdin: 'lat,lng\n1\n' });
      expect([args, ran.code, ran.stderr]).toEqual([args, 4, expect.stringContaining('it is a directory')]);
    }
    expect(leftOvers()).toEqual([]);
  });

  test('input, output and failed rows must be different files, links and hard links included', async () => {
    folder.write('p.csv', ROWS);
    symlinkSync('p.csv', folder.file('p-link.csv'));
    linkSync(folder.file('p.csv'), folder.file('p-hard.csv'));
    folder.write('o.csv.partial', 'rows of an earlier run');
    for (const args of [
      ['p.csv', '-o', 'p.csv', '--errors', 'skip', '--keep', 'id'],
      ['p.csv', '-o', './p-link.csv'],
      ['p.csv', '-o', 'p-hard.csv'],
      ['in.csv', 'p-link.csv', '-o', 'p-hard.csv'],
      ['p.csv', '-o', 'o.csv', '--errors', 'p.csv'],
      ['p.csv', '-o', 'o.csv', '--errors', 'o.csv'],
      ['p.csv', '-o', 'o.csv', '--errors', `../${basename(folder.path)}/o.csv`],
      ['p.csv', '-o', 'o.csv', '--errors', 'o.csv.partial'],
      ['p.csv', '-o', '-', '--errors', '-'],
      ['o.csv.partial', '--from', 'csv', '-o', 'o.csv'],
    ]) {
      const ran = await folder.run(['encode', ...args]);
      expect([args, ran.code, ran.stderr]).toEqual([args, 2, expect.stringContaining('are one file')]);
      expect(folder.read('p.csv')).toBe(ROWS);
      expect(folder.read('o.csv.partial')).toBe('rows of an earlier run');
    }
    for (const command of ['hexcodes encode -o p.csv < p.csv', 'hexcodes encode p.csv >> p.csv']) {
      const ran = shell(command);
      expect([ran.status, ran.stderr]).toEqual([2, expect.stringContaining('are one file')]);
      expect(folder.read('p.csv')).toBe(ROWS);
    }
  });

  test('of two runs with one output the second is refused, and the first is whole', async () => {
    const all = ROWS + '4,21.0306,105.8489\n'.repeat(1000);
    folder.write('all.csv', all);
    // The first run waits for the rest of its input while the second one starts.
    const first = spawn(process.execPath, [MAIN, 'encode', '-o', 'shared.csv', '-q'], { cwd: folder.path });
    const ended = new Promise<number | null>((done) => first.on('close', done));
    first.stdin.write(all);
    while (!folder.names().includes('shared.csv.partial')) await new Promise((tick) => setTimeout(tick, 10));
    const second = await folder.run('encode all.csv -r 9 -o shared.csv');
    expect([second.code, second.stderr]).toEqual([
      4,
      expect.stringContaining(`cannot write shared.csv: process ${first.pid} is writing it`),
    ]);
    first.stdin.end();
    expect(await ended).toBe(0);
    expect(folder.read('shared.csv')).toBe((await folder.run('encode all.csv -q')).stdout);
    expect(leftOvers().filter((name) => name.startsWith('shared'))).toEqual([]);
  });
});

// Files on the disk after a crash at each step of a run, and how the next run begins.
describe('runs that crashed', () => {
  const RUN = ['encode', 'rows.csv', '--errors', 'bad.csv', '-o', 'out.csv'];
  const FILES = ['out.csv', 'bad.csv', 'precious'];
  const LOCK = 'out.csv.partial.lock';
  const JOURNAL = 'out.csv.partial.journal';
  /** Loaded before the command: its process is killed before a file gets its name, or before the journal goes. */
  const KILL = `
    import fs from 'node:fs';
    import { syncBuiltinESMExports } from 'node:module';
    const { renameSync, rmSync } = fs;
    const done = [];
    const before = (step) => {
      done.push(step);
      if (done.filter((each) => each === step).join(' ') === process.env.KILL_AT) process.kill(process.pid, 'SIGKILL');
    };
    fs.renameSync = (from, to) => void (before(to.split('/').at(-1)), renameSync(from, to));
    fs.rmSync = (path, ...more) => void (done.includes('bad.csv') && before('end'), rmSync(path, ...more));
    syncBuiltinESMExports();`;
  let whole: readonly Buffer[];
  let left: ReadonlyMap<string, Buffer>;

  const removeAll = (): void => {
    for (const name of folder.names())
      if (FILES.some((each) => name.startsWith(each))) rmSync(folder.file(name), { recursive: true });
  };
  /** Runs until a step. */
  async function crashed(at: string): Promise<void> {
    const env = { KILL_AT: at, HEXCODES_CHECKPOINT_BYTES: '65536', NODE_OPTIONS: '--import ./kill.mjs' };
    removeAll();
    expect((await folder.run([...RUN, '-q'], { env })).code).toBe(null);
  }
  /** Lays down what a crash between two journals has left. */
  function afterCrash(): void {
    removeAll();
    for (const [name, bytes] of left) folder.write(name, bytes);
  }
  const resumed = async (...more: string[]) => {
    const { code, stderr } = await folder.run([...RUN, '--resume', ...more]);
    return { code, stderr };
  };
  const expectWhole = (): void => {
    for (const [i, bytes] of whole.entries()) expect(folder.bytes(FILES[i]!).equals(bytes)).toBe(true);
    expect(leftOvers()).toEqual([]);
  };
  const leftOvers = (): string[] => folder.names().filter((name) => /^(out|bad).*\.partial/.test(name));

  beforeAll(async () => {
    folder.write('kill.mjs', KILL);
    const row = (i: number): string => (i % 100 === 7 ? `${i},0,0` : `${i},21.03,105.8`);
    folder.write('rows.csv', `id,lat,lng\n${Array.from({ length: 30_000 }, (_, i) => row(i)).join('\n')}\n`);
    expect((await folder.run([...RUN, '-q'])).code).toBe(0);
    whole = [folder.bytes('out.csv'), folder.bytes('bad.csv')];
    await crashed(`${JOURNAL} ${JOURNAL}`);
    left = new Map(leftOvers().map((name) => [name, folder.bytes(name)]));
    expect([...left.keys()]).toEqual(expect.arrayContaining([JOURNAL, LOCK, 'bad.csv.partial']));
  });

  test('rows after the journal are cut off; a run between its last journal and a name has only names to give', async () => {
    afterCrash();
    expect(await resumed()).toMatchObject({ code: 0, stderr: expect.stringContaining('Going on after row') });
    expectWhole();
    for (const step of ['out.csv', 'bad.csv', 'end']) {
      await crashed(step);
      expect(await resumed(), step).toMatchObject({
        stderr: expect.stringContaining('were written already'),
      });
      expectWhole();
    }
  });

  test('without --resume, or without the partial file, the run starts again and says so', async () => {
    afterCrash();
    const { stderr } = await folder.run(RUN);
    expect(stderr).toContain('is overwritten');
    expectWhole();
    afterCrash();
    rmSync(folder.file('out.csv.partial'));
    expect((await resumed()).stderr).toContain('The unfinished output is gone');
    expectWhole();
  });

  test('a journal that is not as it was written is refused by name, whichever byte is another or missing', async () => {
    const journal = left.get(JOURNAL)!;
    const { state } = JSON.parse(journal.toString()) as { state: object };
    const altered = [...journal.keys()]
      .filter((i) => i % 23 === 0)
      .flatMap((i) => [Buffer.from(journal).fill(journal[i]! ^ 1, i, i + 1), journal.subarray(0, i)]);
    // Members that a person may have typed.
    for (const bytes of [...altered, Buffer.from(JSON.stringify(state)), Buffer.from('null')]) {
      afterCrash();
      folder.write(JOURNAL, bytes);
      expect(await resumed(), bytes.toString()).toEqual({
        ...{
          code: 4,
          stderr: expect.stringContaining(`cannot resume by ${folder.file(JOURNAL)}: it is not as`),
        },
      });
      expect(folder.bytes('out.csv.partial').equals(left.get('out.csv.partial')!)).toBe(true);
    }
  });

  test('a partial file that is shorter than its journal, or a link to another, is neither resumed nor changed', async () => {
    afterCrash();
    folder.write('out.csv.partial', 'id\n');
    expect(await resumed()).toMatchObject({
      code: 4,
      stderr: expect.stringContaining('has 3 bytes, its journal'),
    });
    expect(folder.read('out.csv.partial')).toBe('id\n');
    const precious = folder.file('precious');
    for (const link of [symlinkSync, linkSync]) {
      afterCrash();
      folder.write('precious', 'precious\n'.repeat(99_999));
      rmSync(folder.file('out.csv.partial'));
      link(precious, folder.file('out.csv.partial'));
      expect(await resumed()).toMatchObject({
        code: 4,
        stderr: expect.stringContaining('not the file of the earlier'),
      });
      expect((await folder.run([...RUN, '-q'])).code).toBe(0);
      expect(folder.read('precious')).toBe('precious\n'.repeat(99_999));
      expectWhole();
    }
  });

  test('a lock that is empty, or of an ended process, is taken over; one of another host, or that cannot be read, is not', async () => {
    const { pid } = spawnSync('true');
    const ended = JSON.stringify({ host: hostname(), pid, started: null });
    removeAll();
    for (const [lock, stale] of [[ended], ['', ended]] as const) {
      folder.write(LOCK, lock);
      if (stale !== undefined) folder.write(`${LOCK}.stale`, stale);
      expect((await folder.run([...RUN, '-q'])).code).toBe(0);
      expectWhole();
    }
    for (const lock of [JSON.stringify({ host: 'elsewhere', pid, started: null }), 'no JSON']) {
      folder.write(LOCK, lock);
      expect(await resumed()).toMatchObject({ code: 4, stderr: expect.stringContaining('is writing it') });
      expect(folder.read(LOCK)).toBe(lock);
    }
    rmSync(folder.file(LOCK));
    symlinkSync('nowhere', folder.file(LOCK));
    expect(await resumed()).toMatchObject({
      code: 4,
      stderr: expect.stringContaining('another run is writing it'),
    });
  });
});

// The table of docs/command.md has every format and extension: what a name ends in, or else the first bytes, decides.
describe('formats', () => {
  const TABLE = readFileSync('docs/command.md', 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('| '));
  const EXTENSIONS = TABLE.flatMap((line) =>
    [...line.split(' | ')[1]!.matchAll(/`\.(\w+)`/g)].map((match) => match[1]!),
  ).filter((extension) => !['xlsm', 'arrows'].includes(extension));
  const ROW = '{"lat":21,"lng":105}\n';

  test('each has a row there, and each extension makes its format, packed or not, or is refused', async () => {
    const { stderr } = await folder.run('encode in.csv --from none');
    const names = stderr
      .slice(stderr.indexOf('one of') + 7)
      .trim()
      .split(', ');
    expect(names.filter((name) => !EXTENSIONS.includes(name))).toEqual([]);
    folder.write('one.ndjson', ROW);
    const made = async (name: string, ...to: string[]) =>
      (await folder.run(['encode', 'one.ndjson', '-q', '-o', name, ...to])).code === 0
        ? folder.bytes(name)
        : null;
    let format = '';
    for (const extension of EXTENSIONS) {
      if (names.includes(extension)) format = extension;
      const wanted = ['gpx', 'kml', 'gpkg'].includes(format) ? null : await made('as', '--to', format);
      const upper = await made(`a.b.${extension.toUpperCase()}`);
      const packed = await made(`a.${extension}.gz`);
      const head = wanted?.subarray(0, 8);
      for (const bytes of [upper, packed && gunzipSync(packed)])
        expect([extension, bytes?.subarray(0, head?.length)]).toEqual([extension, head]);
    }
  });

  test.each([
    ['id,lat,lng\n1,21,105\n', /^id,lat,lng,hexcodes/],
    ['lat,lng,a\tb\n21,105,1\n', /^lat,lng,a\tb,hexcodes/],
    ['\ufefflat\tlng\n21\t105\n', /^\ufeff?lat\tlng\thexcodes/],
    [` ${ROW}`, /^ ?\{"lat":21,"lng":105,"hexcodes"/],
    [
      '\u001e{"type":"Feature","geometry":{"type":"Point","coordinates":[105,21]},"properties":{}}\n',
      /^\{"type":"Fea.*hexcodes/s,
    ],
  ])('%j is told by its first bytes', async (stdin, wanted) => {
    const { code, stdout } = await folder.run('encode -q', { stdin });
    expect([code, stdout]).toEqual([0, expect.stringMatching(wanted)]);
  });
});
