// Addresses of sinks, as the settings have them.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { ConfigError, flagsOf, readConfig, readSettings, SETTING_NAMES } from '#dist/config/config.js';

const folder = mkdtempSync(join(tmpdir(), 'hexcodes-sink-'));
afterAll(() => rmSync(folder, { recursive: true }));

const sinkOf = (text: string) => readConfig(SETTING_NAMES, { traccarSink: text }, {}).traccarSink;
function faultOf(text: string): string {
  try {
    sinkOf(text);
  } catch (error) {
    if (error instanceof ConfigError) return error.faults.join('\n');
  }
  return '';
}

test('files by their endings, URLs, subjects of NATS', () => {
  expect(readConfig(SETTING_NAMES, {}, {}).traccarSink).toBeUndefined();
  const csv = { kind: 'file', path: join(folder, 'a.csv'), format: 'csv' };
  for (const text of [`file:${folder}/a.csv`, `file://${folder}/a.csv`]) expect(sinkOf(text)).toEqual(csv);
  expect(sinkOf(`file:${folder}/a.ndjson`)).toMatchObject({ format: 'ndjson' });
  expect(sinkOf('file:a.csv')).toMatchObject({ path: join(process.cwd(), 'a.csv') });
  const url = 'https://example.com/in?token=x';
  expect(sinkOf(url)).toEqual({ kind: 'http', url });
  expect(sinkOf('nats://10.0.0.7:4222/fleet.positions')).toEqual({
    kind: 'nats',
    server: 'nats://10.0.0.7:4222',
    subject: 'fleet.positions',
  });
  expect(sinkOf('postgres://fleet@10.0.0.7:5433/gps?sslmode=require&table=fleet.positions')).toEqual({
    ...{ kind: 'postgres', table: 'fleet.positions' },
    url: 'postgres://fleet@10.0.0.7:5433/gps?sslmode=require',
  });
  expect(sinkOf('postgresql://fleet@db/gps')).toMatchObject({ table: 'hexcodes_positions' });
});

test.each([
  ['positions.csv', 'must be http(s)://'],
  ['ftp://a/b', 'must be http(s)://'],
  ['file:a.txt', 'ends neither in .csv nor in .ndjson'],
  ['file:/no/such/folder/a.csv', 'in a folder that cannot be written: /no/such/folder'],
  ['https://me:secret@example.com/', 'must not hold a user or password'],
  ['nats://me:secret@host/a', 'must not hold a user or password'],
  ['postgres://me:secret@host/db', 'must not hold a password'],
  ['postgres://me@host/db?password=secret@', 'must not hold a password'],
  ['postgres://host/db', 'must be http(s)://'],
  ['postgres://me@host', 'must be http(s)://'],
  ['postgres://me@host/db?table=a;b', 'must have a table'],
  ['nats://host:4222', 'must end with a subject'],
  ['nats://host:4222/fleet.*', 'must end with a subject'],
  ['', 'must be http(s)://'],
])('%j is refused, without what is secret in it', (text, words) => {
  expect(faultOf(text)).toContain(`--traccar-sink ${words.startsWith('must') ? '' : 'names a file '}`);
  expect(faultOf(text)).toContain(words);
  expect(faultOf(text)).not.toContain('secret@');
});

test('the header of an http sink is a secret, and one line', () => {
  const read = (text: string) => readSettings(SETTING_NAMES, {}, { HEXCODES_TRACCAR_SINK_HEADER: text });
  const { config, shown } = read('Authorization: Bearer abc:def ');
  expect(config.traccarSinkHeader).toEqual(['Authorization', 'Bearer abc:def']);
  expect(shown.join()).toContain('HEXCODES_TRACCAR_SINK_HEADER=***');
  for (const text of ['abc', 'a b: c', 'a: b\nc: d'])
    expect(() => read(text)).toThrow('must be a header line');
});

test('the address of an http sink is shown without path and query, which may be secret', () => {
  const shown = (text: string): string =>
    readSettings(SETTING_NAMES, { traccarSink: text }, {})
      .shown.find((row) => row.startsWith('HEXCODES_TRACCAR_SINK='))!
      .replace(/ *# --traccar-sink$/, '')
      .slice('HEXCODES_TRACCAR_SINK='.length);
  expect(shown('https://hooks.example.com/services/T0/SECRET')).toBe('https://hooks.example.com/…');
  expect(shown('HTTP://10.0.0.7:8080/?token=SECRET')).toBe('http://10.0.0.7:8080/…');
  expect(shown('https://example.com')).toBe('https://example.com');
  expect(shown('nats://10.0.0.7:4222/fleet.positions')).toBe('nats://10.0.0.7:4222/fleet.positions');
  expect(shown(`file:${folder}/a.csv`)).toBe(`file:${folder}/a.csv`);
});

test('the space for positions that wait holds the longest one', () => {
  const read = (text: string) =>
    readConfig(SETTING_NAMES, { traccarBacklogBytes: text }, {}).traccarBacklogBytes;
  expect(read('1048576')).toBe(1_048_576);
  expect(() => read('1048575')).toThrow('--traccar-backlog-bytes must be an integer from 1048576 to');
});

test('files of credentials are named, and not read, by a service without such a sink', () => {
  const { traccarNatsCredsFile, traccarNatsTlsCaFile } = readConfig(
    SETTING_NAMES,
    {},
    { HEXCODES_NATS_CREDS: '/no/such/file', HEXCODES_NATS_TLS_CA: '/none' },
  );
  expect([traccarNatsCredsFile, traccarNatsTlsCaFile]).toEqual(['/no/such/file', '/none']);
});

test('docs/traccar.md has every variable', () => {
  const text = readFileSync('docs/traccar.md', 'utf8');
  const variables = readSettings(SETTING_NAMES, {}, {}).shown.map((row) => row.split('=')[0]!);
  const own = variables.filter((name) => name.startsWith('HEXCODES_TRACCAR_'));
  expect(own.length).toBeGreaterThan(4);
  expect(own.filter((name) => !text.includes(`\`${name}\``))).toEqual([]);
});

test('credentials of a NATS sink are those of the workers, and have no flags of the service', () => {
  const { traccarNatsUser, traccarNatsToken } = readConfig(
    SETTING_NAMES,
    {},
    {
      HEXCODES_NATS_USER: 'me',
      HEXCODES_NATS_TOKEN: 'abc',
    },
  );
  expect([traccarNatsUser, traccarNatsToken]).toEqual(['me', 'abc']);
  expect(flagsOf(SETTING_NAMES).filter(({ flags }) => /^--(user|creds|nkey|tls)/.test(flags))).toEqual([]);
});
