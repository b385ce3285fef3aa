// Sinks of positions: files and NATS. HTTP: test/e2e/forward/http-sink.
import {
  appendFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { FileSink } from '#dist/server/traccar/forward/sinks/file-sink.js';
import { NatsSink } from '#dist/server/traccar/forward/sinks/sink.js';
import { ownFolder } from '../../support/own-folder.js';

// Sinks that are files: what is appended, when another file begins, and a line that a kill has torn.
describe('files', () => {
  const root = ownFolder('file-sink');

  const line = (id: string, name: string | null = null): string =>
    `${JSON.stringify({
      ...{ id, unique_id: '86', name, fix_time: '2026-11-22T08:00:00.000Z' },
      ...{ device_time: null, server_time: null, lat: 21.0288, lng: 105.8525 },
      ...{ hexcodes: 'HN-6GHP4-83RFR', resolution: 13, admin_code: 'HN', status: 'OK' },
      ...{ speed_kn: 16.2, course: 3, altitude_m: null, accuracy_m: 0 },
      ...{ valid: true, protocol: 'x', attributes: { a: 1 } },
    })}\n`;
  const HEADER =
    'id,unique_id,name,fix_time,device_time,server_time,lat,lng,hexcodes,resolution,admin_code,status,speed_kn,course,altitude_m,accuracy_m,valid,protocol\n';
  const row = (id: string, name = ''): string =>
    `${id},86,${name},2026-11-22T08:00:00.000Z,,,21.0288,105.8525,HN-6GHP4-83RFR,13,HN,OK,16.2,3,,0,true,x\n`;
  const sinkOf = (path: string, format: 'csv' | 'ndjson', fullBytes = 1e6): FileSink =>
    new FileSink({ path, format, fullBytes });
  const textOf = (path: string): string => readFileSync(path, 'utf8');

  test('CSV: one header, quotes where they are needed, and nothing readable by everybody', async () => {
    const path = join(root, 'a.csv');
    const sink = sinkOf(path, 'csv');
    await sink.deliver(Buffer.from(line('1', '51C, "Trường"\n') + line('2')));
    await sink.deliver(Buffer.from(line('3')));
    expect(textOf(path)).toBe(`${HEADER}${row('1', '"51C, ""Trường""\n"')}${row('2')}${row('3')}`);
    expect(statSync(path).mode & 0o007).toBe(0);
    await sinkOf(path, 'csv').deliver(Buffer.from(line('4')));
    expect(textOf(path).endsWith(row('3') + row('4'))).toBe(true);
  });

  test('CSV: line ends of every kind are in quotes', async () => {
    const path = join(root, 'ends.csv');
    const sink = sinkOf(path, 'csv');
    for (const name of ['a\rb', 'a\nb', 'a\r\nb', 'a,b', 'a"b'])
      await sink.deliver(Buffer.from(line('1', name)));
    expect(textOf(path)).toBe(
      `${HEADER}${['"a\rb"', '"a\nb"', '"a\r\nb"', '"a,b"', '"a""b"'].map((name) => row('1', name)).join('')}`,
    );
  });

  test.each([
    ["=cmd|'/c calc'!A1", "'=cmd|'/c calc'!A1"],
    ['@SUM(A1)', "'@SUM(A1)"],
    ['+1+cmd|x', "'+1+cmd|x"],
    ['-2+3', "'-2+3"],
    ['\t=1', "'\t=1"],
    ['+84 (90) 123-45.6', '+84 (90) 123-45.6'],
    ['-12', '-12'],
    ['51C-123.45', '51C-123.45'],
    ['a=b', 'a=b'],
    ['a\u0000b\u001b[31m', 'a\ufffdb\ufffd[31m'],
  ])('CSV: the name %j of a device stands there as %j', async (name, shown) => {
    const [csv, ndjson] = [join(root, 'shown.csv'), join(root, 'shown.ndjson')];
    rmSync(csv, { force: true });
    rmSync(ndjson, { force: true });
    const quoted = /[",]/.test(shown) ? `"${shown}"` : shown;
    await sinkOf(csv, 'csv').deliver(Buffer.from(line('1', name)));
    expect(textOf(csv)).toBe(`${HEADER}${row('1', quoted)}`);
    await sinkOf(ndjson, 'ndjson').deliver(Buffer.from(line('1', name)));
    expect(JSON.parse(textOf(ndjson)).name).toBe(name);
  });

  test('a torn line after more than the last 64 KiB is cut off, and nothing before it', async () => {
    const path = join(root, 'long.ndjson');
    const whole = Array.from({ length: 400 }, (_, i) => line(String(i), 'x'.repeat(100))).join('');
    expect(whole.length).toBeGreaterThan(100_000);
    for (const torn of ['{"id":', `{"id":"${'y'.repeat(70_000)}`]) {
      writeFileSync(path, whole + torn);
      await sinkOf(path, 'ndjson').deliver(Buffer.from(line('new')));
      expect(textOf(path)).toBe(whole + line('new'));
    }
  });

  test('a line that another process is still writing is left to it', async () => {
    const path = join(root, 'other.ndjson');
    const [begun, rest] = [line('1').slice(0, 20), line('1').slice(20)];
    writeFileSync(path, begun);
    const delivered = sinkOf(path, 'ndjson').deliver(Buffer.from(line('2')));
    await new Promise((done) => setTimeout(done, 150));
    appendFileSync(path, rest);
    await delivered;
    expect(textOf(path)).toBe(line('1') + line('2'));
  });

  test('NDJSON: the lines as they are', async () => {
    const path = join(root, 'a.ndjson');
    await sinkOf(path, 'ndjson').deliver(Buffer.from(line('1') + line('2')));
    expect(textOf(path)).toBe(line('1') + line('2'));
  });

  test('a file that has reached its size is renamed, and so is none that another program took away', async () => {
    const path = join(root, 'full.csv');
    const sink = sinkOf(path, 'csv', HEADER.length + 1);
    await sink.deliver(Buffer.from(line('1')));
    await sink.deliver(Buffer.from(line('2')));
    const old = readdirSync(root).filter((name) => /^full\.\d{8}T\d{9}Z\.csv$/.test(name));
    expect(old).toHaveLength(1);
    expect(textOf(join(root, old[0]!))).toBe(HEADER + row('1'));
    expect(textOf(path)).toBe(HEADER + row('2'));
    rmSync(path);
    await sink.deliver(Buffer.from(line('3')));
    expect(textOf(path)).toBe(HEADER + row('3'));
  });

  test('a last line without an end is cut off, once', async () => {
    for (const [before, kept] of [
      [`${HEADER}${row('1')}2,86`, HEADER + row('1')],
      ['torn', HEADER],
      [`${HEADER}${'x'.repeat(200_000)}`, HEADER],
    ] as const) {
      const path = join(root, 'torn.csv');
      writeFileSync(path, before);
      await sinkOf(path, 'csv').deliver(Buffer.from(line('2')));
      expect(textOf(path)).toBe(kept + row('2'));
    }
  });

  test('a folder that is not there fails, and makes nothing', async () => {
    const path = join(root, 'none', 'a.csv');
    await expect(sinkOf(path, 'csv').deliver(Buffer.from(line('1')))).rejects.toThrow('ENOENT');
    expect(existsSync(join(root, 'none'))).toBe(false);
  });
});

// The sink on NATS over publishers that are opened, refuse, and are closed for good.
describe('NATS', () => {
  class FakePublisher {
    readonly published: string[] = [];
    hasEnded = false;
    isClosed = (): boolean => this.hasEnded;

    async publish(messages: readonly { readonly id: string; readonly bytes: Uint8Array }[]): Promise<void> {
      if (this.hasEnded) throw new Error('CLOSED');
      this.published.push(...messages.map(({ id, bytes }) => `${id} ${Buffer.from(bytes)}`));
    }

    async close(): Promise<void> {
      this.hasEnded = true;
    }
  }

  const batch = (...ids: string[]): Buffer => Buffer.from(ids.map((id) => `{"id":"${id}"}\n`).join(''));

  test('one connection for all batches; each message is a line without its end, under its id', async () => {
    const opened: FakePublisher[] = [];
    const sink = new NatsSink('nats', async () => {
      opened.push(new FakePublisher());
      return opened.at(-1)!;
    });
    await sink.deliver(batch('a', 'b'));
    await sink.deliver(batch('c'));
    expect(opened).toHaveLength(1);
    expect(opened[0]!.published).toEqual(['a {"id":"a"}', 'b {"id":"b"}', 'c {"id":"c"}']);
    await sink.close();
    expect(opened[0]!.hasEnded).toBe(true);
  });

  test('a connection that is closed for good is opened anew, as often as that takes', async () => {
    const opened: FakePublisher[] = [];
    let tries = 0;
    const sink = new NatsSink('nats', async () => {
      if (++tries === 2) throw new Error('refuses these credentials');
      opened.push(new FakePublisher());
      return opened.at(-1)!;
    });
    await sink.deliver(batch('a'));
    opened[0]!.hasEnded = true;
    await expect(sink.deliver(batch('b'))).rejects.toThrow('refuses these credentials');
    await sink.deliver(batch('b'));
    await sink.deliver(batch('c'));
    expect(tries).toBe(3);
    expect(opened[1]!.published).toEqual(['b {"id":"b"}', 'c {"id":"c"}']);
  });
});
