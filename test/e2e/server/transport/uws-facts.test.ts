// How uWS itself treats requests, answers, WebSockets and connections: facts U1, U8 to U18, U20 to U23, U26, U29, U30,
// U32 to U38 and U40 of src/server/transport/README.md. A test that fails here means that uWS has changed, and that our
// answer to the fact may go.

import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { CorkHolder } from '#dist/server/transport/cork-holder.js';
import type { UwsRequest, UwsResponse, UwsWebSocket } from '#dist/server/transport/load-uws.js';
import { type BareUws, CountingClient, isUwsPack, openBareUws } from '../../../support/bare-uws.js';
import { Crowd } from '../../../support/crowd.js';
import { below, type Random } from '../../../support/mutate.js';
import { randomFrom } from '../../../support/open-world.js';
import { clientFrame, TEXT } from '../../../support/raw-websocket.js';
import { parseAnswers, sendRaw } from '../../../support/server.js';

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;

describe('requests', () => {
  let bare: BareUws;

  let heldRequest: UwsRequest | undefined;

  let heldChunk: ArrayBuffer | undefined;

  let queryTexts: (string | undefined)[] = [];

  let readOnBytes = 0;

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
      app.post('/answered', (res) => void res.end('yes'));
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
   * Sends a head and then a body, and reads nothing before all of it is sent. Resolves to the error of the socket, or
   * the answer.
   */
  async function upload(path: string, headers = ''): Promise<string> {
    const socket = connect(bare.port, '127.0.0.1');
    let received = '';
    const ended = new Promise<string>((resolve) => {
      socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? ''));
      socket.on('close', () => resolve(received));
    });
    socket.pause();
    socket.write(`POST ${path} HTTP/1.1\r\nHost: a\r\n${headers}Content-Length: ${UPLOAD_BYTES}\r\n\r\n`);
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
    for (const word of ['close', 'Close', 'other'])
      expect(['ECONNRESET', 'EPIPE']).toContain(await upload('/answered', `Connection: ${word}\r\n`));
  });

  test('U38: with an answer written as a part of the head uWS reads on, and close works', async () => {
    const answer = await upload('/in-head');
    expect(readOnBytes).toBe(UPLOAD_BYTES);
    expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n[\s\S]*\r\n\r\n2\r\nno\r\n0\r\n\r\n$/);
  });
});

