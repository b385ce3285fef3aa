// Members that JSON gives twice: equal values count as one, whatever their spelling; with different ones, of which a
// parser keeps the last without a word, no reader has an answer. Documents are drawn with members doubled at any depth,
// names and texts spelled with escapes; Python's json, which shows every pair, is the judge.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Hexcodes } from '#hexcodes';
import { consoleModule } from '../support/console-module.js';
import { encodeFile } from '../support/files/convert.js';
import { post, postJson } from '../support/http-calls.js';
import { makeKey } from '../support/keys.js';
import { randomFrom } from '../support/open-world.js';
import { below, pick } from '../support/random.js';
import { ownFolder, sharedCommand, sharedServer } from '../support/shared.js';
import { shippedKernel } from '../support/shipped.js';
import { Wire } from '../support/wire.js';

type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json };
type Path = readonly string[];

const random = randomFrom(20_261_128);
const chance = (one: number): boolean => below(one, random) === 0;

// --- Documents with members doubled ---

const spelledText = (text: string): string => {
  const quoted = JSON.stringify(text);
  if (text === '' || !chance(3)) return quoted;
  const at = 1 + below(text.length, random);
  const letter = quoted[at]!;
  if (!/[a-z_]/i.test(letter)) return quoted;
  return `${quoted.slice(0, at)}\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}${quoted.slice(at + 1)}`;
};

const spelledNumber = (value: number): string =>
  pick([`${value}`, Number.isInteger(value) ? `${value}.0` : `${value}0`, `${value}e0`], random);

/** A value as it may be spelled. */
function spelled(value: Json, doubles: boolean): string {
  const blank = pick(['', '', ' ', '\t'], random);
  if (typeof value === 'string') return spelledText(value);
  if (typeof value === 'number') return doubles ? `${value}` : spelledNumber(value);
  if (typeof value !== 'object' || value === null) return String(value);
  if (Array.isArray(value)) return `[${value.map((each: Json) => blank + spelled(each, doubles)).join()}]`;
  const members = Object.entries(value).map(([name, each]): [string, string] => [
    name,
    spelled(each, doubles),
  ]);
  if (doubles && members.length > 0 && chance(4)) {
    const [name, each] = pick(Object.entries(value), random);
    const again = spelled(chance(2) ? each : other(each), false);
    members.splice(below(members.length + 1, random), 0, [name, again]);
  }
  return `{${members.map(([name, text]) => `${blank}${spelledText(name)}:${blank}${text}`).join()}${blank}}`;
}

/** Another value, of the same kind or not. */
function other(value: Json): Json {
  if (typeof value === 'number') return pick([value + 0.5, String(value), null, [value]], random);
  return pick<Json>([typeof value === 'string' ? `${value}x` : 'x', 7, null, true, { x: 1 }], random);
}

/** Members that nothing reads. */
const NOTE: Json = { a: { b: [{ c: 1, d: 'two' }, []], c: 'é"\\' }, list: [1, { lat: 1, lng: 2 }] };

interface Verdict {
  readonly text: string;
  /** Members that are given with different values, and whether the last value is a list or an object. */
  readonly twice: readonly (readonly [path: Path, isCompound: boolean])[];
}

/** Documents made of one, each with the judge's verdict. */
function documentsOf(document: Json, count: number): Verdict[] {
  const texts = Array.from({ length: count }, () => spelled(document, true));
  const input = texts.map((text) => `${JSON.stringify(text)}\n`).join('');
  const { stdout, stderr } = spawnSync('python3', ['test/support/repeated_members.py'], {
    input,
    encoding: 'utf8',
  });
  expect(stderr).toBe('');
  const lines = stdout.trim().split('\n');
  return texts.map((text, i) => ({ text, twice: JSON.parse(lines[i]!) as Verdict['twice'] }));
}

// --- Entries ---

const wire = new Wire(shippedKernel());
const library = await Hexcodes.load();
const folder = ownFolder('repeated');
const command = sharedCommand();
const server = sharedServer();

interface Entry {
  readonly document: Json;
  /** Members that the entry reads, by their paths. */
  readonly reads: (path: Path, isCompound: boolean) => boolean;
  readonly count?: number;
  /** Whether it has an answer. */
  readonly isRead: (text: string) => boolean | Promise<boolean>;
}

const ROW: Json = { lat: 21.0288, lng: 105.8525, resolution: 13, id: 'a1', note: NOTE };
const inRow =
  (...names: string[]) =>
  ([outer, ...inner]: Path): boolean =>
    inner.length === 0 && names.includes(outer!);
