// clients/python/hexcodes_client.py against the service: the recorded vectors, many points by every call, the stream
// over connections that break, and refusals. Everything is compared with the library.
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { WebSocketServer } from 'ws';
import { Hexcodes } from '#hexcodes';
import { listening } from '../support/network.js';
import { randomFrom } from '../support/open-world.js';
import { startServer } from '../support/server.js';
import { sharedOf } from '../support/shared.js';
import { shippedFiles, shippedKernel } from '../support/shipped.js';
import { CODE_ROWS, READING_ROWS } from '../support/vectors.js';

const has = (module: string): boolean => spawnSync('python3', ['-c', `import ${module}`]).status === 0;
const hasPython = has('http.client');
const hasNumpy = has('numpy');
const hasWebSockets = has('websockets.asyncio.client');

const library = new Hexcodes(shippedKernel());
const folder = mkdtempSync(join(tmpdir(), 'hexcodes-python-'));

const server = sharedOf(() => startServer({ logLevel: 'warn' }, shippedFiles()));
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true });
});

type Task = readonly [name: string, ...args: unknown[]];
// biome-ignore lint/suspicious/noExplicitAny: answers are of many shapes, each compared with a value
type Answer = any;

/** The answers of the client to tasks, in their order. */
function answersOf(
  tasks: readonly Task[],
  base = `${server.base}/v1`,
  key = server.key,
  timeoutS = 20,
): Promise<Answer[]> {
  const child = spawn('python3', ['-B', 'test/support/check_client.py', base, key, String(timeoutS)]);
  let [out, err] = ['', ''];
  child.stdout.on('data', (text) => {
    out += text;
  });
  child.stderr.on('data', (text) => {
    err += text;
  });
  // Python reads NaN as a number.
  const lines = tasks.map((task) => `${JSON.stringify(task).replaceAll('"NaN"', 'NaN')}\n`);
  child.stdin.end(lines.join(''));
  return new Promise((done, failed) => {
    child.on('error', failed);
    child.on('close', (code) => {
      if (code !== 0) failed(new Error(err));
      else
        done(
          out
            .trimEnd()
            .split('\n')
            .map((line) => JSON.parse(line)),
        );
    });
  });
}

/** Points as f64 pairs in a file; some at sea, abroad or none. */
function pointsFile(
  name: string,
  count: number,
): { path: string; points: Float64Array; codes: (string | null)[] } {
  const random = randomFrom(count);
  const points = Float64Array.from({ length: 2 * count }, (_, i) =>
    i % 2 === 0 ? 8 + random() * 16 : 102 + random() * 8,
  );
  points[4] = 91;
  const path = join(folder, name);
  writeFileSync(path, points);
  return { path, points, codes: codesOf(points, 9) };
}

function codesOf(points: Float64Array, resolution: number): (string | null)[] {
  const records = Buffer.from(library.encodeBatch(points, resolution).buffer);
  return Array.from({ length: points.length / 2 }, (_, i) => {
    const text = records.toString('latin1', 20 * i, 20 * i + 19).replace(/\0+$/, '');
    return records[20 * i + 19] === 0 ? text : null;
  });
}

const decodedBy = (text: string): number[] | null => {
  const read = library.decode(text);
  return read === null ? null : [read.lat, read.lng, read.resolution];
};

