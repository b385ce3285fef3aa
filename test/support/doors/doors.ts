// Every door that a machine with Node alone has. A new one is an entry in a list here, or in the list of
// test/conformance/doors-elsewhere.test.ts.

import { pathToFileURL } from 'node:url';
import { parse } from 'csv-parse/sync';
import type * as Library from '#hexcodes';
import { Hexcodes } from '#hexcodes';
import { HexcodesClient } from '#hexcodes/client';
import { CliFolder } from '../cli.js';
import { decodeFrame, encodeFrame } from '../raw-stream.js';
import { startServer, type TestServer } from '../server.js';
import { shippedFiles } from '../shipped.js';
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

// The doors of the service: single calls, JSON batches, bulk bodies, the stream.

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
      // With a column beside it a row with an empty code is not a blank line.
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

const SERVICE: readonly Door[] = [
  door('HTTP, single', single, { isOneByOne: true }),
  door('HTTP, JSON batch', batch),
  door('bulk CSV', csv, { readsNumbers: 'field', carries: (text) => !text.includes('\0') }),
  door('bulk NDJSON', ndjson),
  door('bulk frames', frames, { carries: fitsRecord }),
  door('WebSocket', stream, { carries: fitsRecord }),
];

// The library as Node has it, and as the single file that browsers load.

const STATUSES: Record<string, Status> = {
  OUTSIDE_COVERAGE: 'NOT_FOUND',
  NOT_A_COORDINATE: 'INVALID_REQUEST',
};
const POINT_STATUSES: readonly Status[] = ['OK', 'NOT_FOUND', 'INVALID_REQUEST', 'INVALID_HEXCODES'];

/** Records as the library and frames have them. */
export function recordsToCodes(records: Uint8Array): Encoded[] {
  const bytes = Buffer.from(records.buffer, records.byteOffset, records.byteLength);
  return Array.from({ length: bytes.length / 20 }, (_, i) => ({
    code: bytes.toString('latin1', 20 * i, 20 * i + 19).replace(/\0+$/, '') || null,
    status: POINT_STATUSES[bytes[20 * i + 19]!]!,
  }));
}

export const pairsOf = (positions: readonly Position[]): Float64Array<ArrayBuffer> =>
  Float64Array.from(positions.flatMap(({ lat, lng }) => [lat, lng]));

function oneByOne(library: Hexcodes, isError: (error: unknown) => error is { code: string }): OpenDoor {
  return {
    async encode(positions, resolution) {
      return positions.map(({ lat, lng }) => {
        try {
          return { code: library.encode(lat, lng, { resolution }).hexcodes, status: 'OK' };
        } catch (error) {
          if (!isError(error)) throw error;
          return { code: null, status: STATUSES[error.code]! };
        }
      });
    },
    async decode(texts) {
      return texts.map((text) => library.decode(text) ?? nothing);
    },
    async canonical(texts) {
      return texts.map((text) => library.read(text)?.hexcodes ?? null);
    },
    async refusal(files) {
      try {
        Hexcodes.from(files);
        return null;
      } catch (error) {
        return (error as Error).message;
      }
    },
  };
}

const hasCode = (error: unknown): error is { code: string } =>
  error instanceof Error && typeof (error as { code?: unknown }).code === 'string';

const LIBRARY: readonly Door[] = [
  { name: 'library', open: async () => oneByOne(await Hexcodes.load(), hasCode) },
  {
    name: 'library, batches',
    async open() {
      const library = await Hexcodes.load();
      return {
        encode: async (positions, resolution) =>
          recordsToCodes(library.encodeBatch(pairsOf(positions), resolution)),
      };
    },
  },
  {
    name: 'browser bundle',
    async open() {
      const url = pathToFileURL('src/hexcodes/dist/web/hexcodes.js').href;
      const bundle = (await import(/* @vite-ignore */ url)) as typeof Library;
      const { refusal: _, ...door } = oneByOne(await bundle.Hexcodes.load(), hasCode);
      return door;
    },
  },
];

// The command: files in each format, written by one run and read by the next, and one position or code at a time.

const table = (csv: string): Record<string, string>[] => parse(csv, { columns: true });

/** Formats that files are written in: `hexcodes encode --to none` names them. */
export const WRITTEN = Object.entries({
  ...{ csv: 'CSV', tsv: 'TSV', xlsx: 'Excel', ndjson: 'NDJSON', geojson: 'GeoJSON', parquet: 'Parquet' },
  arrow: 'Arrow IPC',
});