const FEATURE: Json = {
  ...{ type: 'Feature', id: 5, place: null, note: NOTE },
  properties: { resolution: 13, zone: 'z', note: NOTE },
  geometry: { type: 'Point', coordinates: [105.8525, 21.0288], note: NOTE },
};
const AREA: Json = {
  ...FEATURE,
  geometry: {
    type: 'Polygon',
    coordinates: [
      [
        [105.8, 21],
        [105.82, 21],
        [105.81, 21.02],
        [105.8, 21],
      ],
    ],
  },
};
const POSITION_MEMBERS = ['type', 'geometry', 'place', 'crs', 'coordRefSys'];
const inFeature =
  (...properties: string[]) =>
  (path: Path): boolean => {
    const [outer, inner] = path[0] === 'features' ? path.slice(1) : path;
    if (outer === undefined || POSITION_MEMBERS.includes(outer)) return true;
    return outer === 'properties' && (inner === undefined || properties.includes(inner));
  };
const DEVICE: Json = { id: 7, uniqueId: 'truck-1', name: 'Xe', attributes: { a: { b: 1 } } };
const FORWARDED: Json = {
  position: { latitude: 21.0288, longitude: 105.8525, speed: 1, attributes: { a: { b: [{ c: 1 }] } } },
  device: DEVICE,
};

async function fileIsRead(text: string, format: 'ndjson' | 'geojson'): Promise<boolean> {
  const [input, output] = [join(folder, `in.${format}`), join(folder, 'out.csv')];
  writeFileSync(input, text);
  try {
    await encodeFile(library, input, output);
  } catch (error) {
    expect([2, 3]).toContain((error as { exitCode?: number }).exitCode);
    return false;
  }
  return readFileSync(output, 'utf8').trimEnd().endsWith(',OK');
}

const isAnswered = async (path: string, init: RequestInit): Promise<boolean> => {
  const headers = { ...init.headers, 'X-API-Key': server.key };
  const { status } = await fetch(`${server.base}${path}`, { ...init, headers });
  expect([200, 400]).toContain(status);
  return status === 200;
};

const isOk = (bytes: Uint8Array): boolean => {
  const { results, status } = JSON.parse(Buffer.from(bytes).toString()) as {
    results?: { status: string }[];
    status: string;
  };
  return (results?.[0]?.status ?? status) === 'OK';
};
const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

