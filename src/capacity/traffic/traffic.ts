// The requests of the generator, made beforehand out of seeded positions, each with the answer that the library gives
// for it.
import { encodeRequest } from '../../hexcodes/client/stream/frames.js';
import { type Encoded, Hexcodes } from '../../hexcodes/library/hexcodes.js';
import { FRAME_HEADER_BYTES } from '../../hexcodes/wire/limits.js';
import type { WayKind } from '../generator/job.js';
import { uniformFrom } from '../generator/loops.js';
import { clientMessage } from '../peers/service-peers.js';
import type { Exchange } from '../peers/socket-peer.js';

// Seeded positions in Viet Nam and its sea, uniform over that part of a box around it which has hexcodes.
/** Number of the positions, the most that one request of the generator has. */
export const POSITIONS = 65_536;

const SEED = 20261122;
const BOX = { southDeg: 8.1, heightDeg: 15.4, westDeg: 102, widthDeg: 10 };
const DRAWN_AT_ONCE = 4096;
const RECORD_BYTES = 20;
const STATUS_AT = 19;

/** Latitude and longitude of each in degrees, with six decimals. */
export function landPositions(library: Hexcodes): Float64Array {
  const uniform = uniformFrom(SEED);
  const micro = (deg: number): number => Number(deg.toFixed(6));
  const kept = new Float64Array(2 * POSITIONS);
  const drawn = new Float64Array(2 * DRAWN_AT_ONCE);
  let count = 0;
  while (count < POSITIONS) {
    for (let at = 0; at < drawn.length; at += 2) {
      drawn[at] = micro(BOX.southDeg + BOX.heightDeg * uniform());
      drawn[at + 1] = micro(BOX.westDeg + BOX.widthDeg * uniform());
    }
    const records = library.encodeBatch(drawn);
    for (let at = 0; at < DRAWN_AT_ONCE && count < POSITIONS; at++) {
      if (records[at * RECORD_BYTES + STATUS_AT] !== 0) continue;
      kept.set(drawn.subarray(2 * at, 2 * at + 2), 2 * count++);
    }
  }
  return kept;
}

const RESOLUTION = 13;
/** Exchanges of one kind, bounded by their number and by their points in all. */
const MAX_EXCHANGES = 1024;
const MAX_POINTS = POSITIONS;

type Spelling = (lat: number, lng: number, n: number) => string;

/**
 * Items of batches as senders write them, one spelling a batch, in turns: pairs; objects without a blank; json.dumps
 * and jsonb, the same with a vehicle's other members; latitude and longitude; indented, as jq and PHP do.
 */
const BATCH_ITEMS: readonly Spelling[] = [
  (lat, lng) => `[${lat},${lng}]`,
  (lat, lng, n) => `{"id":${n},"lat":${lat},"lng":${lng}}`,
  (lat, lng, n) => `{"id": ${n}, "lat": ${lat}, "lng": ${lng}}`,
  (lat, lng, n) =>
    `{"vehicle": "51F-${n}", "lat": ${lat}, "lng": ${lng}, "time": "2026-01-01T00:00:00Z", "speed": 12.5, "ok": true}`,
  (lat, lng, n) =>
    `{"deviceId":${n},"attributes":{"sat":12,"ignition":true},"latitude":${lat},"longitude":${lng}}`,
  (lat, lng, n) => `\n  {\n    "id": ${n},\n    "lat": ${lat},\n    "lon": ${lng}\n  }`,
];

/** Rows of CSV in the same way: plain, all quoted, with blanks. */
const CSV_ROWS: readonly Spelling[] = [
  (lat, lng) => `${lat},${lng}`,
  (lat, lng) => `"${lat}","${lng}"`,
  (lat, lng) => ` ${lat}, ${lng}`,
];

/** Positions in the spelling of the n-th request. */
function spelled(
  spellings: readonly Spelling[],
  points: readonly (readonly [number, number])[],
  n: number,
): string[] {
  const spelling = spellings[n % spellings.length]!;
  return points.map(([lat, lng], at) => spelling(lat, lng, at));
}

export class Traffic {
  readonly #made = new Map<string, readonly Exchange[]>();

  private constructor(
    private readonly library: Hexcodes,
    /** lat, lng, … in degrees, with six decimals. */
    private readonly pairsDeg: Float64Array,
  ) {}

  static async load(): Promise<Traffic> {
    const library = await Hexcodes.load();
    return new Traffic(library, landPositions(library));
  }