function files(format: string): OpenDoor {
  const folder = new CliFolder();
  const run = async (...args: string[]): Promise<void> => {
    const ran = await folder.run([...args, '--quiet']);
    if (ran.code !== 0 && ran.code !== 1) throw new Error(`${args.join(' ')}: ${ran.code} ${ran.stderr}`);
  };
  const between = `between.${format}`;
  const encode = async (
    positions: readonly (Position | Numbers)[],
    resolution: number,
  ): Promise<readonly Encoded[]> => {
    const lines = positions.map(({ lat, lng }, n) => `${n},${quoted(String(lat))},${quoted(String(lng))}\n`);
    folder.write('in.csv', `n,lat,lng\n${lines.join('')}`);
    await run('encode', 'in.csv', '--resolution', String(resolution), '-o', between);
    await run('encode', between, '--resolution', String(resolution), '--prefix', 'again_', '-o', 'out.csv');
    const found: Encoded[] = positions.map(() => ({ code: null }));
    for (const row of table(folder.read('out.csv'))) {
      const codes = [row['hexcodes'], row['again_hexcodes']];
      if (codes[0] !== codes[1]) throw new Error(`${format} changes a position: ${codes.join(' ')}`);
      const status = row['again_status']!;
      found[Number(row['n'])] = { code: codes[1] || null, status: STATUSES[status] ?? (status as Status) };
    }
    return found;
  };
  return {
    encode,
    async decode(texts) {
      folder.write('in.csv', `n,hexcodes\n${texts.map((text, n) => `${n},${quoted(text)}\n`).join('')}`);
      await run('decode', 'in.csv', '-o', between);
      const found: Decoded[] = texts.map(() => nothing);
      if (format === 'geojson') {
        // Its points have positions alone: there is nothing left to decode.
        const { features } = JSON.parse(folder.read(between)) as {
          features: {
            geometry: { coordinates: [number, number] } | null;
            properties: Record<string, number>;
          }[];
        };
        for (const { geometry, properties } of features) {
          if (geometry === null) continue;
          const [lng, lat] = geometry.coordinates;
          found[Number(properties['n'])] = { lat, lng, resolution: properties['resolution']! };
        }
        return found;
      }
      await run('decode', between, '--prefix', 'again_', '--keep', 'n', '-o', 'out.csv');
      for (const row of table(folder.read('out.csv')))
        if (row['again_status'] === 'OK')
          found[Number(row['n'])] = {
            lat: Number(row['again_lat']),
            lng: Number(row['again_lng']),
            resolution: Number(row['again_resolution']),
          };
      return found;
    },
    ...(!/^[ct]sv$/.test(format) ? {} : { encodeNumbers: (numbers) => encode(numbers, 13) }),
    close: () => folder.remove(),
  };
}

const oneAtATime = (): OpenDoor => {
  const folder = new CliFolder();
  return {
    async decode(texts) {
      const answers: Decoded[] = [];
      for (const text of texts) {
        const { stdout } = await folder.run(['decode', '--json', '--', text]);
        const { lat, lng, resolution } = JSON.parse(stdout || '{}') as Partial<Decoded>;
        answers.push(lat === undefined ? nothing : { lat: lat!, lng: lng!, resolution: resolution! });
      }
      return answers;
    },
    async refusal({ index }) {
      folder.write('index.bin', index);
      const { stderr } = await folder.run(['encode', '21.0288,105.8525'], {
        env: { HEXCODES_INDEX: folder.file('index.bin') },
      });
      return stderr;
    },
    close: () => folder.remove(),
  };
};

const COMMAND: readonly Door[] = [
  ...WRITTEN.map(
    ([format, title]): Door => ({
      name: `command, ${title}`,
      readsNumbers: 'people',
      isSlow: true,
      // The table above reads lines.
      carries: (text) => !/[\r\n\0",]/.test(text),
      open: async () => files(format),
    }),
  ),
  {
    name: 'command, one code',
    // Each is a process: some stand for all.
    carries: (text) => /^[a-z]/.test(text),
    isOneByOne: true,
    refuses: 'index',
    open: async () => oneAtATime(),
  },
];

export const DOORS: readonly Door[] = [...LIBRARY, ...SERVICE, ...COMMAND];