const ENTRIES: Readonly<Record<string, Entry>> = {
  'a single call': {
    ...{ document: ROW, reads: inRow('lat', 'lng', 'resolution'), count: 150 },
    isRead: (text) => isAnswered('/v1/hexcodes/encode', postJson(text)),
  },
  'an item of a batch': {
    ...{ document: ROW, reads: inRow('lat', 'lng', 'resolution', 'id') },
    isRead: (text) => isOk(wire.batch('encode', bytesOf(`{"points":[${text}]}`))),
  },
  'an item of a JSON frame of the stream': {
    ...{ document: ROW, reads: inRow('lat', 'lng', 'resolution', 'id') },
    isRead: (text) => isOk(wire.jsonFrame(bytesOf(`{"seq":1,"op":"encode","points":[${text}]}`))),
  },
  'a line of NDJSON over HTTP': {
    ...{ document: ROW, reads: inRow('lat', 'lng', 'resolution', 'id') },
    isRead: (text) => isOk(wire.bulk({ input: 'ndjson' }, `${text}\n`)),
  },
  'a line of NDJSON by the command': {
    ...{ document: ROW, reads: inRow('lat', 'lng', 'resolution'), count: 150 },
    isRead: (text) => fileIsRead(`${text}\n`, 'ndjson'),
  },
  'a feature of a file': {
    ...{ document: FEATURE, reads: inFeature('resolution'), count: 150 },
    isRead: (text) => fileIsRead(text, 'geojson'),
  },
  'a feature whose point is chosen': {
    ...{ document: AREA, reads: inFeature('resolution'), count: 60 },
    isRead: async (text) => {
      const ran = await command.run('encode - --from geojson --to csv --point first -q', { stdin: text });
      return /,OK$/m.test(ran.stdout);
    },
  },
  'areas of cover': {
    ...{
      document: { type: 'FeatureCollection', note: NOTE, features: [AREA] },
      reads: inFeature('zone'),
      count: 60,
    },
    isRead: async (text) => {
      const ran = await command.run('cover - --name zone -r 9 -q', { stdin: text });
      return ran.code === 0;
    },
  },
  'zones of the page': {
    ...{ document: { type: 'FeatureCollection', note: NOTE, features: [AREA] }, reads: inFeature('zone') },
    isRead: async (text) => {
      const { importedZones } = await consoleModule<{
        importedZones(text: string, taken: string[], usual: () => string): { zones: unknown[] } | undefined;
      }>('zones/import-zones.ts');
      return importedZones(text, [], () => 'zone')?.zones.length === 1;
    },
  },
  'a list of rows on the page': {
    ...{ document: [ROW], reads: () => true },
    isRead: async (text) => {
      const { jsonAsCsv } = await consoleModule<{ jsonAsCsv(text: string): Iterable<Uint8Array> }>(
        '../tables/rows-as-csv.ts',
      );
      try {
        return [...jsonAsCsv(text)].length > 0;
      } catch (error) {
        expect((error as Error).name).toBe('TableError');
        return false;
      }
    },
  },
  'a line of JSON on the page': {
    ...{ document: { at: { vido: '21.0288', kinhdo: '105.8525' }, note: NOTE }, reads: () => true },
    isRead: async (text) => {
      const { lineRewriter } = await consoleModule<{
        lineRewriter(beginning: string, isAll: boolean): ((line: string) => string) | undefined;
      }>('file/source.ts');
      const line = lineRewriter(`{"at":{"vido":"21","kinhdo":"105"}}\n`, true)!(text);
      return isOk(wire.bulk({ input: 'ndjson' }, `${line}\n`));
    },
  },
  'a position of Traccar': {
    ...{ document: FORWARDED, reads: () => true, count: 150 },
    isRead: (text) => isAnswered('/v1/traccar', postJson(text)),
  },
  'attributes of Traccar by URL': {
    ...{ document: NOTE, reads: () => true, count: 150 },
    isRead: (text) =>
      isAnswered(
        `/v1/traccar?uniqueId=a&latitude=21&longitude=105&attributes=${encodeURIComponent(text)}`,
        {},
      ),
  },
  'a message of a bus': {
    document: { vehicle: 'a1', position: { latitude: 21.0288, longitude: 105.8525, speed: 3 }, note: 'x' },
    reads: (path, isCompound) =>
      isCompound || ['position', 'latitude', 'longitude', 'vehicle'].includes(path.at(-1)!),
    isRead: (text) => wire.object(bytesOf(text)).then(isOk, () => false),
  },
};

describe('a member that is given twice', () => {
  test.each(Object.entries(ENTRIES))('in %s', async (_, { document, reads, count = 400, isRead }) => {
    const verdicts = documentsOf(document, count);
    const wrong: unknown[] = [];
    for (const { text, twice } of verdicts) {
      const due = !twice.some(([path, isCompound]) => reads(path, isCompound));
      if ((await isRead(text)) !== due) wrong.push({ text, twice, due });
    }
    expect(wrong.slice(0, 3)).toEqual([]);
    const refused = verdicts.filter(({ twice }) => twice.some(([path, isList]) => reads(path, isList)));
    expect(refused.length).toBeGreaterThan(count / 25);
    expect(refused.length).toBeLessThan(count);
  });

  test('in settings of a key, by the admin port and in a file', async () => {
    const { text: key } = await makeKey(server.dataDir, { scopes: ['admin'] });
    const asked = { name: 'fleet', scopes: ['encode'], limits: { requests_per_second: 5 } };
    const call = (text: string): Promise<Response> =>
      fetch(`http://127.0.0.1:${server.adminPort}/admin/v1/keys`, {
        ...post('application/json', text),
        headers: { 'X-API-Key': key },
      });
    await expect.poll(async () => (await call('[]')).status).toBe(400);
    for (const { text, twice } of documentsOf(asked, 40))
      expect([text, (await call(text)).status]).toEqual([text, twice.length === 0 ? 201 : 400]);
    const data = `--data-dir ${server.dataDir}`;
    expect((await command.run(`keys export keys.json ${data}`)).code).toBe(0);
    const archive = JSON.parse(command.read('keys.json')) as Json;
    for (const { text, twice } of documentsOf({ ...(archive as object), keys: [] }, 6)) {
      command.write('twice.json', text);
      const ran = await command.run(`keys import twice.json ${data}`);
      expect([text, ran.code === 0]).toEqual([text, twice.length === 0]);
      if (ran.code !== 0) expect(ran.stderr).toContain('is given more than once with different values');
    }
  });
});