describe.skipIf(!hasPython)('(needs python3)', () => {
  test('one at a time, with the former province, and what is not a code', async () => {
    const [encoded, former, decoded, none, empty] = await answersOf([
      ['encode', 21.0288, 105.8525],
      ['encode', 20.4463, 106.3366, 7, true],
      ['decode', 'hn6ghp4 83rfr'],
      ['decode', 'HN-6GHP4-83RFQ'],
      ['decode', ''],
    ]);
    expect(encoded).toEqual({ ...library.encode(21.0288, 105.8525), status: 'OK' });
    expect(former).toMatchObject({ admin_code: 'HY', former_province: 'Thái Bình', resolution: 7 });
    expect([decoded.lat, decoded.lng, decoded.resolution]).toEqual(decodedBy('HN-6GHP4-83RFR'));
    expect([none, empty]).toEqual([null, null]);
  });

  test('the recorded texts, one at a time and many at once', async () => {
    const texts = READING_ROWS.map(({ text }) => text).filter((text) => text.length <= 64);
    const answers = await answersOf(texts.map((text) => ['decode', text]));
    const positions = answers.map((answer) => answer && [answer.lat, answer.lng, answer.resolution]);
    expect(positions).toEqual(texts.map((text) => (text === '' ? null : decodedBy(text))));
    const [many] = await answersOf([['decode_many', CODE_ROWS.map(({ code }) => code)]]);
    expect(many).toEqual(CODE_ROWS.map(({ code }) => decodedBy(code)));
  });

  test('texts that do not fit a record are not codes', async () => {
    const code = 'HN-6GHP4-83RFR';
    const texts = [
      code,
      `${code}      x`,
      'ĐN-6GHP4',
      '',
      'nope',
      `${code}\0x`,
      `${code}\0\0\0\0x`,
      `\0${code}`,
    ];
    const [many] = await answersOf([['decode_many', texts]]);
    expect(many).toEqual(texts.map((text) => (text === code ? decodedBy(code) : null)));
    if (!hasNumpy) return;
    const [array] = await answersOf([['decode_texts_by_array', texts]]);
    expect(array).toEqual(many);
  });

  test('the recorded positions at each resolution', async () => {
    const wrong = await answersOf(
      [true, -1, 16, 255, 300, 9.5, null, '9'].map((each) => ['encode_many', [[21, 105]], each] as const),
    );
    expect(new Set(wrong.map(({ error }) => error))).toEqual(new Set(['INVALID_REQUEST']));
    for (const resolution of [0, 5, 9, 15]) {
      const rows = CODE_ROWS.filter((row) => row.resolution === resolution);
      const pairs = rows.map(({ lat, lng }) => [lat, lng]);
      const [many] = await answersOf([['encode_many', pairs, resolution]]);
      expect(many).toEqual(codesOf(Float64Array.from(pairs.flat()), resolution));
    }
  });

  test('more points than one request holds', async () => {
    const { path, codes } = pointsFile('many.bin', 270_001);
    const [many] = await answersOf([['encode_file', path, 9]]);
    expect(many.length).toBe(codes.length);
    expect(many.filter((code: string | null, i: number) => code !== codes[i])).toEqual([]);
  });

  test('batches of more items than one call takes', async () => {
    const points = Array.from({ length: 10_001 }, (_, i) =>
      i === 7 || i === 10_000 ? { lat: 'x' } : [10 + i / 10_000, 106.5],
    );
    const [answer, empty] = await answersOf([
      ['encode_batch', points, 9, true],
      ['encode_batch', []],
    ]);
    expect(answer.summary).toEqual({
      total: 10_001,
      ok: answer.results.filter((row: Answer) => row.status === 'OK').length,
      failed: answer.results.filter((row: Answer) => row.status !== 'OK').length,
    });
    expect(answer.results[0].hexcodes).toBe(library.encode(10, 106.5, 9).hexcodes);
    expect(answer.results[9_999].hexcodes).toBe(library.encode(10.9999, 106.5, 9).hexcodes);
    for (const index of [7, 10_000])
      expect(answer.results[index]).toMatchObject({ status: 'INVALID_REQUEST', index });
    expect(answer.results[0]).toHaveProperty('former_province');
    expect(empty.results).toEqual([]);
  });

  test('a value that is not a finite number fails its item alone', async () => {
    const [answer, single] = await answersOf([
      ['encode_batch', [[21.0288, 105.8525], ['NaN', 105.8525], { lat: 21.0288, lng: 'NaN' }], 9],
      ['encode', 'NaN', 105.8525],
    ]);
    expect(answer.results.map((row: Answer) => row.status)).toEqual([
      'OK',
      'INVALID_REQUEST',
      'INVALID_REQUEST',
    ]);
    expect(answer.results[2].details[0].parameter).toBe('lng');
    expect(single.details[0].parameter).toBe('lat');
  });

  test('refusals have the word of the service', async () => {
    const [outside, wrong] = await answersOf([
      ['encode', 0, 0],
      ['encode', 91, 200, 16],
    ]);
    expect(outside).toMatchObject({ error: 'NOT_FOUND', http: 404 });
    expect(wrong).toMatchObject({ error: 'INVALID_REQUEST', http: 400 });
    expect(wrong.details.map((each: { parameter: string }) => each.parameter)).toEqual([
      'lat',
      'lng',
      'resolution',
    ]);
    const tasks: Task[] = [
      ['encode', 21, 105],
      ['encode_many', [[21, 105]]],
    ];
    for (const answer of await answersOf(tasks, undefined, 'no key'))
      expect(answer).toMatchObject({ error: 'REQUEST_DENIED', http: 401 });
    for (const answer of await answersOf(tasks, 'http://127.0.0.1:1/v1'))
      expect(answer).toMatchObject({ error: 'UNREACHABLE', http: 0 });
  });
});

