// The ways into the service that `npm run bench -- bulk` compares: what each sends, and over how many connections.
import type { Hexcodes } from '#dist/hexcodes/library/hexcodes.js';
import { decodeFrame, encodeFrame } from '../../test/support/raw-stream.js';
import { loadHttp, loadStream } from './load.js';

/** Points of the corpus, and of a body unless a way's name says otherwise. */
export const BODY_POINTS = 65_536;
const LARGE_BODY_POINTS = 1_048_576;
const USUAL_POINTS = 4096;
const JSON_POINTS = 1024;
/** Sizes of JSON batches by HTTP. */
const BATCH_ITEMS = [1, 10, 100, 1000, USUAL_POINTS, 10_000];
const USUAL_CONNECTIONS = 8;
/** Connections of the ways whose figures README.md has, which are medians over these and the usual ones. */
const OTHER_CONNECTIONS = [1, 64];
const WARMING_REQUESTS = 5000;
/** The most that warming sends: fewer requests with larger bodies. */
const WARMING_BYTES = 160_000_000;
/** See Way.scale. */
export const LARGE_SCALE = 32;

/** One way into the service: the load for a number of points; the echo gets the same bytes. */
export interface Way {
  readonly name: string;
  readonly operation: 'encode' | 'decode';
  readonly connections: number;
  /** Factor for the points of a round: ways that cost little need more points for a time that can be measured. */
  readonly scale: number;
  /** Resolves to the number of points answered: at least `points`. */
  run(port: number, points: number, isEcho: boolean): Promise<number>;
  readonly hasEcho: boolean;
  /** Sends many small requests of the same kind, so that code of a request is compiled as in a service at work. */
  warm?(port: number): Promise<void>;
  /** The service is bound to no core and uses its workers; otherwise it is bound to one core and has none. */
  readonly isOnAllCores?: boolean;
}

/** The first frame, or the rows of the first 32 KiB. */
function beginningOf(body: Uint8Array, isFrames: boolean): Uint8Array {
  if (!isFrames) return body.subarray(0, body.lastIndexOf(10, 32_768) + 1);
  const itemBytes = body[1] === 1 ? 16 : 20;
  return body.subarray(0, 16 + itemBytes * new DataView(body.buffer, body.byteOffset).getUint32(8, true));
}

