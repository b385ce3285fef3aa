// How uWS itself treats requests: facts U1, U8 to U18, U33 and U36 to U38 of src/server/transport/README.md. A test
// that fails here means that uWS has changed, and that our answer to the fact may go.
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { UwsRequest, UwsResponse } from '#dist/server/transport/uws.js';
import { type BareUws, isUwsPack, openBareUws } from '../../../support/bare-uws.js';
import { parseAnswers, sendRaw } from '../../../support/server.js';

let bare: BareUws;
let heldRequest: UwsRequest | undefined;
let heldChunk: ArrayBuffer | undefined;
let queryTexts: (string | undefined)[] = [];
let readOnBytes = 0;

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;
const statusLines = async (requests: string) =>
  (await sendRaw(bare.port, requests)).match(/HTTP\/1\.1 \d+/g) ?? [];

function readWholeBody(res: UwsResponse): void {
  let sizeBytes = 0;
  res.onAborted(() => {});
  res.onData((chunk, isLast) => {
    sizeBytes += chunk.byteLength;
    if (isLast) res.end(`${sizeBytes} bytes`);
  });
}

beforeAll(async () => {
  bare = await openBareUws((app) => {
    app.get('/ok', (res) => void res.end('ok'));
    app.post('/body', readWholeBody);
    app.post('/refused', (res) => void res.writeStatus('400 Bad Request').end('no', true));
    app.post('/in-head', (res) => {
      res.onAborted(() => {});
      res.onData((chunk, isLast) => {
        readOnBytes += chunk.byteLength;
        if (isLast) setImmediate(() => res.close());
      });
      const whole = 'text/plain\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nno\r\n0\r\n';
      res.writeStatus('400 Bad Request').writeHeader('Content-Type', whole);
    });
    app.post('/refused-later', (res) => {
      let isAborted = false;
      res.onAborted(() => {
        isAborted = true;
      });
      setImmediate(
        () => isAborted || res.cork(() => void res.writeStatus('400 Bad Request').end('no', true)),
      );
    });
    app.get('/held', (res, req) => {
      heldRequest = req;
      res.end();
    });
    app.post('/held', (res) => {
      res.onAborted(() => {});
      res.onData((chunk, isLast) => {
        heldChunk = chunk;
        if (isLast) res.end();
      });
    });
    app.get('/query', (res, req) => {
      queryTexts = [req.getQuery(), req.getQuery('x'), req.getQuery()];
      res.end();
    });
    app.get('/header', (res) => void res.writeHeader('A', 'b\r\nC: d').end());
    app.head('/size', (res) => {
      res.onAborted(() => {});
      res.endWithoutBody(10);
    });
    app.get('/none', (res) => void res.writeStatus('204 No Content').endWithoutBody(0));
  });
});
afterAll(() => bare.close());

test('U1: a header block has 16 KiB at most, as the environment says, and 98 headers', async () => {
  const withHeaders = (lines: string) => statusLines(`GET /ok HTTP/1.1\r\nHost: a\r\n${lines}\r\n`);
  expect(await withHeaders(`X: ${'y'.repeat(15_000)}\r\n`)).toEqual(['HTTP/1.1 200']);
  expect(await withHeaders(`X: ${'y'.repeat(17_000)}\r\n`)).toEqual(['HTTP/1.1 431']);
  expect(await withHeaders('X: y\r\n'.repeat(97))).toEqual(['HTTP/1.1 200']);
  expect(await withHeaders('X: y\r\n'.repeat(98))).toEqual(['HTTP/1.1 431']);
});

test('U8: the request cannot be read after its handler has returned', async () => {
  await sendRaw(bare.port, get('/held'));
  expect(() => heldRequest?.getHeader('host')).toThrow('must not be accessed');
});

test('U9: a chunk of a body is empty after its callback', async () => {
  await sendRaw(bare.port, 'POST /held HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc');
  expect(heldChunk?.byteLength).toBe(0);
});

test.each([
  ['Content-Length: 3\r\nContent-Length: 5', 'abc', '3 bytes'],
  ['Content-Length:', '', '0 bytes'],
  ['Transfer-Encoding: gzip, chunked', '0\r\n\r\n', '0 bytes'],
  ['Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked', '0\r\n\r\n', '0 bytes'],
])('U10: an ambiguous request is accepted: %j', async (lines, body, answer) => {
  const received = await sendRaw(bare.port, `POST /body HTTP/1.1\r\nHost: a\r\n${lines}\r\n\r\n${body}`);
  expect(parseAnswers(received)[0]?.body).toBe(answer);
});