test.skipIf(!hasNumpy)(
  'arrays: records byte for byte those of the library, and back (needs python3 with numpy)',
  async () => {
    const { path, points } = pointsFile('array.bin', 270_001);
    const files = ['records', 'positions', 'resolutions', 'statuses'].map((name) => join(folder, name));
    const [count] = await answersOf([['encode_array_to', path, 9, ...files]]);
    expect(count).toBe(270_001);
    const records = library.encodeBatch(points, 9);
    const decoded = library.decodeBatch(records);
    const wanted = [records, decoded.latLng, decoded.resolution, decoded.status];
    for (const [i, { buffer, byteOffset, byteLength }] of wanted.entries())
      expect(readFileSync(files[i]!).equals(Buffer.from(buffer, byteOffset, byteLength)), files[i]).toBe(
        true,
      );
    const texts = ['HN-6GHP4-83RFR', 'HN-6GHP4-83RFR      x', 'nope', '', 'ＨＮ-6GHP4-83RFR'];
    const [found, none] = await answersOf([
      ['decode_texts_by_array', texts],
      ['decode_texts_by_array', []],
    ]);
    expect(found).toEqual([decodedBy(texts[0]!), null, null, null, null]);
    expect(none).toEqual([]);
    const lines = [
      'import numpy, hexcodes_client as h; c = h.HexcodesClient("http://127.0.0.1:9/v1")',
      'c.encode_array(numpy.ones((1, 2), numpy.float32))',
    ];
    const env = { ...process.env, PYTHONPATH: 'clients/python' };
    const { stderr } = spawnSync('python3', ['-B', '-c', lines.join('\n')], { env, encoding: 'utf8' });
    expect(stderr).toContain('ValueError: positions are float32, which moves them by metres');
    const refused = ['True', 'numpy.float32(1)', 'numpy.bool_(1)', '"21"', 'b"21"'];
    const tried = [
      lines[0]!,
      `for lat in (${refused}):`,
      '  try: c.encode_many([(lat, 105.85)])',
      '  except TypeError as e: print(e)',
      'for a in (numpy.array([["21", "105"]]), numpy.ones((1, 2), bool), numpy.ones((1, 2), complex)):',
      '  try: c.encode_array(a)',
      '  except ValueError as e: print(e)',
    ];
    const { stdout } = spawnSync('python3', ['-B', '-c', tried.join('\n')], { env, encoding: 'utf8' });
    expect(
      stdout
        .trim()
        .split('\n')
        .map((line) => line.replace(/ not .*/, '')),
    ).toEqual([
      ...refused.map(() => 'degrees are numbers in double precision,'),
      ...Array.from({ length: 3 }, () => 'positions are an array of float64,'),
    ]);
  },
);

