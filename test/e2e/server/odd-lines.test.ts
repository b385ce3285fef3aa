// Requests whose lines end or begin in ways that other servers read or refuse: the transport answers some by itself and
// ends the others without an answer, in order, at the end of its idle time. None is taken for another request, and the
// document says what each gets.
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startServer, type TestServer } from '../../support/server.js';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

const TARGET = '/v1/hexcodes/encode?lat=21.0288&lng=105.8525';
const BODY = '{"lat":21.0288,"lng":105.8525}';

/** Lines, and the statuses that come before the end of the connection. */
const CASES: readonly (readonly [
  name: string,
  request: (key: string) => string,
  statuses: readonly number[],
])[] = [
  ['CR LF before the request', (key) => `\r\nGET ${TARGET} HTTP/1.1\r\nHost: a\r\n${key}\r\n\r\n`, []],
  ['CR LF twice before', (key) => `\r\n\r\nGET ${TARGET} HTTP/1.1\r\nHost: a\r\n${key}\r\n\r\n`, []],
  ['a folded header', (key) => `GET ${TARGET} HTTP/1.1\r\nHost: a\r\n${key}\r\nA: b\r\n c\r\n\r\n`, []],
  ['one folded by a tab', (key) => `GET ${TARGET} HTTP/1.1\r\nHost: a\r\n${key}\r\nA: b\r\n\tc\r\n\r\n`, []],
  ['the first folded', (key) => `GET ${TARGET} HTTP/1.1\r\n Host: a\r\n${key}\r\n\r\n`, []],
  ['a blank before a colon', (key) => `GET ${TARGET} HTTP/1.1\r\nHost : a\r\n${key}\r\n\r\n`, []],
  ['LF in headers', (key) => `GET ${TARGET} HTTP/1.1\r\nHost: a\n${key}\n\n`, []],
  ['LF behind one header', (key) => `GET ${TARGET} HTTP/1.1\r\nHost: a\n${key}\r\n\r\n`, []],
  ['LF at the end', (key) => `GET ${TARGET} HTTP/1.1\r\nHost: a\r\n${key}\r\n\n`, []],
  ['LF alone', (key) => `GET ${TARGET} HTTP/1.1\nHost: a\n${key}\n\n`, [505]],
  ['LF before the request', (key) => `\nGET ${TARGET} HTTP/1.1\r\nHost: a\r\n${key}\r\n\r\n`, [505]],
  ['CR alone', (key) => `GET ${TARGET} HTTP/1.1\rHost: a\r${key}\r\r`, [505]],
  ['two blanks', (key) => `GET  ${TARGET} HTTP/1.1\r\nHost: a\r\n${key}\r\n\r\n`, [505]],
  ['TLS', () => '\x16\x03\x01\x00\xa5\x01\x00\x00\xa1\x03\x03', [505]],
  [
    'CR LF behind a body',
    (key) =>
      `POST ${TARGET.split('?')[0]} HTTP/1.1\r\nHost: a\r\n${key}\r\nContent-Type: application/json\r\n` +
      `Content-Length: ${BODY.length}\r\n\r\n${BODY}\r\nGET ${TARGET} HTTP/1.1\r\nHost: a\r\n${key}\r\n\r\n`,
    [200],
  ],
];

function send(text: string): Promise<{ statuses: number[]; end: string }> {
  return new Promise((resolve) => {
    let got = '';
    const socket = connect(server.port, '127.0.0.1', () => socket.write(text, 'latin1'));
    const finish = (end: string): void => {
      const statuses = [...got.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status));
      socket.destroy();
      resolve({ statuses, end });
    };
    socket.on('data', (bytes) => (got += bytes.toString('latin1')));
    socket.on('end', () => finish('closed'));
    socket.on('error', (error: NodeJS.ErrnoException) => finish(error.code ?? error.message));
  });
}

test('each is answered or closed in order, and none becomes another request', async () => {
  const key = `X-API-Key: ${server.key}`;
  const ends = await Promise.all(CASES.map(async ([name, request]) => [name, await send(request(key))]));
  expect(ends).toEqual(CASES.map(([name, , statuses]) => [name, { statuses, end: 'closed' }]));
  expect((await fetch(server.base + TARGET, { headers: { 'X-API-Key': server.key } })).status).toBe(200);
});

test('bytes beyond ASCII at the ends of a value are dropped, and in the middle it is as it was sent', async () => {
  const idFor = async (value: string): Promise<string | undefined> => {
    const text = `GET /v1/meta HTTP/1.1\r\nHost: a\r\nX-Request-Id: ${value}\r\nX-API-Key: ${server.key}\r\n\r\n`;
    const client = connect(server.port, '127.0.0.1', () => client.write(text, 'latin1'));
    let got = '';
    for await (const bytes of client) {
      got += (bytes as Buffer).toString('latin1');
      if (got.includes('\r\n\r\n')) break;
    }
    return /X-Request-Id: (.*)\r\n/.exec(got)?.[1];
  };
  for (const value of ['ab\x84', '\x84ab', '\xc3\xa9ab\xc3\xa9']) expect(await idFor(value)).toBe('ab');
  // An id is ASCII: the service gives one of its own.
  expect(await idFor('a\x84b')).toMatch(/^[A-Za-z0-9._-]{6,}$/);
});

test('the document says so', () => {
  const document = readFileSync('docs/http.md', 'utf8');
  for (const words of [
    'a folded header line',
    'header lines that end in LF alone',
    'TLS on the plain port',
    'bytes beyond ASCII at either end',
  ])
    expect(document).toContain(words);
});
