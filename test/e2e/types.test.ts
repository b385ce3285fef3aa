// The types of the package as strict programs see them, with the oldest TypeScript that is supported and with ours:
// both kinds of modules, and nothing of the declarations skipped.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { afterAll, expect, test } from 'vitest';

mkdirSync('build', { recursive: true });
const folder = mkdtempSync(join('build', 'types-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
mkdirSync(join(folder, 'node_modules'));
symlinkSync(resolve('src/hexcodes'), join(folder, 'node_modules', 'hexcodes'));

const PROGRAM = `
import { ADMIN_UNITS, Hexcodes, HexcodesError, type Encoded, type DecodedBatch } from 'hexcodes';
import { cellFeature, cover, distance, findPlaces, neighbors, suggest, type LatLng, type Position } from 'hexcodes/geometry';
import { Hexcodes as Web } from 'hexcodes/web';
import { HexcodesClient, HexcodesClientError, type DecodeBatchResult, type EncodeBatchResult } from 'hexcodes/client';

export async function use(): Promise<void> {
  const hexcodes: Hexcodes = await Hexcodes.load();
  const web: Web = await Web.load();
  const place: Encoded = hexcodes.encode(21.0288, 105.8525, { resolution: 9 });
  const batch: DecodedBatch = hexcodes.decodeBatch(hexcodes.encodeBatch(Float64Array.of(21, 105), 9));
  const pair: LatLng = [batch.latLng[0] ?? 0, batch.latLng[1] ?? 0];
  const position: Position = place;
  distance(web, pair, position);
  cellFeature(hexcodes, neighbors(hexcodes, place.hexcodes)[0] ?? '').geometry.coordinates;
  suggest(hexcodes, 'x', { near: place });
  // An option that may be undefined is absent then, with exactOptionalPropertyTypes, too.
  const absent: undefined = undefined;
  hexcodes.encode(21, 105, { resolution: absent, former: absent, certainty: absent });
  hexcodes.encodeBatch(Float64Array.of(21, 105), { resolution: absent }, absent);
  suggest(hexcodes, 'x', { near: absent, limit: absent });
  findPlaces(hexcodes, 'x', { near: absent, limit: absent });
  cover(hexcodes, { type: 'Polygon', coordinates: [] }, { resolution: 3, cells: absent, compact: absent });
  new HexcodesClient({ baseUrl: '/v1', apiKey: absent, timeoutMs: absent, retries: absent, fetch: absent, WebSocket: absent });
  console.log(ADMIN_UNITS.length, HexcodesError, HexcodesClientError);
  // @ts-expect-error a number of rings
  neighbors(hexcodes, place.hexcodes, 2);
  // @ts-expect-error numbers, not texts
  hexcodes.encode('21', '105');

  const client = new HexcodesClient({ baseUrl: 'http://127.0.0.1/v1', fetch });
  // @ts-expect-error a number in place of options
  client.encode(21, 105, 9);
  client.encode(21, 105, { resolution: absent, former: absent, signal: absent });
  client.encodeBatch([{ lat: 21, lng: 105, resolution: absent, id: absent }]);
  client.decodeBatch([{ hexcodes: 'x', id: absent }]);
  client.suggest('x', { near: absent, limit: absent });
  client.stream({ operation: 'encode', output: absent, resolution: absent, source: absent, framePoints: absent });
  client.stream({ operation: 'decode', maxAttempts: absent, answerTimeoutMs: absent });
  client.bulk({ operation: 'encode', format: 'csv', source: [], answerFormat: absent, prefix: absent, isGzipped: absent });
  const decoded = await client.decode('x');
  if (decoded.status === 'OK') decoded.lat.toFixed();
  else decoded.lat satisfies null;
  const encoded: readonly EncodeBatchResult[] = (await client.encodeBatch([[21, 105]])).results;
  for (const result of encoded) {
    if (result.status === 'OK') result.hexcodes.length;
    else if (result.status === 'OUTSIDE_COVERAGE') result.lat.toFixed();
    else result.details.length;
    // @ts-expect-error no such word
    if (result.status === 'NOT_FOUND') return;
  }
  const texts: readonly DecodeBatchResult[] = (await client.decodeBatch(['x'])).results;
  const nulls: (number | null)[] = texts.map((result) => result.lat);
  const read = await client.read('x');
  if (read.status === 'OK') read.boundary.geometry.coordinates[0]?.[0]?.[0]?.toFixed();
  for await (const answer of client.stream({ operation: 'decode', source: [['x']] })) answer.lat(0).toFixed();
  for await (const answer of client.stream({ operation: 'encode', output: 'cells' })) answer.cell(0) + 1n;
  for await (const bytes of await client.bulk({ operation: 'encode', format: 'csv', source: ['lat,lng\\n'] })) bytes.length;
  console.log(nulls);
}
`;

function errorsOf(compiler: string, options: object): string {
  writeFileSync(join(folder, 'main.mts'), PROGRAM);
  writeFileSync(join(folder, 'main.cts'), PROGRAM);
  const config = {
    compilerOptions: {
      target: 'es2022',
      lib: ['es2022', 'dom'],
      strict: true,
      exactOptionalPropertyTypes: true,
      noEmit: true,
      skipLibCheck: false,
      types: [],
      ...options,
    },
    files: ['main.mts', 'main.cts'],
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
  const script = join(compiler, 'bin', 'tsc');
  const ran = spawnSync(process.execPath, [existing(script), '-p', folder], { encoding: 'utf8' });
  return ran.stdout + ran.stderr;
}

/** The script of a package: the older one has no ending. */
function existing(script: string): string {
  const { bin } = JSON.parse(readFileSync(join(dirname(dirname(script)), 'package.json'), 'utf8')) as {
    bin: { tsc: string };
  };
  return join(dirname(dirname(script)), bin.tsc);
}

test.each([
  ['test/judges/node_modules/typescript-5.2', 'nodenext'],
  ['test/judges/node_modules/typescript-5.2', 'bundler'],
  ['node_modules/typescript', 'nodenext'],
  ['node_modules/typescript', 'bundler'],
])('%s, moduleResolution %s', (compiler, moduleResolution) => {
  const module = moduleResolution === 'nodenext' ? 'nodenext' : 'es2022';
  expect(errorsOf(compiler, { module, moduleResolution })).toBe('');
});

test('positions are lat and lng in all declarations of the entries', () => {
  const seen = new Set<string>();
  const visit = (file: string): void => {
    if (seen.has(file)) return;
    seen.add(file);
    const text = readFileSync(file, 'utf8');
    for (const [, to] of text.matchAll(/from ['"](\.[^'"]+)['"]/g))
      visit(join(dirname(file), to!.replace(/\.js$/, '.d.ts')));
    const code = text.replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, '');
    expect([file, code.match(/\b(lat|lng)Deg\b|latLngDeg|LatLngDeg/g)]).toEqual([file, null]);
  };
  for (const entry of ['library/hexcodes', 'geometry', 'client/node', 'client/web'])
    visit(`src/hexcodes/dist/${entry}.d.ts`);
  expect(seen.size).toBeGreaterThan(15);
});