test.skipIf(!hasPython)('the stream beside an older websockets names the version to install', () => {
  const old = join(folder, 'old');
  mkdirSync(join(old, 'websockets'), { recursive: true });
  writeFileSync(join(old, 'websockets', '__init__.py'), '__version__ = "10.4"\n');
  const call = 'import asyncio, hexcodes_client as h; c = h.HexcodesClient("http://127.0.0.1:9/v1", "k")';
  const { stderr } = spawnSync(
    'python3',
    ['-B', '-c', `${call}; asyncio.run(c.encode_stream([[(1, 2)]]).__anext__())`],
    {
      env: { ...process.env, PYTHONPATH: `${old}:clients/python` },
      encoding: 'utf8',
    },
  );
  expect(stderr).toMatch(
    /ImportError: the stream needs websockets 13 or newer: pip install 'websockets>=13'\n$/,
  );
});

test.skipIf(!hasPython)(
  'an answer of another peer, or with other rows than were sent, is refused',
  async () => {
    const frame = (count: number): Buffer => {
      const bytes = Buffer.alloc(16 + 20 * count);
      bytes.set([1, 1, 0, 0]);
      bytes.writeUInt32LE(count, 8);
      return bytes;
    };
    const served = ['{}', '{},null', '{},{}'].map(
      (rows) => `{"status":"OK","results":[${rows}],"summary":{"new":1}}`,
    );
    const answers = [frame(1), frame(3), served[0], served[0], served[1], '{"status":"OK"}'];
    answers.push('{"status":"INTERNAL_ERROR","details":1}', served[2]);
    const { base, close } = await listening((req, res) => {
      req.resume().on('end', () => res.end(answers.shift()));
    });
    onTestFinished(close);
    const points = [
      [21, 105],
      [22, 105],
    ];
    const batch: Task = ['encode_batch', points];
    const many: Task = ['encode_many', points];
    const tasks = [many, many, many, batch, batch, ['admin_units'], batch, batch] as const;
    const refused = await answersOf(tasks, `${base}/v1`, ' a key\n');
    expect(refused.map((answer) => answer.error ?? answer.summary)).toEqual([
      ...Array(6).fill('PROTOCOL'),
      'INTERNAL_ERROR',
      { total: 2, ok: 0, failed: 2 },
    ]);
  },
);

test.skipIf(!hasPython).each([
  ['in chunks', {}],
  ['of a length', { 'Content-Length': 2 ** 40 }],
  ['up to the end of its connection', { Connection: 'close', 'Transfer-Encoding': 'identity' }],
])('an answer that does not end is read to a bound: %s', async (_, headers) => {
  const piece = Buffer.alloc(2 ** 20, '0');
  let sent = 0;
  const { base, close } = await listening((_, res) => {
    res.writeHead(200, headers as {});
    const more = (): void => {
      while (!res.destroyed && sent < 256 && res.write(piece)) sent++;
      if (sent >= 256) res.destroy();
    };
    res.on('drain', more);
    more();
  });
  onTestFinished(close);
  const [{ error }] = await answersOf([['encode', 21, 105]], `${base}/v1`);
  expect(error).toBe('PROTOCOL');
  expect(sent).toBeLessThan(128);
});

