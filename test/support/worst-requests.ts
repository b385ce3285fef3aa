// Small requests that once took the most CPU of the main thread, each a row of `npm run bench -- worst`: bad rows in
// every format, envelopes of needless members, wide headers.
import { handshake, RawWebSocket, TEXT } from './raw-stream.js';

export interface WorstRequest {
  /** `stream`: one JSON frame; else the path of a POST. */
  readonly path: string;
  readonly type?: string;
  readonly accept?: string;
  readonly body: Buffer;
}

const CSV = 'text/csv';
const NDJSON = 'application/x-ndjson';
const FRAMES = 'application/vnd.hexcodes.frames';
const JSON_TYPE = 'application/json';
const FORM = 'application/x-www-form-urlencoded';
const MIB = 1024 * 1024;

/** Some 65 KB of the same row. */
const rows = (row: string, head = ''): string =>
  head + row.repeat(Math.floor(65_000 / Buffer.byteLength(row)));

const bulk = (type: string, accept: string, body: string | Buffer, operation = 'encode'): WorstRequest => ({
  path: `/v1/hexcodes/${operation}/bulk`,
  type,
  accept,
  body: Buffer.from(body as string),
});

const batch = (body: string): WorstRequest => ({
  path: '/v1/hexcodes/encode/batch',
  type: JSON_TYPE,
  body: Buffer.from(body),
});

const frame = (members: string): WorstRequest => ({
  path: 'stream',
  body: Buffer.from(`{"seq":1,"op":"encode",${members}}`),
});

const single = (type: string, body: string): WorstRequest => ({
  path: '/v1/hexcodes/encode',
  type,
  body: Buffer.from(body),
});

/** Frames of points that are not finite. */
function nanFrames(points: number, frames = 1): Buffer {
  const bytes = Buffer.alloc(16 + 16 * points, 0xff);
  bytes.set([1, 1, 9, 0, 0, 0, 0, 0]);
  bytes.writeUInt32LE(points, 8);
  bytes.writeUInt32LE(0, 12);
  return Buffer.concat(Array.from({ length: frames }, () => bytes));
}

const doubled = (sizeBytes: number): string => '"":0,'.repeat(Math.floor(sizeBytes / 5));

export function worstRequests(): Readonly<Record<string, WorstRequest>> {
  const members = Array.from({ length: 300_000 }, (_, i) => `"m${i}":0,`).join('');
  const objects = (sizeBytes: number): string => `${'{},'.repeat(Math.floor(sizeBytes / 3))}{}`;
  return {
    'CSV of é, decode': bulk(CSV, NDJSON, rows('é\n', 'hexcodes\n'), 'decode'),
    'CSV of commas': bulk(CSV, NDJSON, rows(',\n', 'lat,lng\n')),
    'CSV of ragged rows': bulk(CSV, NDJSON, rows('1,2,3\n', 'lat,lng\n')),
    'CSV of quotes': bulk(CSV, NDJSON, rows('"a"b,"\n', 'lat,lng\n')),
    'CSV, header of 250 KB': bulk(CSV, NDJSON, `${'a,'.repeat(125_000)}lat,lng\n1\n`),
    'CSV, header with 200 KB of blanks': bulk(CSV, NDJSON, `lat,lng,a${' '.repeat(200_000)}b\n1,2,3\n`),
    'CSV, 200 KB of blanks in a field': bulk(CSV, NDJSON, `lat,lng\n1${' '.repeat(200_000)}1,2\n`),
    'NDJSON of [': bulk(NDJSON, NDJSON, rows('[\n')),
    'NDJSON of 1': bulk(NDJSON, NDJSON, rows('1\n')),
    'NDJSON of {}': bulk(NDJSON, NDJSON, rows('{}\n')),
    'NDJSON of x': bulk(NDJSON, NDJSON, rows('x\n')),
    'NDJSON, one line of 64 KB': bulk(NDJSON, NDJSON, `[${objects(64_000)}]\n`),
    'frames of NaN to NDJSON, 256 KB': bulk(FRAMES, NDJSON, nanFrames(16_000)),
    'frames of NaN to CSV, 256 KB': bulk(FRAMES, CSV, nanFrames(16_000)),
    'frames without points, 256 KB': bulk(FRAMES, FRAMES, nanFrames(0, 16_384)),
    'JSON frame of 65,000 zeros': frame(`"points":[${'0,'.repeat(64_999)}0]`),
    'JSON frame of 43,000 {}': frame(`"points":[${objects(128_990)}]`),
    'JSON frame, one member doubled, 130 KB': frame(`${doubled(130_000)}"points":[]`),
    'batch, one member doubled, 160 KB': batch(`{${doubled(160_000)}"points":[]}`),
    'batch, one member doubled, 80 KB': batch(`{${doubled(80_000)}"points":[]}`),
    'batch of 10,000 {}': batch(`{"points":[${objects(29_997)}]}`),
    'batch, 300,000 members, 4 MB': batch(`{${members}"points":[]}`),
    'batch, nested [, 4 MB': batch(
      `{"points":[],"x":{"a":${'['.repeat(2 * MIB - 30)}${']'.repeat(2 * MIB - 30)}}}`,
    ),
    'batch, list of {} in a member, 4 MB': batch(`{"points":[],"x":{"a":[${objects(4 * MIB - 100)}]}}`),
    'batch, list of {} in a member, 128 KB': batch(`{"points":[],"x":{"a":[${objects(128 * 1024 - 100)}]}}`),
    'form of &, 16 KB': single(FORM, '&'.repeat(16_384)),
    'JSON body, one member doubled, 16 KB': single(JSON_TYPE, `{${'"lat":0,'.repeat(2000)}"lng":0}`),
  };
}

/** Sends a request and reads its answer to the end. */
export async function sendWorst(
  port: number,
  key: string,
  { path, type, accept, body }: WorstRequest,
): Promise<number> {
  if (path === 'stream') {
    const socket = await RawWebSocket.open(
      port,
      handshake(key, ['Sec-WebSocket-Protocol: hexcodes.v1.json']),
    );
    socket.send(body, TEXT);
    const { payload } = await socket.next();
    socket.end();
    return payload.length;
  }
  const headers = {
    'X-API-Key': key,
    'Content-Type': type!,
    ...(accept === undefined ? {} : { Accept: accept }),
  };
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: 'POST',
    headers,
    body: new Uint8Array(body),
  });
  return (await answer.arrayBuffer()).byteLength;
}
