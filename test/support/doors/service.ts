// The doors of the service: single calls, JSON batches, bulk bodies, the stream.

import { parse } from 'csv-parse/sync';
import { HexcodesClient } from '#hexcodes/client';
import { startServer, type TestServer } from '../server.js';
import { shippedFiles } from '../shipped.js';
import { decodeFrame, encodeFrame } from '../stream-frames.js';
import {
  type Decoded,
  type Door,
  type Encoded,
  type Numbers,
  nothing,
  type OpenDoor,
  type Position,
  type Status,
} from './door.js';
import { pairsOf, recordsToCodes } from './library.js';

interface Row {
  hexcodes?: string | null;
  lat?: number | null;
  lng?: number | null;
  resolution?: number | null;
  status: Status;
}

const encodedOf = ({ hexcodes, status }: Row): Encoded => ({ code: hexcodes ?? null, status });
const decodedOf = ({ status, lat, lng, resolution }: Row): Decoded =>
  status === 'OK' ? { lat: lat!, lng: lng!, resolution: resolution! } : nothing;

/** The doors share one service. */
let shared: { server: TestServer; users: number } | undefined;

async function withServer(make: (server: TestServer) => OpenDoor): Promise<OpenDoor> {
  shared ??= { server: await startServer({ logLevel: 'warn' }, shippedFiles()), users: 0 };
  const mine = shared;
  mine.users++;
  return {
    ...make(mine.server),
    async close() {
      if (--mine.users > 0) return;
      shared = undefined;
      await mine.server.stop();
    },
  };
}

async function post(
  server: TestServer,
  path: string,
  type: string,
  body: string | Uint8Array<ArrayBuffer>,
): Promise<Buffer> {
  const answer = await fetch(`${server.base}/v1/hexcodes/${path}`, {
    method: 'POST',
    headers: { 'Content-Type': type, 'X-API-Key': server.key },
    body,
  });
  const bytes = Buffer.from(await answer.arrayBuffer());
  if (answer.status !== 200 && !/^(encode|decode)(\?|$)/.test(path))
    throw new Error(`${path}: ${answer.status} ${bytes.toString()}`);
  return bytes;
}

const rowsOf = (bytes: Buffer): Row[] =>
  bytes
    .toString()
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Row);

