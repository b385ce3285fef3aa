// Where results go: links, devices, FIFOs and descriptors; and the line of a run about rows that were read the slow
// way.

import { spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readlinkSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { basename, resolve } from 'node:path';
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
