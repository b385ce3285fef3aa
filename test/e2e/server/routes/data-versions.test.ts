// Two versions of the boundary data side by side: the header Hexcodes-Data chooses, and answers name what was used.
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { ADMIN_UNITS, Hexcodes } from '#hexcodes';
import { CliFolder } from '../../../support/cli.js';
import { startServer, type TestServer } from '../../../support/server.js';
import { sharedOf } from '../../../support/shared.js';
import { shippedFiles } from '../../../support/shipped.js';

const files = shippedFiles();

/** The shipped index with the former province Bắc Ninh in Thái Nguyên, in its header and in its description. */
const previousIndex = Buffer.from(files.index);
const admin = ADMIN_UNITS.findIndex(({ code }) => code === 'TN');
const described = `{"name":"Bắc Ninh","admin":`;
const unit = previousIndex
  .toString('utf8')
  .split(described)[0]!
  .match(/\{"name":"/g)!.length;
previousIndex[64 + unit] = admin;
previousIndex[previousIndex.indexOf(described) + Buffer.byteLength(described)] = 48 + admin;
previousIndex.writeUInt32LE(crc32(previousIndex.subarray(16)), 12);

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
const [current, previous] = [sha256(files.index), sha256(previousIndex)];
const [LAT, LNG] = [21.0757, 105.9872];
const now = Hexcodes.from(files).encode(LAT, LNG).hexcodes;
const before = Hexcodes.from({ ...files, index: previousIndex }).encode(LAT, LNG).hexcodes;

const both = sharedOf(() => startServer({}, { ...files, previousIndex }));
const one = sharedOf(() => startServer({}, files));
afterAll(() => Promise.all([both.stop(), one.stop()]));

interface Call {
  readonly version?: string;
  readonly body?: string;
  readonly type?: string;
}

function call(server: TestServer, path: string, { version, body, type = 'application/json' }: Call = {}) {
  return fetch(`${server.base}/v1/${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      'X-API-Key': server.key,
      ...(body !== undefined && { 'Content-Type': type }),
      ...(version !== undefined && { 'Hexcodes-Data': version }),
    },
    ...(body !== undefined && { body }),
  });
}

/** More rows than this thread converts: they go to the pool. */
const ROWS = 60_000;
const CASES: [string, string, Call, (text: string) => string][] = [
  ['single', `hexcodes/encode?lat=${LAT}&lng=${LNG}`, {}, (text) => JSON.parse(text).hexcodes],
  [
    'single with a body',
    'hexcodes/encode',
    { body: JSON.stringify({ lat: LAT, lng: LNG }) },
    (text) => JSON.parse(text).hexcodes,
  ],
  [
    'batch',
    'hexcodes/encode/batch',
    { body: JSON.stringify({ points: [[LAT, LNG]] }) },
    (text) => JSON.parse(text).results[0].hexcodes,
  ],
  [
    'batch in the pool',
    'hexcodes/encode/batch',
    { body: JSON.stringify({ points: Array.from({ length: 9000 }, () => [LAT, LNG]) }) },
    (text) => JSON.parse(text).results[8999].hexcodes,
  ],
  [
    'bulk',
    'hexcodes/encode/bulk',
    { body: `lat,lng\n${LAT},${LNG}\n`, type: 'text/csv' },
    (text) => text.split('\n')[1]!.split(',')[2]!,
  ],
  [
    'bulk in the pool',
    'hexcodes/encode/bulk',
    { body: `lat,lng\n${`${LAT},${LNG}\n`.repeat(ROWS)}`, type: 'text/csv' },
    (text) => text.split('\n')[ROWS]!.split(',')[2]!,
  ],
];

describe.each(CASES)('%s', (_, path, options, codeOf) => {
  test.each([
    ['without the header', undefined, now, current],
    ['by the current version', current, now, current],
    ['by the previous one', previous, before, previous],
    ['by the digits that answers show, in capitals', previous.slice(0, 12).toUpperCase(), before, previous],
  ])('%s', async (_, version, code, used) => {
    const answer = await call(both, path, { ...options, ...(version !== undefined && { version }) });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('hexcodes-data')).toBe(used.slice(0, 12));
    expect(codeOf(await answer.text())).toBe(code);
  });

  test.each([['0'.repeat(12)], [previous.slice(0, 7)], ['2017-12-01'], [`${current}, ${previous}`]])(
    'refuses %s',
    async (version) => {
      const answer = await call(both, path, { ...options, version });
      expect(answer.status).toBe(400);
      expect(answer.headers.get('hexcodes-data')).toBeNull();
      const { status, details } = (await answer.json()) as { status: string; details: object[] };
      expect(status).toBe('INVALID_REQUEST');
      expect(details).toMatchObject([{ parameter: 'Hexcodes-Data' }]);
    },
  );

  test('a service with one version names it where it is asked for', async () => {
    expect((await call(one, path, options)).headers.get('hexcodes-data')).toBeNull();
    const asked = await call(one, path, { ...options, version: current.slice(0, 8) });
    expect([asked.status, asked.headers.get('hexcodes-data')]).toEqual([200, current.slice(0, 12)]);
    expect((await call(one, path, { ...options, version: previous })).status).toBe(400);
  });
});

test('errors name the version, too, and codes of both are decoded by both', async () => {
  const outside = await call(both, 'hexcodes/encode?lat=0&lng=0', { version: previous });
  expect([outside.status, outside.headers.get('hexcodes-data')]).toEqual([404, previous.slice(0, 12)]);
  expect(outside.headers.get('access-control-allow-origin')).toBe('*');
  const keyed = await fetch(`${both.base}/v1/hexcodes/encode?lat=0&lng=0&apikey=${both.key}`);
  expect(keyed.headers.get('cache-control')).toBe('private, no-store');
  for (const code of [now, before])
    for (const version of [current, previous]) {
      const answer = await call(both, `hexcodes/decode?hexcodes=${code}`, { version });
      expect(await answer.json()).toMatchObject({ status: 'OK', hexcodes: code });
    }
});

test('/v1/meta names both; what answers by one version refuses the other', async () => {
  const meta = await (await call(both, 'meta', { version: previous })).json();
  expect(meta).toMatchObject({
    boundary_data: { sha256: current },
    previous_boundary_data: { sha256: previous },
  });
  expect(await (await call(one, 'meta')).json()).not.toHaveProperty('previous_boundary_data');
  for (const path of [`hexcodes/${now}`, 'grid/5/25/14', `reverse?lat=${LAT}&lon=${LNG}`, 'admin-units']) {
    expect((await call(both, path, { version: previous })).status).toBe(400);
    expect((await call(both, path, { version: current })).status).toBe(200);
  }
  const socket = new WebSocket(`${both.base.replace('http', 'ws')}/v1/hexcodes/stream`, {
    headers: { 'X-API-Key': both.key, 'Hexcodes-Data': previous },
  });
  const status = await new Promise((resolve) => {
    socket.on('unexpected-response', (_, { statusCode }) => resolve(statusCode));
    socket.on('open', () => resolve(101));
    socket.on('error', () => {});
  });
  expect(status).toBe(400);
});

test('the command: a file that is not an index is refused at the start', async () => {
  const folder = new CliFolder();
  onTestFinished(() => folder.remove());

  writeFileSync(folder.file('good.bin'), previousIndex);
  writeFileSync(folder.file('bad.bin'), previousIndex.subarray(0, 1000));
  const check = (name: string) =>
    folder.run(['serve', '--check-config', '--previous-index', folder.file(name)]);
  expect((await check('good.bin')).code).toBe(0);
  expect((await check('bad.bin')).code).toBe(2);
  expect((await check('none.bin')).code).toBe(2);
});
