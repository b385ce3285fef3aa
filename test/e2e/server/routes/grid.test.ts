// The grid as tiles, on the real server: both forms, which of them, what is refused, and how it is counted.
import { VectorTile } from '@mapbox/vector-tile';
import { PbfReader } from 'pbf';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { codesIn } from '#dist/server/grid/tile.js';
import { Hexcodes } from '#hexcodes';
import { cellCollection } from '#hexcodes/geometry';
import { call } from '../../../support/http-calls.js';
import { scrape, sumOf } from '../../../support/metrics.js';
import { startServer, type TestServer } from '../../../support/server.js';
import { shippedFiles } from '../../../support/shipped.js';

const TILE = '/v1/grid/12/3252/1803';
const MVT = 'application/vnd.mapbox-vector-tile';
const JSON_TYPE = 'application/json';

let server: TestServer;
let codes: string[];
let library: Hexcodes;
beforeAll(async () => {
  server = await startServer({}, shippedFiles());
  library = await Hexcodes.load();
  codes = codesIn(library, { zoom: 12, x: 3252, y: 1803 });
});
afterAll(() => server.stop());

async function tile(
  path: string,
  accept?: string,
): Promise<{ status: number; type: string | null; bytes: Uint8Array }> {
  const headers = { 'X-API-Key': server.key, ...(accept === undefined ? {} : { Accept: accept }) };
  const answer = await fetch(`${server.base}${path}`, { headers });
  return {
    status: answer.status,
    type: answer.headers.get('content-type'),
    bytes: new Uint8Array(await answer.arrayBuffer()),
  };
}

test('GeoJSON: the cells of the tile', async () => {
  const { status, text } = await call(server, TILE);
  expect(status).toBe(200);
  expect(codes.length).toBeGreaterThan(50);
  const { features } = cellCollection(library, codes);
  expect(JSON.parse(text)).toEqual({ type: 'FeatureCollection', status: 'OK', resolution: 8, features });
});

test('a vector tile: the same cells', async () => {
  const { status, type, bytes } = await tile(`${TILE}.mvt`);
  expect([status, type]).toEqual([200, MVT]);
  const layer = new VectorTile(new PbfReader(bytes)).layers.grid!;
  const found = Array.from({ length: layer.length }, (_, i) => layer.feature(i).properties.hexcodes);
  expect(found).toEqual(codes);
});

test.each([
  ['', '*/*', JSON_TYPE],
  ['', MVT, MVT],
  ['', `${JSON_TYPE};q=0.5, ${MVT}`, MVT],
  ['', 'application/*', JSON_TYPE],
  ['.geojson', '*/*', JSON_TYPE],
  ['.mvt', '*/*', MVT],
  ['.mvt', `${MVT}, ${JSON_TYPE}`, MVT],
  // Generated clients name the type of errors alone.
  ['.mvt', JSON_TYPE, MVT],
])('%j with Accept %j is %s', async (ending, accept, due) => {
  const { status, type, bytes } = await tile(`${TILE}${ending}`, accept);
  expect([status, type, bytes.length > 1000]).toEqual([200, due, true]);
});

test.each([
  ['', 'text/html'],
  ['.geojson', MVT],
])('%j with Accept %j is 406', async (ending, accept) => {
  const { status, bytes } = await tile(`${TILE}${ending}`, accept);
  expect([status, JSON.parse(Buffer.from(bytes).toString()).message]).toEqual([
    406,
    expect.stringContaining('which the Accept header refuses'),
  ]);
});

test.each([
  ['/v1/grid/23/0/0', ['z'], 'z must be an integer from 0 to 22'],
  ['/v1/grid/12/4096/4096.mvt', ['x', 'y'], 'from 0 to 4095 at zoom 12'],
  ['/v1/grid/12/x/%20', ['x', 'y'], 'from 0 to 4095'],
  [`${TILE}.png`, ['y'], 'y may end in .mvt or .geojson'],
  [`${TILE}.`, ['y'], 'y must be an integer'],
])('%s is 400', async (path, parameters, said) => {
  const { status, text } = await call(server, path);
  expect(status).toBe(400);
  const { message, details } = JSON.parse(text);
  expect(message).toContain(said);
  expect(details.map(({ parameter }: { parameter: string }) => parameter)).toEqual(parameters);
});

test.each(['/v1/grid', '/v1/grid/12', '/v1/grid/12/3252', `${TILE}/0`, `${TILE}/`])(
  '%s is 404',
  async (path) => {
    expect((await call(server, path)).status).toBe(404);
  },
);

test('a tile far away has no cells: an empty collection, no bytes', async () => {
  const { status, text } = await call(server, '/v1/grid/12/2074/1409');
  expect([status, JSON.parse(text)]).toEqual([
    200,
    { type: 'FeatureCollection', status: 'OK', resolution: 8, features: [] },
  ]);
  const vector = await tile('/v1/grid/12/2074/1409.mvt');
  expect([vector.status, vector.type, vector.bytes.length]).toEqual([200, MVT, 0]);
});

test('each form has a tag of its own, and is not sent again to who has it', async () => {
  const headersOf = async (path: string, headers: Record<string, string> = {}) => {
    const answer = await call(server, path, { headers });
    const named = (name: string) => answer.headers.get(name);
    return [answer.status, named('etag'), named('cache-control'), named('vary')];
  };
  const [, jsonTag] = await headersOf(TILE);
  const [, vectorTag] = await headersOf(TILE, { Accept: MVT });
  expect(jsonTag).not.toBe(vectorTag);
  for (const [path, tag] of [
    [TILE, jsonTag],
    [`${TILE}.mvt`, vectorTag],
  ] as [string, string][]) {
    const kept = ['private, max-age=3600', 'Accept, X-API-Key'];
    expect(await headersOf(path)).toEqual([200, tag, ...kept]);
    expect(await headersOf(path, { 'If-None-Match': tag })).toEqual([304, tag, ...kept]);
  }
  expect((await headersOf(`${TILE}.mvt`, { 'If-None-Match': jsonTag as string }))[0]).toBe(200);
  const inUrl = await call(server, `${TILE}?apikey=${server.key}`, {}, '');
  expect([inUrl.status, inUrl.headers.get('cache-control'), inUrl.headers.get('etag')]).toEqual([
    200,
    'private, no-store',
    null,
  ]);
});

test('it needs a key and a point for each code, is a look-up in usage, and stands under its pattern in the metrics', async () => {
  expect((await call(server, TILE, {}, '')).status).toBe(401);
  expect((await call(server, TILE, { method: 'POST' })).status).toBe(405);
  const usage = async () => JSON.parse((await call(server, '/v1/usage')).text).day;
  const labels = { route: '/v1/grid/:z/:x/:y', method: 'GET', status: '200' };
  const counted = async (): Promise<number> =>
    sumOf((await scrape(server.adminPort)).metrics, 'hexcodes_http_requests_total', labels);
  const [before, countBefore] = [await usage(), await counted()];
  await call(server, `${TILE}.mvt`);
  const codes = JSON.parse((await call(server, `${TILE}.geojson`)).text).features.length;
  const after = await usage();
  // Both forms of the tile, and the question for usage before them.
  expect([after.requests - before.requests, after.points - before.points]).toEqual([3, 2 * codes]);
  expect(await counted()).toBe(countBefore + 2);
});
