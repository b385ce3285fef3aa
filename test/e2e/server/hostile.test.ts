// Clients that misbehave: bodies sent byte by byte, connections closed in the middle of a request, pipelines.

import { once } from 'node:events';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isUwsPack } from '../../support/bare-uws.js';
import { randomFrom } from '../../support/open-world.js';
import { parseAnswers, sendRaw, startServer, type TestServer } from '../../support/server.js';

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ logLevel: 'info' });
});
afterAll(() => server.stop());

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
 * Where uws-pack takes a request line that is cut for another version of HTTP, and answers 505 (transport README U14).
 */
function mistakenCuts(request: string): number[] {
  const method = request.indexOf(' ') + 1;
  const version = request.indexOf(' HTTP/1.1\r');
  return [method, ...Array.from({ length: ' HTTP/1.1\r'.length }, (_, i) => version + 1 + i)];
}

test('every cut of a request into two segments gives the same answer, except where uws-pack may answer 505', async () => {
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
    if (!isUwsPack) expect(different).toEqual([]);
  }
});

test('clients that close the connection at any place of a request disturb nobody', async () => {
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

test('a request behind a HEAD request on the same connection is answered', async () => {
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
  expect(await statuses(singles + get('/v1/meta').replace('HTTP/1.1', 'HTTP/1.0'))).toEqual(['HTTP/1.1 505']);
  expect(await statuses(singles + large + singles)).toEqual([]);
  // With no request behind the bulk body, all are answered.
  expect(await statuses(singles + large)).toHaveLength(4);
});

test('500 pipelined requests that are refused are all answered', async () => {
  const requests = Array.from({ length: 500 }, (_, i) =>
    get(i % 2 ? '/v1/hexcodes/encode?lat=x' : '/nowhere'),
  );
  const answers = parseAnswers(await sendRaw(server.port, requests.join('')));
  expect(answers).toHaveLength(500);
});