  /** @param points of one request or frame, 1 to POSITIONS */
  exchangesOf(kind: WayKind, points: number, base: URL, key: string): readonly Exchange[] {
    const name = `${kind} ${points} ${base.host} ${key}`;
    const made = this.#made.get(name) ?? this.#make(kind, points, base.host, key);
    this.#made.set(name, made);
    return made;
  }

  #make(kind: WayKind, points: number, host: string, key: string): readonly Exchange[] {
    const count = Math.max(1, Math.min(MAX_EXCHANGES, Math.floor(MAX_POINTS / points)));
    return Array.from({ length: count }, (_, at) => {
      const pairs = this.pairsDeg.subarray(2 * points * at, 2 * points * (at + 1));
      if (kind === 'stream') return this.#frame(pairs);
      if (kind === 'single') return this.#single(pairs, host, key);
      return kind === 'batch' ? this.#batch(pairs, host, key, at) : this.#csv(pairs, host, key, at);
    });
  }

  #single(pairs: Float64Array, host: string, key: string): Exchange {
    const [latDeg, lngDeg] = [pairs[0]!, pairs[1]!];
    const target = `/v1/hexcodes/encode?lat=${latDeg}&lng=${lngDeg}`;
    const { hexcodes, admin_code } = this.library.encode(latDeg, lngDeg);
    return {
      request: Buffer.from(`GET ${target} HTTP/1.1\r\nHost: ${host}\r\nX-API-Key: ${key}\r\n\r\n`),
      fault: (body) => {
        const answer = JSON.parse(body.toString()) as Encoded;
        return answer.hexcodes === hexcodes && answer.admin_code === admin_code
          ? undefined
          : `${target} gives ${body}, and ${hexcodes} is right`;
      },
    };
  }

  #batch(pairs: Float64Array, host: string, key: string, at: number): Exchange {
    const points = positionsOf(pairs);
    const expected = points.map(([latDeg, lngDeg]) => this.library.encode(latDeg, lngDeg).hexcodes).join();
    const body = Buffer.from(`{"points":[${spelled(BATCH_ITEMS, points, at).join(',')}]}`);
    return {
      request: post('/v1/hexcodes/encode/batch', 'application/json', body, host, key),
      fault: (answer) => {
        const { results } = JSON.parse(answer.toString()) as { results: Encoded[] };
        return results.map(({ hexcodes }) => hexcodes).join() === expected
          ? undefined
          : `a batch of ${points.length} positions has other codes than the library gives`;
      },
    };
  }

  #csv(pairs: Float64Array, host: string, key: string, at: number): Exchange {
    const points = positionsOf(pairs);
    const given = spelled(CSV_ROWS, points, at);
    const body = Buffer.from(`lat,lng\n${given.join('\n')}\n`);
    const rows = points.map(([latDeg, lngDeg], n) => {
      const { hexcodes, resolution, admin_code } = this.library.encode(latDeg, lngDeg);
      return `${given[n]},${hexcodes},${resolution},${admin_code},OK\n`;
    });
    const expected = Buffer.from(`lat,lng,hexcodes,resolution,admin_code,status\n${rows.join('')}`);
    return {
      request: post('/v1/hexcodes/encode/bulk', 'text/csv', body, host, key),
      fault: (answer) =>
        answer.equals(expected)
          ? undefined
          : `CSV of ${points.length} rows is not answered as the library says`,
    };
  }

  #frame(pairs: Float64Array): Exchange {
    const points = pairs.length / 2;
    const records = Buffer.from(this.library.encodeBatch(pairs, RESOLUTION));
    return {
      request: clientMessage(encodeRequest(pairs, 0, points, RESOLUTION, false)),
      fault: (answer) =>
        answer.subarray(FRAME_HEADER_BYTES).equals(records)
          ? undefined
          : `a frame of ${points} points has other records than the library gives`,
    };
  }
}

function positionsOf(pairs: Float64Array): [latDeg: number, lngDeg: number][] {
  return Array.from({ length: pairs.length / 2 }, (_, at) => [pairs[2 * at]!, pairs[2 * at + 1]!]);
}

function post(path: string, contentType: string, body: Buffer, host: string, key: string): Buffer {
  const head = [
    `POST ${path} HTTP/1.1`,
    `Host: ${host}`,
    `X-API-Key: ${key}`,
    `Content-Type: ${contentType}`,
    `Content-Length: ${body.length}`,
    '\r\n',
  ].join('\r\n');
  return Buffer.concat([Buffer.from(head), body]);
}