describe.skipIf(!hasWebSockets)('the stream (needs python3 with websockets)', () => {
  /** The error of a stream, or its codes, of a peer that does `odd` with the frames of its first connection. */
  async function beside(
    odd: (frame: Buffer, send: (answer: Buffer | string) => void) => void,
    ready?: string,
  ) {
    const { base, close } = await listening(() => {});
    const url = new URL(base);
    await close();
    const peer = new WebSocketServer({ port: Number(url.port), handleProtocols: () => 'hexcodes.v1.binary' });
    onTestFinished(() => {
      for (const each of peer.clients) each.terminate();
      peer.close();
    });
    let connections = 0;
    peer.on('connection', (socket) => {
      const isFirst = ++connections === 1;
      socket.send(ready ?? '{"type":"ready","format":1,"window":16,"window_bytes":4194304}');
      socket.on('message', (frame: Buffer) =>
        isFirst ? odd(frame, (answer) => socket.send(answer)) : socket.send(answerTo(frame)),
      );
    });
    const { path } = pointsFile('odd.bin', 30);
    const [answer] = await answersOf([['encode_stream', path, 10, 9]], `${base}/v1`, 'a key', 0.5);
    return answer.error ?? answer.length;
  }

  /** Whose records are empty, and OK. */
  function answerTo(frame: Buffer, points = frame.readUInt32LE(8)): Buffer {
    const answer = Buffer.alloc(16 + 20 * points);
    frame.copy(answer, 0, 0, 12);
    answer[2] = 0;
    answer.writeUInt32LE(points, 8);
    return answer;
  }

  test('a peer that falls silent, or sends more than any answer has, is left for a new connection', async () => {
    expect(await beside(() => {})).toBe(30);
    expect(await beside((_, send) => send(Buffer.alloc(2 ** 22)))).toBe(30);
  });

  test('answers of another order, number or kind are refused', async () => {
    const frames: Buffer[] = [];
    const exchanged = await beside((frame, send) => {
      frames.unshift(answerTo(frame));
      if (frames.length === 3) for (const each of frames) send(each);
    });
    expect(exchanged).toBe('PROTOCOL');
    expect(await beside((frame, send) => send(answerTo(frame, 9)))).toBe('PROTOCOL');
    expect(await beside((frame, send) => send(answerTo(frame).subarray(0, 196)))).toBe('PROTOCOL');
    expect(await beside((_, send) => send('hello'))).toBe('PROTOCOL');
    expect(await beside(() => {}, 'hello')).toBe('PROTOCOL');
  });

  test('answers in order, for chunks of any size', async () => {
    const { path, codes } = pointsFile('stream.bin', 50_000);
    const [large, small] = await answersOf([
      ['encode_stream', path, 4096, 9],
      ['encode_stream', path, 333, 9],
    ]);
    expect(large).toEqual(codes);
    expect(small).toEqual(codes);
  });

  test('over connections that break: nothing is lost, nothing comes twice', async () => {
    const { path, codes } = pointsFile('broken.bin', 50_000);
    // The first connections are cut after a number of bytes of answers.
    const cuts = [300, 20_000, 200_000];
    let connections = 0;
    const sockets = new Set<Socket>();
    const proxy = createServer((near) => {
      const far = connect(server.port, '127.0.0.1');
      let left = cuts[connections++] ?? Number.POSITIVE_INFINITY;
      for (const each of [near, far]) {
        sockets.add(each);
        each.on('error', () => undefined);
        each.on('close', () => {
          near.destroy();
          far.destroy();
        });
      }
      near.pipe(far);
      far.on('data', (bytes: Buffer) => {
        near.write(bytes.subarray(0, Math.max(0, left)));
        left -= bytes.length;
        if (left <= 0) near.destroy();
      });
    });
    await new Promise<void>((done) => proxy.listen(0, '127.0.0.1', done));
    const { port } = proxy.address() as { port: number };
    const [answer] = await answersOf([['encode_stream', path, 1000, 9]], `http://127.0.0.1:${port}/v1`);
    for (const each of sockets) each.destroy();
    await new Promise((done) => proxy.close(done));
    expect(answer).toEqual(codes);
    expect(connections).toBe(4);
  });

  test('a key that is not valid, and a redirect, end it at once', async () => {
    const { path } = pointsFile('denied.bin', 10);
    const [answer] = await answersOf([['encode_stream', path, 10, 9]], undefined, 'no key');
    expect(answer).toMatchObject({ error: 'REQUEST_DENIED', http: 401 });
    const asked: unknown[] = [];
    const far = await listening((req, res) => res.end(`${asked.push(req.headers)}`));
    const Location = far.base.replace('http', 'ws');
    const near = await listening((_, res) => res.writeHead(307, { Location }).end());
    const [sent] = await answersOf([['encode_stream', path, 10, 9]], `${near.base}/v1`);
    await Promise.all([near.close(), far.close()]);
    expect([sent, asked]).toMatchObject([{ error: 'PROTOCOL', http: 307 }, []]);
  });
});