const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`;

async function each<Item, Answer>(items: readonly Item[], answer: (item: Item) => Promise<Answer>) {
  const answers: Answer[] = [];
  for (const item of items) answers.push(await answer(item));
  return answers;
}

const single = (server: TestServer): OpenDoor => ({
  encode: (positions, resolution) =>
    each(positions, async ({ lat, lng }) => {
      const [row] = rowsOf(
        await post(server, `encode?lat=${lat}&lng=${lng}&resolution=${resolution}`, '', ''),
      );
      return encodedOf(row!);
    }),
  encodeNumbers: (numbers) =>
    each(numbers, async (texts) => {
      const query = new URLSearchParams({ lat: texts.lat, lng: texts.lng });
      return encodedOf(rowsOf(await post(server, `encode?${query}`, '', ''))[0]!);
    }),
  decode: (texts) =>
    each(texts, async (text) => {
      const body = JSON.stringify({ hexcodes: text });
      return decodedOf(rowsOf(await post(server, 'decode', 'application/json', body))[0]!);
    }),
});

const batch = (server: TestServer): OpenDoor => ({
  async encode(positions, resolution) {
    const body = JSON.stringify({ resolution, points: positions });
    const { results } = JSON.parse(
      (await post(server, 'encode/batch', 'application/json', body)).toString(),
    ) as { results: Row[] };
    return results.map(encodedOf);
  },
  async decode(texts) {
    const body = JSON.stringify({ hexcodes: texts });
    const { results } = JSON.parse(
      (await post(server, 'decode/batch', 'application/json', body)).toString(),
    ) as { results: Row[] };
    return results.map(decodedOf);
  },
});

const csv = (server: TestServer): OpenDoor => {
  const rowsAt = async (path: string, body: string) =>
    parse(await post(server, path, 'text/csv', body), { columns: true }) as Record<string, string>[];
  const encodeRows = async (positions: readonly (Position | Numbers)[], resolution: number) => {
    const lines = positions.map(({ lat, lng }) => `${quoted(String(lat))},${quoted(String(lng))}\n`);
    const rows = await rowsAt(`encode/bulk?resolution=${resolution}`, `lat,lng\n${lines.join('')}`);
    return rows.map((row) => ({ code: row['hexcodes'] || null, status: row['status'] as Status }));
  };
  return {
    encode: encodeRows,
    encodeNumbers: (numbers) => encodeRows(numbers, 13),
    async decode(texts) {
      // With a column beside it a row with an empty code is no blank line.
      const body = `n,hexcodes\n${texts.map((text, n) => `${n},${quoted(text)}\n`).join('')}`;
      return (await rowsAt('decode/bulk', body)).map(({ lat, lng, resolution, status }) =>
        status === 'OK' ? { lat: Number(lat), lng: Number(lng), resolution: Number(resolution) } : nothing,
      );
    },
  };
};

const ndjson = (server: TestServer): OpenDoor => ({
  async encode(positions, resolution) {
    const body = positions.map((position) => `${JSON.stringify({ ...position, resolution })}\n`).join('');
    return rowsOf(await post(server, 'encode/bulk', 'application/x-ndjson', body)).map(encodedOf);
  },
  async decode(texts) {
    const body = texts.map((text) => `${JSON.stringify({ hexcodes: text })}\n`).join('');
    return rowsOf(await post(server, 'decode/bulk', 'application/x-ndjson', body)).map(decodedOf);
  },
});

const FRAMES = 'application/vnd.hexcodes.frames';
/** Texts that are records: 19 bytes of ASCII at most, no NUL. */
const fitsRecord = (text: string): boolean =>
  text.length <= 19 && [...text].every((symbol) => symbol > '\0' && symbol < '\x80');

function recordsOf(texts: readonly string[]): Uint8Array<ArrayBuffer> {
  const records = new Uint8Array(20 * texts.length);
  for (const [i, text] of texts.entries()) records.set(Buffer.from(text, 'latin1'), 20 * i);
  return records;
}

const frames = (server: TestServer): OpenDoor => ({
  async encode(positions, resolution) {
    const frame = new Uint8Array(encodeFrame(7, pairsOf(positions), resolution));
    return recordsToCodes((await post(server, 'encode/bulk', FRAMES, frame)).subarray(16));
  },
  async decode(texts) {
    const answer = await post(
      server,
      'decode/bulk',
      FRAMES,
      new Uint8Array(decodeFrame(7, recordsOf(texts))),
    );
    return texts.map((_, i) =>
      answer[16 + 17 * texts.length + i] === 0
        ? {
            lat: answer.readDoubleLE(16 + 16 * i),
            lng: answer.readDoubleLE(24 + 16 * i),
            resolution: answer[16 + 16 * texts.length + i]!,
          }
        : nothing,
    );
  },
});

const stream = (server: TestServer): OpenDoor => {
  const client = new HexcodesClient({ baseUrl: `${server.base}/v1`, apiKey: server.key });
  return {
    async encode(positions, resolution) {
      const answers: Encoded[] = [];
      const source = [pairsOf(positions)];
      for await (const answer of client.stream({ operation: 'encode', resolution, source }))
        answers.push(...recordsToCodes(answer.records));
      return answers;
    },
    async decode(texts) {
      const answers: Decoded[] = [];
      for await (const answer of client.stream({ operation: 'decode', source: [recordsOf(texts)] }))
        for (let i = 0; i < answer.count; i++) {
          const resolution = answer.resolution(i);
          answers.push(
            resolution === null ? nothing : { lat: answer.lat(i), lng: answer.lng(i), resolution },
          );
        }
      return answers;
    },
  };
};

const door = (name: string, make: (server: TestServer) => OpenDoor, more: Partial<Door> = {}): Door => ({
  name,
  open: () => withServer(make),
  ...more,
});

export const SERVICE: readonly Door[] = [
  door('HTTP, single', single, { isOneByOne: true }),
  door('HTTP, JSON batch', batch),
  door('bulk CSV', csv, { readsNumbers: 'field', carries: (text) => !text.includes('\0') }),
  door('bulk NDJSON', ndjson),
  door('bulk frames', frames, { carries: fitsRecord }),
  door('WebSocket', stream, { carries: fitsRecord }),
];
