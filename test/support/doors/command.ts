// The command: files in each format, written by one run and read by the next, and one position or code at a time.

import { parse } from 'csv-parse/sync';
import { type FileFormat, FORMATS, WRITTEN_FORMATS } from '#dist/files/format.js';
import { CliFolder } from '../cli.js';
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

const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`;
const STATUSES: Record<string, Status> = {
  OUTSIDE_COVERAGE: 'NOT_FOUND',
  NOT_A_COORDINATE: 'INVALID_REQUEST',
};

const table = (csv: string): Record<string, string>[] => parse(csv, { columns: true });

function files(format: FileFormat): OpenDoor {
  const folder = new CliFolder();
  const run = async (...args: string[]): Promise<void> => {
    const ran = await folder.run([...args, '--quiet']);
    if (ran.code !== 0 && ran.code !== 1) throw new Error(`${args.join(' ')}: ${ran.code} ${ran.stderr}`);
  };
  const between = `between.${FORMATS[format].extensions[0]}`;
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
      if (FORMATS[format].needsPosition) {
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
    ...(FORMATS[format].delimiter === null ? {} : { encodeNumbers: (numbers) => encode(numbers, 13) }),
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

export const COMMAND: readonly Door[] = [
  ...WRITTEN_FORMATS.map(
    (format): Door => ({
      name: `command, ${FORMATS[format].title}`,
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