test('U10: a second Host header is accepted by uws-pack', async () => {
  const request = get('/ok').replace('Host: a', 'Host: a\r\nHost: b');
  expect(await statusLines(request)).toEqual([isUwsPack ? 'HTTP/1.1 200' : 'HTTP/1.1 400']);
});

test('U11: after a refusal that closes the connection the next request is answered all the same', async () => {
  const refused = (path: string) => `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n`;
  expect(await statusLines(refused('/refused') + get('/ok'))).toEqual(['HTTP/1.1 400', 'HTTP/1.1 200']);
  // Refused in a turn of the event loop of its own, the connection is closed when the next request comes.
  expect(await statusLines(refused('/refused-later') + get('/ok'))).toEqual([]);
  expect(await statusLines(refused('/refused-later'))).toEqual(['HTTP/1.1 400']);
});

test('U12, U13: a request behind one that is not answered yet closes the connection, and corked answers are lost', async () => {
  const late = 'POST /refused-later HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n';
  expect(await statusLines(get('/ok') + late + get('/ok'))).toEqual([]);
  expect(await statusLines(get('/ok') + get('/ok').replace('HTTP/1.1', 'HTTP/1.0'))).toEqual([
    'HTTP/1.1 505',
  ]);
});

test('U15: getQuery decodes what is not percent-encoding, takes the first of two, and changes the raw query', async () => {
  await sendRaw(bare.port, get('/query?x=%zz&x=2'));
  expect(queryTexts[0]).toBe('x=%zz&x=2');
  expect(queryTexts[1]).not.toBe('%zz');
  expect(queryTexts[1]).not.toBe('2');
  expect(queryTexts[2]).not.toBe(queryTexts[0]);
});

test('U17: writeHeader does not escape CR LF', async () => {
  expect((await sendRaw(bare.port, get('/header'))).split('\r\n')).toContain('C: d');
});

test('U18: after a HEAD with a size given to endWithoutBody, uws-pack waits for that many bytes', async () => {
  const requests = `HEAD /size HTTP/1.1\r\nHost: a\r\n\r\n${get('/ok')}`;
  expect(await statusLines(requests)).toEqual(isUwsPack ? [] : ['HTTP/1.1 200', 'HTTP/1.1 200']);
});

test('U18: a size given to endWithoutBody becomes a Content-Length of a 204 too', async () => {
  expect((await sendRaw(bare.port, get('/none'))).split('\r\n')).toContain('Content-Length: 0');
});

test('U33: chunk extensions, trailers and the ends of chunks are misread', async () => {
  const head = 'POST /body HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n';
  // `;` counts as a hexadecimal digit of the value 11, so this chunk is taken for 27 bytes and swallows the next
  // request.
  const extension = await sendRaw(bare.port, `${head}1;\r\nx\r\n0\r\n\r\n${get('/ok')}`);
  expect(extension).not.toContain('1 bytes');
  // The last chunk may end in any two bytes, so the bytes where trailers belong are a request.
  const trailer = await sendRaw(bare.port, `${head}0\r\nAA${get('/ok')}`);
  expect(trailer).toMatch(/0 bytes.*\r\n\r\nok/s);
});

test('U36: the end of a chunked body is reported before its last CRLF has come', async () => {
  const head = 'POST /body HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n';
  expect(await sendRaw(bare.port, `${head}1\r\nx\r\n0\r\n`)).toMatch(/\r\n\r\n1 bytes$/);
});

const UPLOAD_BYTES = 40_000_000;

/**
 * Sends a head and then a body, and reads nothing before all of it is sent. Resolves to the error of the socket, or the
 * answer.
 */
async function upload(path: string): Promise<string> {
  const socket = connect(bare.port, '127.0.0.1');
  let received = '';
  const ended = new Promise<string>((resolve) => {
    socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? ''));
    socket.on('close', () => resolve(received));
  });
  socket.pause();
  socket.write(`POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: ${UPLOAD_BYTES}\r\n\r\n`);
  const piece = Buffer.alloc(UPLOAD_BYTES / 40);
  for (let i = 0; i < 40 && !socket.destroyed; i++)
    await new Promise<void>((resolve) => {
      socket.write(piece, () => resolve());
    });
  socket.on('data', (bytes: Buffer) => (received += bytes.toString()));
  socket.resume();
  return ended;
}

test('U37: an answer that closes resets the connection of a client that sends on', async () => {
  expect(['ECONNRESET', 'EPIPE']).toContain(await upload('/refused'));
});

test('U38: with an answer written as a part of the head uWS reads on, and close works', async () => {
  const answer = await upload('/in-head');
  expect(readOnBytes).toBe(UPLOAD_BYTES);
  expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n[\s\S]*\r\n\r\n2\r\nno\r\n0\r\n\r\n$/);
});
