// Requests that are odd or hostile: byte by byte, closed in the midst, pipelined, with lines that other servers read or
// refuse, with Expect; and how long a connection may rest.

import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { describe, expect, onTestFinished, test } from 'vitest';
import { askRaw, call, rawClient } from '../../support/http-calls.js';
import { randomFrom } from '../../support/open-world.js';
import { parseAnswers, sendRaw } from '../../support/server.js';
import { sharedServer } from '../../support/shared.js';

const server = sharedServer();

const POINT = '{"lat":21.0288,"lng":105.8525}';

describe('clients that misbehave', () => {
  const post = (path: string, type: string, body: string) =>
    `POST ${path} HTTP/1.1\r\nHost: a\r\nX-API-Key: ${server.key}\r\nContent-Type: ${type}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;

  const get = (query: string) => `GET ${query} HTTP/1.1\r\nHost: a\r\nX-API-Key: ${server.key}\r\n\r\n`;

  const JSON_BODY = '{"lat": 21.0288, "lng": 105.8525, "resolution": 9}';

  test('a request one byte at a time gets the same answer', async () => {
    const request = post('/v1/hexcodes/encode', 'application/json', JSON_BODY);
    const [whole] = parseAnswers(await sendRaw(server.port, request));
    // The request line is sent in one piece; the next test cuts it.
    const lineEnd = request.indexOf('\r\n') + 2;
    const pieces = [request.slice(0, lineEnd), ...request.slice(lineEnd)];
    const [bytewise] = parseAnswers(await sendRaw(server.port, pieces, { gapMs: 1 }));
    expect(whole?.status).toBe(200);
    expect(bytewise?.body).toBe(whole?.body);
    const chunks = [...JSON_BODY].map((c) => `1\r\n${c}\r\n`).join('');
    const head = request.replace(/Content-Length: \d+/, 'Transfer-Encoding: chunked').split('\r\n\r\n')[0];
    const [chunked] = parseAnswers(await sendRaw(server.port, `${head}\r\n\r\n${chunks}0\r\n\r\n`));
    expect(chunked?.body).toBe(whole?.body);
  });

  /**
   * Where uws-pack takes a request line that is cut for another version of HTTP, and answers 505 (transport README
   * U14).
   */
  function mistakenCuts(request: string): number[] {
    const method = request.indexOf(' ') + 1;
    const version = request.indexOf(' HTTP/1.1\r');
    return [method, ...Array.from({ length: ' HTTP/1.1\r'.length }, (_, i) => version + 1 + i)];
  }

  test('every cut of a request into two segments gives the same answer, except where uws-pack may answer 505', async () => {
    const { transport } = (await call(server, '/v1/meta')).body;
    for (const request of [
      get('/v1/hexcodes/encode?lat=21.0288&lng=105.8525'),
      post('/v1/hexcodes/decode', 'application/x-www-form-urlencoded', 'hexcodes=HN-2J'),
    ]) {
      const [whole] = parseAnswers(await sendRaw(server.port, request, { idleMs: 100 }));
      expect(whole?.status).toBe(200);
      const cuts = Array.from({ length: request.length - 1 }, (_, i) => i + 1);
      const different: number[] = [];
      while (cuts.length > 0) {
        const tries = cuts.splice(0, 40).map(async (cut) => {
          const pieces = [request.slice(0, cut), request.slice(cut)];
          const received = await sendRaw(server.port, pieces, { idleMs: 200, gapMs: 10 });
          if (received.startsWith('HTTP/1.1 505 ')) different.push(cut);
          else expect(parseAnswers(received)[0]?.body, `cut at ${cut}`).toBe(whole?.body);
        });
        await Promise.all(tries);
      }
      // A cut makes no difference if both segments are read at once.
      const mistaken = mistakenCuts(request);
      expect(different.filter((cut) => !mistaken.includes(cut))).toEqual([]);
      // Fact U14 of src/server/transport/README.md.
      if (transport.name !== 'uws-pack') expect(different).toEqual([]);
    }
  });

  test('clients that close the connection at any byte of a request disturb no other', async () => {
    const request = post('/v1/hexcodes/encode', 'application/json', JSON_BODY);
    await Promise.all(
      Array.from({ length: 200 }, async (_, i) => {
        const socket = connect(server.port, '127.0.0.1');
        await once(socket, 'connect');
        socket.write(request.slice(0, 1 + ((i * 7) % request.length)));
        if (i % 2 === 0) socket.resetAndDestroy();
        else socket.destroy();
        await once(socket, 'close');
      }),
    );
    const [answer] = parseAnswers(await sendRaw(server.port, request));
    expect(answer?.status).toBe(200);
  });

  test('pipelined single conversions are all answered, in order', async () => {
    const random = randomFrom(11);
    const wanted: string[] = [];
    let pipeline = '';
    for (let i = 0; i < 500; i++) {
      const lat = (9 + random() * 10).toFixed(5);
      const lng = (103 + random() * 5).toFixed(5);
      wanted.push(`"lat":${Number(lat)},"lng":${Number(lng)},`);
      pipeline +=
        i % 3 === 0
          ? post('/v1/hexcodes/encode', 'application/json', `{"lat":${lat},"lng":${lng}}`)
          : get(`/v1/hexcodes/encode?lat=${lat}&lng=${lng}`);
    }
    const answers = parseAnswers(await sendRaw(server.port, pipeline));
    expect(answers.map((a) => a.status)).toEqual(wanted.map(() => 200));
    for (const [i, answer] of answers.entries()) expect(answer.body).toContain(wanted[i]);
  });

  test('a request after a HEAD request on the same connection is answered', async () => {
    const url = '/v1/hexcodes/encode?lat=21.0288&lng=105.8525';
    for (const path of [url, '/v1/hexcodes/encode?lat=x']) {
      const heads = get(path).replace('GET', 'HEAD');
      const text = String(await sendRaw(server.port, heads + get(url)));
      expect(text.match(/HTTP\/1\.1 \d+/g)).toHaveLength(2);
      expect(text).toMatch(/"status":"OK"\}$/);
    }
  });

  test.each([
    ['refused', 'Content-Type: text/plain\r\n', 415],
    ['broken', 'Content-Type: text/csv\r\n', 400],
  ])('single conversions before a bulk body that is %s are answered', async (_name, type, status) => {
    const single = get('/v1/hexcodes/encode?lat=21&lng=105');
    const body = 'nothing,of,ours\n1,2,3\n';
    const bulk = `POST /v1/hexcodes/encode/bulk HTTP/1.1\r\nHost: a\r\nX-API-Key: ${server.key}\r\n${type}Content-Length: ${body.length}\r\n\r\n${body}`;
    // The answers to some of these counts fit uWS's cork, those to others do not.
    for (const count of [3, 20, 60]) {
      const answers = parseAnswers(await sendRaw(server.port, single.repeat(count) + bulk));
      expect(answers.map((answer) => answer.status)).toEqual([...Array<number>(count).fill(200), status]);
    }
  });

  test('single conversions before a bulk body whose answer is cut off are answered', async () => {
    const rows = gzipSync(`lat,lng\n${'21,105\n'.repeat(20)}`, { level: 0 });
    const broken = Buffer.concat([rows.subarray(0, 60), Buffer.alloc(60, 0xff)]).toString('latin1');
    const bulk = `POST /v1/hexcodes/encode/bulk HTTP/1.1\r\nHost: a\r\nX-API-Key: ${server.key}\r\nContent-Type: text/csv\r\nContent-Encoding: gzip\r\nContent-Length: ${broken.length}\r\n\r\n${broken}`;
    const single = get('/v1/hexcodes/encode?lat=21&lng=105');
    for (const count of [3, 20, 60]) {
      const received = await sendRaw(server.port, single.repeat(count) + bulk);
      expect(received.match(/"status":"OK"\}/g)).toHaveLength(count);
      // The answer that is cut off has no final chunk.
      expect(received).not.toMatch(/\r\n0\r\n\r\n$/);
    }
  });

  test.each([
    ['text/csv', 'lat,lng\n21,105\n'],
    ['application/x-ndjson', '{"lat":21,"lng":105}\n[21,105]\n'],
  ])('a small bulk body of %s among pipelined requests is answered in its place', async (type, body) => {
    const single = get('/v1/hexcodes/encode?lat=21&lng=105');
    const bulk = post('/v1/hexcodes/encode/bulk', type, body);
    const [alone] = parseAnswers(await sendRaw(server.port, bulk, { idleMs: 100 }));
    expect(alone?.status).toBe(200);
    expect(alone?.headers.get('vary')).toBe('Accept, Accept-Encoding');
    const answers = parseAnswers(await sendRaw(server.port, single.repeat(3) + bulk + bulk + single));
    expect(answers.map((answer) => answer.status)).toEqual(Array(6).fill(200));
    expect([answers[3]?.body, answers[4]?.body]).toEqual([alone?.body, alone?.body]);
    for (const i of [0, 1, 2, 5]) expect(answers[i]?.body).toContain('"lat":21,"lng":105,');
  });

  test('a connection that uWS closes by itself loses the answers in its cork (transport README U13)', async () => {
    const singles = get('/v1/hexcodes/encode?lat=21&lng=105').repeat(3);
    const large = post('/v1/hexcodes/encode/bulk', 'text/csv', `lat,lng\n${'21,105\n'.repeat(2000)}`);
    const brokenChunk = post('/v1/hexcodes/encode/bulk', 'text/csv', 'zz\r\n').replace(
      /Content-Length: \d+/,
      'Transfer-Encoding: chunked',
    );
    const statuses = async (text: string): Promise<string[]> =>
      (await sendRaw(server.port, text)).match(/HTTP\/1\.1 \d+/g) ?? [];
    expect(await statuses(singles + brokenChunk)).toEqual(['HTTP/1.1 400']);
    expect(await statuses(singles + get('/v1/meta').replace('HTTP/1.1', 'HTTP/1.0'))).toEqual([
      'HTTP/1.1 505',
    ]);
    expect(await statuses(singles + large + singles)).toEqual([]);
    // With no request after the bulk body, all are answered.
    expect(await statuses(singles + large)).toHaveLength(4);
  });

  test.each([
    ['encode', 'application/json', POINT, 'Content-Type: application/x-www-form-urlencoded', 415],
    ['encode', 'application/json', POINT, 'Content-Type: application/json', 200],
    ['encode/batch', 'application/json', `{"points":[${POINT}]}`, 'Content-Encoding: identity', 200],
    ['encode/batch', 'application/json', '{}', 'Content-Encoding: identity\r\nContent-Encoding: gzip', 415],
    ['encode/bulk', 'text/csv', '', 'Content-Encoding: gzip\r\nContent-Encoding: br', 415],
    ['encode/bulk', 'text/csv', 'lat,lng\n', 'Content-Type: application/x-ndjson', 415],
    ['encode/bulk', 'text/csv', 'lat,lng\n', 'Hexcodes-Answer: now\r\nHexcodes-Answer: after-body', 400],
  ] as const)(
    'headers that contradict one another: %s of %s, %s, %s',
    async (path, type, body, header, status) => {
      const request = post(`/v1/hexcodes/${path}`, type, body).replace('\r\n', `\r\n${header}\r\n`);
      const [answer] = parseAnswers(await sendRaw(server.port, request));
      expect(answer?.status).toBe(status);
    },
  );

  test('500 pipelined requests that are refused are all answered', async () => {
    const requests = Array.from({ length: 500 }, (_, i) =>
      get(i % 2 ? '/v1/hexcodes/encode?lat=x' : '/nowhere'),
    );
    const answers = parseAnswers(await sendRaw(server.port, requests.join('')));
    expect(answers).toHaveLength(500);
  });
});

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
    'PROXY 1',
    (key) => `PROXY TCP4 1.2.3.4 1.2.3.4 1 2\r\nGET ${TARGET} HTTP/1.1\r\nHost: a\r\n${key}\r\n\r\n`,
    [505],
  ],
  [
    'PROXY 2',
    (key) =>
      `\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c${'\x01'.repeat(12)}GET ${TARGET} HTTP/1.1\r\nHost: a\r\n${key}\r\nConnection: close\r\n\r\n`,
    [200],
  ],
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
      // On Node 24 the 400 of uWS comes before the end, which other versions send alone.
      resolve({ statuses: statuses.filter((status) => status !== 400), end });
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

describe('Expect', () => {
  const KEY = 'one_key_0123456789abcdef';

  const server = sharedServer({ apiKeys: [{ name: 'one', secret: KEY }] });

  const CONTINUED = /^HTTP\/1\.1 100 Continue\r\n\r\n$/;

  const random = randomFrom(100);

  /** The word with letters of either case. */
  const anyCase = (word: string): string =>
    Array.from(word, (letter) => (random() < 0.5 ? letter.toUpperCase() : letter)).join('');

  const anySpelling = (): string => {
    const members = Array.from({ length: 1 + Math.floor(random() * 2) }, () => anyCase('100-continue'));
    return members.map((member) => `Expect:${random() < 0.5 ? ' ' : '\t '}${member}`).join('\r\n');
  };

  const SPELLINGS = [
    'Expect: 100-continue',
    'Expect: 100-Continue',
    'expect: 100-CONTINUE , 100-Continue',
    'Expect: 100-continue\r\nExpect: 100-Continue',
    ...Array.from({ length: 12 }, anySpelling),
  ];

  const sockets: Socket[] = [];

  async function client() {
    const made = await rawClient(server.port);
    sockets.push(made.socket);
    onTestFinished(() => sockets.splice(0).forEach((socket) => void socket.destroy()));
    return made;
  }

  const post = (path: string, lines: readonly string[]): string =>
    [`POST ${path} HTTP/1.1`, 'Host: a', `X-API-Key: ${KEY}`, ...lines, '', ''].join('\r\n');

  test.each(SPELLINGS)('a body that waits for its interim answer: %s', async (expectation) => {
    const bodies: [string, string, string][] = [
      ['/v1/hexcodes/encode', 'application/json', POINT],
      ['/v1/hexcodes/encode/batch', 'application/json', `{"points":[${POINT}]}`],
      ['/v1/hexcodes/encode/bulk', 'text/csv', 'lat,lng\n21.0288,105.8525\n'],
    ];
    const peer = await client();
    for (const [path, type, body] of bodies) {
      const head = post(path, [`Content-Type: ${type}`, `Content-Length: ${body.length}`, expectation]);
      const interim = await askRaw(peer, [head], /\r\n\r\n$/);
      expect(interim.replace(/^(HTTP\/1\.1 100 Continue\r\n\r\n)+/, '$1'), path).toMatch(CONTINUED);
      const answer = await askRaw(peer, [body], /-83RF\w/);
      expect(answer, path).toMatch(/^HTTP\/1\.1 200 OK\r\nContent-Type: .*\r\n\r\n.*-6GHP4-83RF/s);
    }
  });

  test('a request that waits and is refused gets its refusal; one that waits for something else, 417', async () => {
    const length = `Content-Length: ${POINT.length}`;
    const type = 'Content-Type: application/json';
    const refused = post('/v1/nothing', [type, length, 'Expect: 100-Continue']);
    expect(await askRaw(await client(), [refused], /}\s*$/)).toMatch(
      /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 404 Not Found\r\n/,
    );
    for (const value of ['200-ok', '100-continue, sorcery', '100', '100-continued']) {
      const answer = await askRaw(await client(), [
        post('/v1/hexcodes/encode', [type, length, `Expect: ${value}`]),
      ]);
      // curl sends the request again instead of the body.
      expect(answer, value).toMatch(
        /HTTP\/1\.1 417 Expectation Failed\r\n.*Connection: close\r\n.*INVALID_REQUEST/s,
      );
    }
    const bodiless = `GET /v1/hexcodes/encode?lat=21&lng=105.8 HTTP/1.1\r\nHost: a\r\nX-API-Key: ${KEY}\r\nExpect: 100-Continue\r\n\r\n`;
    expect(await askRaw(await client(), [bodiless])).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  });
});

interface Call {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

function ask(agent: Agent, { method, path, headers = {}, body }: Call): Promise<[IncomingMessage, Socket]> {
  return new Promise((resolve, reject) => {
    const all = { 'X-API-Key': server.key, ...headers };
    const call = request(server.base + path, { agent, method, headers: all }, (answer) => {
      const { socket } = answer;
      answer.resume();
      answer.on('end', () => resolve([answer, socket]));
    });
    call.on('error', reject);
    call.end(body);
  });
}

const JSON_TYPE = { 'Content-Type': 'application/json' };

const KEPT: readonly Call[] = [
  { method: 'GET', path: '/v1/hexcodes/encode?lat=21.0288&lng=105.8525' },
  { method: 'POST', path: '/v1/hexcodes/encode', headers: JSON_TYPE, body: POINT },
  { method: 'POST', path: '/v1/hexcodes/encode', headers: JSON_TYPE, body: '{"lat":0,"lng":0}' },
  { method: 'POST', path: '/v1/hexcodes/encode', headers: JSON_TYPE, body: '{' },
  { method: 'POST', path: '/v1/hexcodes/encode/batch', headers: JSON_TYPE, body: `{"points":[${POINT}]}` },
  {
    method: 'POST',
    path: '/v1/hexcodes/encode/bulk',
    headers: { 'Content-Type': 'text/csv' },
    body: 'lat,lng\n21.0288,105.8525\n',
  },
  { method: 'GET', path: '/v1/meta' },
  { method: 'HEAD', path: '/v1/meta' },
  { method: 'OPTIONS', path: '/v1/meta' },
  { method: 'GET', path: '/v1/nothing' },
  { method: 'GET', path: '/openapi.json' },
];

test('an answer after which the connection stays says for how long; one that ends it does not', async () => {
  const agent = new Agent({ keepAlive: true });
  for (const call of KEPT) {
    const [{ headers }] = await ask(agent, call);
    expect([call.path, headers.connection ?? 'kept', headers['keep-alive']]).toEqual([
      call.path,
      'kept',
      'timeout=7',
    ]);
  }
  const chunked = { 'Transfer-Encoding': 'chunked', ...JSON_TYPE };
  const [{ headers }] = await ask(agent, {
    method: 'POST',
    path: '/v1/hexcodes/encode',
    headers: chunked,
    body: POINT,
  });
  expect([headers.connection, headers['keep-alive']]).toEqual(['close', undefined]);
  agent.destroy();
});

test("Node's agent lets go of a connection at rest before the service ends it", async () => {
  // Only an agent that has a timeout of its own reads that of the service.
  const agent = new Agent({ keepAlive: true, timeout: 600_000 });
  const rested = KEPT.map(async (call) => {
    const [, socket] = await ask(agent, call);
    let isEndedByService = false;
    socket.once('end', () => (isEndedByService = true));
    await new Promise((resolve) => socket.once('close', resolve));
    return isEndedByService;
  });
  expect(await Promise.all(rested)).toEqual(KEPT.map(() => false));
});