/** All ways. @param pairsDeg BODY_POINTS points, f64 latDeg, f64 lngDeg */
export function waysOf(library: Hexcodes, pairsDeg: Float64Array): Way[] {
  const part = (points: number): Float64Array => pairsDeg.slice(0, 2 * points);
  const records = library.encodeBatch(pairsDeg);
  const codes = Array.from({ length: BODY_POINTS }, (_, i) =>
    Buffer.from(records.subarray(i * 20, i * 20 + 19))
      .toString('latin1')
      .replace(/\0+$/, ''),
  );
  const stream = (
    name: string,
    frame: Uint8Array,
    framePoints: number,
    connections: number,
    answerBytes: number,
    isBinary = true,
    operation: 'encode' | 'decode' = 'encode',
  ): Way => ({
    name,
    operation,
    connections,
    scale: framePoints < 1024 ? 1 : LARGE_SCALE,
    hasEcho: isBinary,
    run: async (port, points, isEcho) =>
      framePoints *
      (await loadStream(port, {
        ...{ frame, isBinary, connections, depth: framePoints > 16_384 ? 2 : 8 },
        answerBytes: isEcho ? frame.length : answerBytes,
        frames: Math.ceil(points / framePoints),
      })),
  });
  const [frameType, csvType, lineType] = [
    'application/vnd.hexcodes.frames',
    'text/csv',
    'application/x-ndjson',
  ];
  const http = (
    name: string,
    path: string,
    contentType: string,
    body: Uint8Array,
    bodyPoints: number,
    connections = USUAL_CONNECTIONS,
  ): Way => ({
    name,
    operation: path.includes('decode') ? 'decode' : 'encode',
    connections,
    scale: LARGE_SCALE,
    hasEcho: true,
    run: async (port, points) =>
      bodyPoints *
      (await loadHttp(port, {
        path,
        contentType,
        body,
        connections,
        requests: Math.ceil(points / bodyPoints),
      })),
    warm: async (port) => {
      const start = path.endsWith('/bulk') ? beginningOf(body, contentType === frameType) : body;
      await loadHttp(port, {
        ...{ path, contentType, body: start, connections },
        requests: Math.min(WARMING_REQUESTS, Math.ceil(WARMING_BYTES / start.length)),
      });
    },
  });
  const of = (count: number): number[] => Array.from({ length: count }, (_, i) => i);
  const lat = (i: number): string => pairsDeg[2 * i]!.toFixed(6);
  const lng = (i: number): string => pairsDeg[2 * i + 1]!.toFixed(6);
  const text = (lines: string[]): Uint8Array => Buffer.from(`${lines.join('\n')}\n`);
  const usual = { encode: '/v1/hexcodes/encode/bulk', decode: '/v1/hexcodes/decode/bulk' };
  const encodeFrames = Buffer.concat(
    of(BODY_POINTS / USUAL_POINTS).map((i) =>
      encodeFrame(1, pairsDeg.slice(2 * USUAL_POINTS * i, 2 * USUAL_POINTS * (i + 1))),
    ),
  );
  const decodeFrames = Buffer.concat(
    of(BODY_POINTS / USUAL_POINTS).map((i) =>
      decodeFrame(1, records.subarray(20 * USUAL_POINTS * i, 20 * USUAL_POINTS * (i + 1))),
    ),
  );
  const httpFrames = (operation: 'encode' | 'decode', bodyPoints: number): Way => {
    const frames = operation === 'encode' ? encodeFrames : decodeFrames;
    const body = Buffer.concat(of(bodyPoints / BODY_POINTS).map(() => frames));
    const size = bodyPoints === BODY_POINTS ? '' : `, ${bodyPoints} a body`;
    return http(
      `HTTP frames ${operation}, ${USUAL_POINTS} a frame${size}`,
      usual[operation],
      frameType,
      body,
      bodyPoints,
    );
  };
  const csvBody = text(['lat,lng', ...of(BODY_POINTS).map((i) => `${lat(i)},${lng(i)}`)]);
  const encodeOf = (points: number) => encodeFrame(1, part(points));
  const ways = [
    ...[1, 64, 1024, USUAL_POINTS, 16_384, 65_536].map((points) =>
      stream(
        `WebSocket binary encode, ${points} a frame`,
        encodeOf(points),
        points,
        USUAL_CONNECTIONS,
        16 + points * 20,
      ),
    ),
    ...OTHER_CONNECTIONS.map((connections) =>
      stream(
        `WebSocket binary encode, ${USUAL_POINTS} a frame`,
        encodeOf(USUAL_POINTS),
        USUAL_POINTS,
        connections,
        16 + USUAL_POINTS * 20,
      ),
    ),
    // As many bytes under way at a time as the usual frames have on 8 connections, or fewer.
    ...[16_384, 65_536].map((points) =>
      stream(`WebSocket binary encode, ${points} a frame`, encodeOf(points), points, 1, 16 + points * 20),
    ),
    stream(
      `WebSocket binary decode, ${USUAL_POINTS} a frame`,
      decodeFrame(1, records.subarray(0, USUAL_POINTS * 20)),
      USUAL_POINTS,
      8,
      16 + USUAL_POINTS * 18,
      true,
      'decode',
    ),
    ...[BODY_POINTS, LARGE_BODY_POINTS].flatMap((points) => [
      httpFrames('encode', points),
      httpFrames('decode', points),
    ]),
    ...[USUAL_CONNECTIONS, ...OTHER_CONNECTIONS].map((connections) =>
      http('HTTP CSV encode', usual.encode, csvType, csvBody, BODY_POINTS, connections),
    ),
    http('HTTP CSV decode', usual.decode, csvType, text(['hexcodes', ...codes]), BODY_POINTS),
    http(
      'HTTP NDJSON encode',
      usual.encode,
      lineType,
      text(of(BODY_POINTS).map((i) => `{"lat":${lat(i)},"lng":${lng(i)}}`)),
      BODY_POINTS,
    ),
    http(
      'HTTP NDJSON decode',
      usual.decode,
      lineType,
      text(codes.map((code) => `{"hexcodes":"${code}"}`)),
      BODY_POINTS,
    ),
    stream(
      `WebSocket JSON encode, ${JSON_POINTS} a frame`,
      Buffer.from(
        `{"seq":1,"op":"encode","points":[${of(JSON_POINTS).map((i) => `[${lat(i)},${lng(i)}]`)}]}`,
      ),
      JSON_POINTS,
      8,
      0,
      false,
    ),
    ...BATCH_ITEMS.map((items) => ({
      ...http(
        `HTTP JSON batch encode, ${items} items`,
        '/v1/hexcodes/encode/batch',
        'application/json',
        Buffer.from(`{"points":[${of(items).map((i) => `{"lat":${lat(i)},"lng":${lng(i)},"id":${i}}`)}]}`),
        items,
      ),
      scale: Math.min(LARGE_SCALE, Math.max(1, items / 64)),
    })),
    http(
      `HTTP JSON batch decode, ${USUAL_POINTS} items`,
      '/v1/hexcodes/decode/batch',
      'application/json',
      Buffer.from(`{"hexcodes":[${of(USUAL_POINTS).map((i) => `{"hexcodes":"${codes[i]}","id":${i}}`)}]}`),
      USUAL_POINTS,
    ),
  ];
  const onAllCores = ways
    .filter(({ connections }) => connections === USUAL_CONNECTIONS)
    .filter(({ name }) => name === 'HTTP CSV encode' || name === 'HTTP NDJSON encode')
    .map((way) => ({ ...way, name: `${way.name}, all cores`, hasEcho: false, isOnAllCores: true }));
  return [...ways, ...onAllCores];
}