describe('answers', () => {
  let bare: BareUws;

  /** More than the sockets of both ends buffer on loopback. */
  const MUCH_BYTES = 24 * 2 ** 20;

  /** Two of them do not fit the cork. */
  const PART_BYTES = 10_000;

  const PAIRS = 3000;

  const MAX_HEAD_BYTES = 300;

  const POLLING = { timeout: 20_000 };

  const corkHolder = new CorkHolder();

  const much = Buffer.alloc(MUCH_BYTES, '-');

  /** The response of the request sent last. */
  let res: UwsResponse;

  let writableCalls = 0;

  let bodyBytes = 0;

  const writeUncorked = (bytes: Uint8Array): boolean => {
    let isTaken = false;
    corkHolder.runUncorked(() => {
      isTaken = res.write(bytes);
    });
    return isTaken;
  };

  function keepOpen(response: UwsResponse): void {
    res = response;
    writableCalls = 0;
    bodyBytes = 0;
    response.onAborted(() => {});
    response.onWritable(() => {
      writableCalls++;
      return true;
    });
  }

  /** Writes pairs of parts, each pair in a cork of its own, waiting for the socket after backpressure. */
  function writePairs(response: UwsResponse): void {
    const bytes = much.subarray(0, PART_BYTES);
    let left = PAIRS;
    const step = (): void => {
      while (left > 0) {
        let isTaken = true;
        left--;
        response.cork(() => {
          isTaken = response.write(bytes);
          isTaken = response.write(bytes) && isTaken;
        });
        if (!isTaken) return;
      }
      response.cork(() => void response.end());
    };
    response.onAborted(() => {
      left = 0;
    });
    response.onWritable(() => {
      response.cork(() => {});
      step();
      return true;
    });
    setImmediate(step);
  }

  beforeAll(async () => {
    bare = await openBareUws((app) => {
      app.get('/open', keepOpen);
      app.get('/small', (response) => void response.end('small'));
      app.get('/pairs', (response) => writePairs(response));
      app.post('/body', (response) => {
        keepOpen(response);
        response.onData((chunk) => {
          bodyBytes += chunk.byteLength;
        });
      });
      app.post('/ended', (response) => {
        keepOpen(response);
        response.onData((_chunk, isLast) => {
          if (isLast) return;
          response.pause();
          setImmediate(() => response.cork(() => void response.end('early')));
        });
      });
    });
    await corkHolder.open(bare.uws);
  });

  afterAll(() => {
    corkHolder.close();
    bare.close();
  });

  /** All bytes of the answer to one request for /pairs, whose reader pauses often. */
  async function readPairs(): Promise<number> {
    const client = await CountingClient.connect(bare.port, get('/pairs'));
    const reading = setInterval(() => {
      client.socket.pause();
      setTimeout(() => client.socket.resume(), 3);
    }, 6);
    while (!client.tail.endsWith('\r\n0\r\n\r\n')) await client.untilIdle(20);
    clearInterval(reading);
    client.socket.destroy();
    return client.receivedBytes;
  }

  test('U20: of two writes that overflow the cork together the second may be lost', async () => {
    let leastBytes = Number.POSITIVE_INFINITY;
    for (let attempt = 0; attempt < 20 && leastBytes >= 2 * PAIRS * PART_BYTES; attempt++) {
      leastBytes = Math.min(leastBytes, await readPairs());
    }
    expect(leastBytes).toBeLessThan(2 * PAIRS * PART_BYTES);
  });

  test('U22: after onWritable uWS sends nothing of what it holds until the next write or cork', async () => {
    const client = await CountingClient.connect(bare.port, get('/open'));
    await client.untilIdle();
    client.socket.pause();
    expect(writeUncorked(much)).toBe(false);
    client.socket.resume();
    await expect.poll(() => writableCalls, POLLING).toBe(1);
    await client.untilIdle();
    const { receivedBytes } = client;
    expect(receivedBytes).toBeLessThan(MUCH_BYTES);
    expect(writableCalls).toBe(1);
    res.cork(() => {});
    await expect.poll(() => client.receivedBytes, POLLING).toBeGreaterThan(receivedBytes);
    client.socket.destroy();
  });

  test('U21, U22: uncorked, and with an empty cork at each onWritable, nothing is lost', async () => {
    const client = await CountingClient.connect(bare.port, get('/open'));
    await client.untilIdle();
    client.socket.pause();
    res.onWritable(() => {
      res.cork(() => {});
      return true;
    });
    writeUncorked(much);
    writeUncorked(much);
    client.socket.resume();
    await expect.poll(() => client.receivedBytes, POLLING).toBeGreaterThan(2 * MUCH_BYTES);
    client.socket.destroy();
  });

  test('U23: tryEnd sends what the socket takes, says how much, and holds nothing', async () => {
    const client = await CountingClient.connect(bare.port, get('/open'));
    await client.untilIdle();
    client.socket.pause();
    let isTaken = true;
    res.cork(() => {
      [isTaken] = res.tryEnd(much, MUCH_BYTES);
    });
    expect(isTaken).toBe(false);
    const takenBytes = res.getWriteOffset();
    expect(takenBytes).toBeGreaterThan(0);
    client.socket.resume();
    await expect.poll(() => client.receivedBytes, POLLING).toBeGreaterThan(takenBytes);
    res.cork(() => {});
    await client.untilIdle();
    expect(client.receivedBytes - takenBytes).toBeLessThan(MAX_HEAD_BYTES);
    client.socket.destroy();
  });

  test('U26: a write that meets backpressure undoes pause, and after a second pause onWritable is not called', async () => {
    const client = await CountingClient.connect(
      bare.port,
      `POST /body HTTP/1.1\r\nHost: a\r\nContent-Length: ${4 * MUCH_BYTES}\r\n\r\n`,
    );
    await client.untilIdle();
    res.pause();
    client.socket.pause();
    client.socket.write(much);
    await client.untilIdle();
    expect(bodyBytes).toBe(0);
    expect(writeUncorked(much)).toBe(false);
    await expect.poll(() => bodyBytes, POLLING).toBe(MUCH_BYTES);
    expect(writeUncorked(much)).toBe(false);
    res.pause();
    client.socket.resume();
    client.socket.write(much);
    await client.untilIdle();
    expect([bodyBytes, writableCalls]).toEqual([MUCH_BYTES, 0]);
    client.socket.destroy();
  });

  test('U29: a connection that is paused when its answer ends is never read again', async () => {
    const body = 'x'.repeat(1_000_000);
    const request = `POST /ended HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    const received = await sendRaw(bare.port, [request, get('/small')], { gapMs: 200 });
    expect(received.match(/early|small/g)).toEqual(['early']);
  });
});

describe('WebSockets', () => {
  let bare: BareUws;

  const MAX_PAYLOAD_BYTES = 1000;

  const MAX_BACKPRESSURE_BYTES = 4 * 2 ** 20;

  let heldMessage: ArrayBuffer | undefined;

  let drainCalls = 0;

  let pongs = 0;

  const lengths: number[] = [];

  const PONG = 10;

  let socket: UwsWebSocket<unknown>;

  beforeAll(async () => {
    bare = await openBareUws((app, uws) => {
      app.ws('/', {
        maxPayloadLength: MAX_PAYLOAD_BYTES,
        maxBackpressure: MAX_BACKPRESSURE_BYTES,
        idleTimeout: 0,
        maxLifetime: 0,
        closeOnBackpressureLimit: false,
        sendPingsAutomatically: false,
        compression: uws.DISABLED,
        upgrade: (res, req, context) => res.upgrade({}, req.getHeader('sec-websocket-key'), '', '', context),
        open: (ws) => {
          socket = ws;
        },
        message: (_ws, message) => {
          heldMessage = message;
          lengths.push(message.byteLength);
        },
        pong: () => {
          pongs++;
        },
        drain: () => {
          drainCalls++;
        },
        close: () => {},
      });
      app.get('/', (res) => void res.end('a plain request'));
    });
  });

  afterAll(() => bare.close());

  async function openSocket(): Promise<WebSocket> {
    const client = new WebSocket(`ws://127.0.0.1:${bare.port}/`);
    await once(client, 'open');
    return client;
  }

  const handshake = (key: string, version: number) =>
    `GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: ${key}\r\nSec-WebSocket-Version: ${version}\r\n\r\n`;

  test('U16: the version of a handshake is not checked, and one with a key of another length is a plain request', async () => {
    expect(await sendRaw(bare.port, handshake('x'.repeat(24), 12))).toMatch(/^HTTP\/1\.1 101 /);
    expect(await sendRaw(bare.port, handshake('x'.repeat(23), 13))).toContain('a plain request');
  });

  test('U9: a message is empty after its callback', async () => {
    const client = await openSocket();
    client.send('text');
    await expect.poll(() => heldMessage?.byteLength).toBe(0);
    client.terminate();
  });

  test('U30: send returns 1 while the socket takes everything, then 0, and 2 for a message that is dropped', async () => {
    const client = await openSocket();
    client.pause();
    const message = Buffer.alloc(100_000);
    const results: number[] = [];
    do {
      results.push(socket.send(message, true));
    } while (results.at(-1) !== 2);
    expect([...new Set(results)]).toEqual([1, 0, 2]);
    expect(socket.getBufferedAmount()).toBeGreaterThan(MAX_BACKPRESSURE_BYTES);
    client.resume();
    let received = 0;
    client.on('message', () => received++);
    await expect.poll(() => drainCalls).toBeGreaterThan(0);
    await expect.poll(() => received).toBe(results.length - 1);
    client.terminate();
  });

  test('U32: a message over maxPayloadLength ends the connection without a close frame', async () => {
    const client = await openSocket();
    client.send(Buffer.alloc(MAX_PAYLOAD_BYTES + 1));
    const [code] = await once(client, 'close');
    expect(code).toBe(1006);
  });

  test('U34: a pong inside a frame that has not come whole is payload, and one between two fragments is a pong', async () => {
    const client = connect(bare.port, '127.0.0.1');
    client.on('error', () => {});
    client.resume();
    client.write(handshake('x'.repeat(24), 13));
    await once(client, 'data');
    const pong = clientFrame('', PONG);
    const whole = clientFrame('a'.repeat(100));
    pongs = 0;
    lengths.length = 0;
    client.write(Buffer.concat([whole.subarray(0, 50), pong]));
    client.write(whole.subarray(50 + pong.length));
    await expect.poll(() => lengths).toEqual([100]);
    expect(pongs).toBe(0);
    client.write(Buffer.concat([clientFrame('ab', TEXT, false), pong, clientFrame('cd', 0)]));
    await expect.poll(() => lengths).toEqual([100, 4]);
    expect(pongs).toBe(1);
    client.destroy();
  });

  test('U35: a connection that is closed in the filter is counted as any other, and has no answer', async () => {
    let connections = 0;
    const own = await openBareUws((app) => {
      app.get('/', (res) => void res.end('an answer'));
      // biome-ignore lint/suspicious/useIterableCallbackReturn: this filter is uWS's
      app.filter((res, change) => {
        connections += change;
        if (change > 0 && connections > 1) res.close();
      });
    });
    const first = connect(own.port, '127.0.0.1');
    await once(first, 'connect');
    await expect.poll(() => connections).toBe(1);
    const request = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
    expect(await sendRaw(own.port, request)).toBe('');
    expect(connections).toBe(1);
    first.destroy();
    await expect.poll(() => connections).toBe(0);
    expect(await sendRaw(own.port, request)).toContain('an answer');
    own.close();
  });
});

/** Answers in one of the ways in which an answer, or the connection, may end. */
function answer(res: UwsResponse, random: Random): void {
  const kind = below(6, random);
  let isGone = false;
  if (kind === 0) res.end('hello');
  else if (kind === 1) res.end('hello', true);
  else if (kind === 2) res.close();
  else res.onAborted(() => (isGone = true));
  const later = (work: () => void): void =>
    void setTimeout(() => isGone || res.cork(work), below(20, random));
  if (kind === 3) later(() => void res.end('late', random() < 0.5));
  else if (kind === 4) later(() => void res.close());
  else if (kind === 5)
    res.onData((_, isLast) => {
      if (isLast && !isGone) res.end('body');
      if (isLast) isGone = true;
    });
}

test('U40: the calls of the filter come in pairs, however a connection ends', async () => {
  const random = randomFrom(40);
  const calls: number[] = [];
  let open = 0;
  let sockets = 0;
  const bare = await openBareUws((app) => {
    const counted = (res: UwsResponse, change: number): void => {
      calls.push(change);
      open += change;
      if (change > 0 && random() < 0.1) res.close();
    };
    app.filter(counted);
    app.ws('/v1/hexcodes/stream', {
      ...{ idleTimeout: 8, maxLifetime: 0, maxPayloadLength: 1000, maxBackpressure: 1000, compression: 0 },
      ...{ closeOnBackpressureLimit: true, sendPingsAutomatically: true, message: () => {}, drain: () => {} },
      open: () => sockets++,
      close: () => open--,
      upgrade: (res, req, context) =>
        void (random() < 0.5
          ? res.upgrade({}, req.getHeader('sec-websocket-key'), '', '', context)
          : res.end('no', random() < 0.5)),
    });
    app.any('/*', (res) => answer(res, random));
  });
  const crowd = new Crowd({ port: bare.port, random, atOnce: 40 });
  await crowd.run((requests) => requests < 6000);
  crowd.end();
  while (open !== 0) await sleep(50);
  await sleep(500);
  bare.close();
  expect(new Set(calls)).toEqual(new Set([1, -1]));
  expect(sockets).toBeGreaterThan(0);
  expect(open).toBe(0);
});
