// `hexcodes job`: submitted again it adds nothing, failed parts have their reason and hold nobody up, outputs stay in
// their folder, a worker that was held up disturbs nothing, and a job that is cancelled goes on when it is submitted
// again.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
} from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { JobFolder } from '../../support/engine/job-folder.js';
import { writePointsCsv } from '../../support/files/points-csv.js';
import { NatsServer, natsNote, noNats } from '../../support/nats.js';

const canMount =
  spawnSync('unshare', ['-m', 'sh', '-c', 'mount -t tmpfs tmpfs /mnt'], { stdio: 'ignore' }).status === 0;

describe.skipIf(noNats !== undefined)(`hexcodes job${natsNote}`, () => {
  let folder: JobFolder;
  let server: NatsServer;
  beforeAll(async () => {
    server = await NatsServer.start();
  });
  afterAll(() => server.remove());
  beforeEach(async () => {
    folder = await JobFolder.make(server);
  });
  afterEach(() => folder.end());

  test('files of one name, in their folders; the manifest; submitted again it adds nothing', async () => {
    for (const name of ['a', 'b']) mkdirSync(folder.file(`in/${name}`));
    folder.csv('in/a/x.csv');
    folder.csv('in/b/x.csv', 5);
    const id = await folder.submit('in/**/*.csv', '--format', 'ndjson', '-r', '9');
    folder.start();
    const status = await folder.ended(id);
    expect([status.code, status.stdout]).toEqual([
      0,
      expect.stringContaining(`job ${id}: ended, encode → out`),
    ]);
    expect(status.stdout).toContain('100%  2 of 2 parts  8 rows');
    expect(status.stdout).toContain('2 rows failed');
    const { rows, failed, parts } = folder.manifest(id);
    expect([rows, failed, parts.map(({ output }) => output)]).toEqual([
      ...[8, { NOT_FOUND: 2 }],
      ['a/x.ndjson', 'b/x.ndjson'],
    ]);
    for (const { output, sha256 } of parts)
      expect(
        createHash('sha256')
          .update(folder.bytes(`out/${output}`))
          .digest('hex'),
      ).toBe(sha256);
    await folder.run(['encode', 'in/b/x.csv', '-r', '9', '-o', 'one.ndjson', '-q']);
    expect(folder.read('out/b/x.ndjson')).toBe(folder.read('one.ndjson'));
    const again = await folder.job('submit', 'in/**/*.csv', '--format', 'ndjson', '-r', '9', '--to', 'out');
    expect(again.stdout.trim()).toBe(id);
    expect(again.stderr).toContain('2 parts of 2 files, 0 MB, 0 added, 2 done before');
    const other = await folder.job('submit', 'in/**/*.csv', '--format', 'ndjson', '-r', '8', '--to', 'out');
    expect(other.stdout.trim()).not.toBe(id);
    expect(existsSync(folder.file(`out/.hexcodes-${id}`))).toBe(false);
  });

  test('damaged files have their reason, the others go on; mended causes are tried again', async () => {
    folder.csv('in/good.csv');
    folder.csv('in/blocked.csv');
    folder.write('in/ragged.csv', 'lat,lng\n21,105\n21\n');
    folder.write('in/no.parquet', 'PAR1 and nothing else');
    folder.write('in/other.csv', 'a,b\n1,2\n');
    mkdirSync(folder.file('out/blocked.csv'), { recursive: true });
    const id = await folder.submit('in/*');
    const worker = folder.start();
    const status = await folder.ended(id);
    expect(status.code).toBe(1);
    expect(status.stdout).toContain('4 parts failed:');
    expect(status.stdout).toContain('in/ragged.csv, row 2, column lng: 1 fields, the header has 2');
    const reasons = (): string[] => folder.manifest(id).parts.flatMap(({ reason }) => reason ?? []);
    expect(reasons()).toEqual([
      'cannot write blocked.csv: it is there, and no regular file',
      expect.stringContaining('in/no.parquet: not a whole Parquet file'),
      expect.stringContaining('in/other.csv: no column lat or latitude: it has a, b'),
      expect.stringContaining('in/ragged.csv, row 2'),
    ]);
    expect(folder.manifest(id)).toMatchObject({ failedParts: 4, rows: 3 });
    rmSync(folder.file('out/blocked.csv'), { recursive: true });
    expect((await folder.job('retry', id)).stderr).toContain('4 parts handed out again');
    expect((await folder.ended(id)).code).toBe(1);
    expect(reasons()).toHaveLength(3);
    expect(folder.read('out/blocked.csv')).toBe(folder.read('out/good.csv'));
    await worker.end();
  });

  test('a file that has changed is not converted', async () => {
    folder.csv('in/x.csv');
    const id = await folder.submit('in/x.csv');
    utimesSync(folder.file('in/x.csv'), 1, 1);
    folder.start();
    expect((await folder.ended(id)).stdout).toContain('in/x.csv: it has changed since the job was submitted');
  });

  test('an output replaces a file at once, with its permissions, and no link', async () => {
    folder.csv('in/x.csv');
    folder.csv('in/y.csv');
    mkdirSync(folder.file('out'));
    folder.write('out/x.csv', 'before');
    chmodSync(folder.file('out/x.csv'), 0o600);
    folder.write('elsewhere.csv', 'mine');
    symlinkSync('../elsewhere.csv', folder.file('out/y.csv'));
    const id = await folder.submit('in/*.csv');
    folder.start();
    expect((await folder.ended(id)).stdout).toContain('cannot write y.csv: it is there, and no regular file');
    expect([statSync(folder.file('out/x.csv')).mode & 0o777, folder.read('elsewhere.csv')]).toEqual([
      0o600,
      'mine',
    ]);
    expect(folder.read('out/x.csv')).toContain('status');
  });

  test('files that no job can have', async () => {
    folder.csv('in/x.csv');
    mkdirSync(folder.file('in2'));
    folder.csv('in2/y.csv');
    folder.write('in/x.tsv', 'lat\tlng\n21\t105\n');
    symlinkSync('/etc', folder.file('etc'));
    const cases: [string[], string][] = [
      [['in/none.csv', '--to', 'out'], 'in/none.csv: there is no such file'],
      [['in/*', '--to', 'in'], 'in/x.csv lies in the output folder in'],
      [['in/x.csv', 'in2/y.csv', '--to', '.'], 'in/x.csv lies in the output folder .'],
      [['/etc/hostname', '--to', 'out'], '/etc/hostname is not below the shared folder'],
      [['in/*', '--to', 'etc'], 'etc is not below the shared folder'],
      [['in/*', '--to', 'out', '--decode', '--lat', 'a'], '--lat is not for --decode'],
      [['in/*', '--to', 'out', '--errors', 'x.csv'], '--errors x.csv: must be keep, skip or stop'],
      [['in/*', '--to', 'out', '--format', 'xls'], '--format xls: must be one of'],
    ];
    for (const [args, sentence] of cases) {
      const ran = await folder.job('submit', ...args);
      expect([ran.stderr.split('\n')[0], ran.stdout]).toEqual([expect.stringContaining(sentence), '']);
      expect([2, 3]).toContain(ran.code);
    }
    expect((await folder.job('status')).stdout).toBe('no jobs\n');
    expect((await folder.job('cancel', 'ab')).stderr).toContain('ab: there is no such job');
  });

  test('cancelling breaks off what is under way', async () => {
    writePointsCsv(folder.file('in/x.csv'), 2_000_000, 1);
    const id = await folder.submit('in/x.csv', '--part-size', '1G');
    const worker = folder.start();
    await expect
      .poll(() => existsSync(folder.file(`out/.hexcodes-${id}`)), { timeout: 60_000, interval: 5 })
      .toBe(true);
    // The command may take longer than the conversion.
    worker.child.kill('SIGSTOP');
    expect((await folder.job('cancel', id)).code).toBe(0);
    worker.child.kill('SIGCONT');
    await expect.poll(() => existsSync(folder.file(`out/.hexcodes-${id}`)), { timeout: 60_000 }).toBe(false);
    expect(await worker.end()).toBe(0);
    expect(readdirSync(folder.file('out'))).toEqual([]);
  });

  test('a worker that was held up while another converted its part disturbs nothing', async () => {
    writePointsCsv(folder.file('in/x.csv'), 300_000, 2);
    const id = await folder.submit('in/x.csv', '--part-size', '1G');
    const first = folder.start();
    const scratch = folder.file(`out/.hexcodes-${id}`);
    await expect.poll(() => existsSync(scratch), { timeout: 60_000, interval: 5 }).toBe(true);
    first.child.kill('SIGSTOP');
    folder.start();
    expect((await folder.ended(id)).code).toBe(0);
    const bytes = folder.bytes('out/x.csv');
    const text = folder.read(`out/manifest-${id}.json`);
    first.child.kill('SIGCONT');
    await first.says(/[1-9] done by others/);
    expect(await first.end()).toBe(0);
    expect([folder.bytes('out/x.csv').equals(bytes), folder.read(`out/manifest-${id}.json`)]).toEqual([
      true,
      text,
    ]);
    expect(existsSync(scratch)).toBe(false);
    expect(createHash('sha256').update(bytes).digest('hex')).toBe(folder.manifest(id).parts[0]!.sha256);
  });

  test.skipIf(!canMount)(
    'a full disk is a reason, and the part is tried again when there is room',
    async () => {
      writePointsCsv(folder.file('in/x.csv'), 20_000, 3);
      folder.csv('in/y.csv');
      const id = await folder.submit('in/*.csv');
      const script = 'mount -t tmpfs -o size=100k tmpfs out && exec "$@"';
      const small = folder.start(['unshare', '-m', 'sh', '-c', script, 'sh']);
      await small.says(/part 1 has failed: cannot write out\/x\.csv: the disk is full/);
      await small.says(/2 parts/);
      await small.end();
      // The output of the other part is gone with the disk.
      expect((await folder.job('retry', id)).stderr).toContain('1 part handed out again');
      folder.start();
      await expect.poll(() => existsSync(folder.file('out/x.csv')), { timeout: 60_000 }).toBe(true);
    },
  );

  test('a worker that is stopped gives its part back at once', async () => {
    writePointsCsv(folder.file('in/x.csv'), 300_000, 4);
    const id = await folder.submit('in/x.csv', '--part-size', '1G');
    const first = folder.start();
    await expect.poll(() => existsSync(folder.file(`out/.hexcodes-${id}`)), { timeout: 60_000 }).toBe(true);
    expect(await first.end()).toBe(0);
    await sleep(100);
    expect(readdirSync(folder.file('out'))).toEqual([]);
    folder.start();
    expect((await folder.ended(id)).code).toBe(0);
  });
});
