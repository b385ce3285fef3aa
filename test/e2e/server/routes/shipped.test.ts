// With the boundaries that ship: GET /v1/reverse as products with a setting for a Nominatim server ask, the grid as
// tiles, and one answer for every HTTP client.

import { execFile } from 'node:child_process';
import { get as nodeGet } from 'node:http';
import { promisify } from 'node:util';
import { VectorTile } from '@mapbox/vector-tile';
import { cellToBoundary, cellToLatLng, getResolution, latLngToCell } from 'h3-js';
import { PbfReader } from 'pbf';
import { request as undiciRequest } from 'undici';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { ADMIN_UNITS, Hexcodes } from '#hexcodes';
import { boundary, cellCollection } from '#hexcodes/geometry';
import { call, expectError } from '../../../support/http-calls.js';
import { scrape, sumOf } from '../../../support/metrics.js';
import { randomFrom } from '../../../support/open-world.js';
import { startServer } from '../../../support/server.js';
import { sharedServer } from '../../../support/shared.js';
import { shippedFiles } from '../../../support/shipped.js';
import { rowsOf } from '../../../support/vectors.js';

const server = sharedServer({}, shippedFiles());

describe('reverse', () => {
  const OWN_KEY = 'PlainSecret0123456789abcdef';

  const DECODER = 'PlainSecret9876543210zyxwvu';

  const library = Hexcodes.from(shippedFiles());

  const apiKeys = [
    { name: 'own', secret: OWN_KEY },
    { name: 'other', secret: DECODER },
  ];
  const server = sharedServer({ apiKeys }, shippedFiles());

  const reverse = (query: string, key = OWN_KEY) => call(server, `/v1/reverse?${query}`, {}, key);

  test('the request of Traccar, with its key in the query, for every place of the fixtures', async () => {
    const places = rowsOf('places').filter(({ admin_code }) => admin_code !== '-');
    expect(places.length).toBeGreaterThan(100);
    for (const place of places) {
      // Traccar writes six decimals.
      const [lat, lng] = [Number(place.lat).toFixed(6), Number(place.lng).toFixed(6)];
      const query = `format=json&lat=${lat}&lon=${lng}&zoom=18&addressdetails=1&key=${OWN_KEY}&accept-language=vi`;
      const { status, headers, body } = await reverse(query, '');
      expect(status).toBe(200);
      expect(headers.get('cache-control')).toBe('private, no-store');
      const { hexcodes, admin_code } = library.encode(Number(lat), Number(lng));
      const centre = library.decode(hexcodes)!;
      const state = ADMIN_UNITS.find(({ code }) => code === place.admin_code)!.name;
      const corners = boundary(library, hexcodes);
      const [south, north, west, east] = body.boundingbox.map(Number);
      expect(corners.every(([y, x]) => y >= south && y <= north && x >= west && x <= east)).toBe(true);
      expect(corners.map(([y]) => y)).toEqual(expect.arrayContaining([south, north]));
      expect(corners.map(([, x]) => x)).toEqual(expect.arrayContaining([west, east]));
      delete body.boundingbox;
      expect(body).toEqual({
        licence: 'Contains information from OpenStreetMap, © OpenStreetMap contributors, ODbL 1.0',
        lat: String(centre.lat),
        lon: String(centre.lng),
        name: hexcodes,
        display_name: `${hexcodes}, ${state}, Việt Nam`,
        address: { state, country: 'Việt Nam', country_code: 'vn' },
        hexcodes,
        resolution: 13,
        admin_code: place.admin_code,
        status: 'OK',
      });
      expect(admin_code).toBe(place.admin_code);
    }
  });

  test('jsonv2, no format, a resolution, no address; HEAD', async () => {
    const point = 'lat=21.0288&lon=105.8525';
    const plain = await reverse(`${point}&format=json`);
    expect((await reverse(`${point}&format=jsonv2`)).text).toBe(plain.text);
    expect((await reverse(point)).text).toBe(plain.text);
    expect((await reverse(`${point}&resolution=9`)).body).toMatchObject({
      hexcodes: 'HN-6GHP4-7QQ',
      resolution: 9,
    });
    const { address, ...rest } = plain.body;
    expect((await reverse(`${point}&addressdetails=0`)).body).toEqual(rest);
    expect(address.state).toBe('Hà Nội');
    const head = await call(server, `/v1/reverse?${point}`, { method: 'HEAD' }, OWN_KEY);
    expect(head.headers.get('content-length')).toBe(String(Buffer.byteLength(plain.text)));
  });

  test('outside of Viet Nam the answer is that of Nominatim', async () => {
    for (const point of ['lat=48.8584&lon=2.2945', 'lat=0&lon=0', 'lat=-90&lon=180']) {
      const answer = await reverse(`format=json&${point}`);
      expect([answer.status, answer.text]).toEqual([200, '{"error":"Unable to geocode"}']);
    }
  });

  test('faults are named, all of them, and exchanged degrees are noticed', async () => {
    expectError(await reverse('lat=x&resolution=16&format=xml&addressdetails=2'), 400, 'INVALID_REQUEST', [
      'lat',
      'lon',
      'resolution',
      'format',
      'addressdetails',
    ]);
    expectError(await reverse('lat=21&lat=22&lon=105'), 400, 'INVALID_REQUEST', ['lat']);
    expectError(await reverse('lat=%zz&lon=105'), 400, 'INVALID_REQUEST', ['lat']);
    expectError(
      await call(server, '/v1/reverse?lat=1&lon=2', { headers: { Accept: 'text/xml' } }, OWN_KEY),
      406,
      'INVALID_REQUEST',
    );
  });

  test('the parameter key is a key here and nowhere else; two keys are 400', async () => {
    const point = 'lat=21.0288&lon=105.8525';
    expectError(await reverse(point, ''), 401, 'REQUEST_DENIED');
    expectError(await reverse(`${point}&key=`, ''), 401, 'REQUEST_DENIED');
    expectError(await reverse(`${point}&key=%zz`, ''), 401, 'REQUEST_DENIED');
    expectError(await reverse(`${point}&key=nobody`, ''), 401, 'REQUEST_DENIED');
    expect((await reverse(`${point}&apikey=${OWN_KEY}`, '')).status).toBe(200);
    expect((await reverse(`${point}&key=${OWN_KEY}&apikey=${OWN_KEY}`)).status).toBe(200);
    for (const two of [`key=${DECODER}`, `key=${OWN_KEY}&key=b`, `apikey=${OWN_KEY}&key=b`])
      expectError(await reverse(`${point}&${two}`), 400, 'INVALID_REQUEST', ['apikey']);
    const wrongWay = await call(server, `/v1/reverse?key=${OWN_KEY}`, { method: 'DELETE' }, '');
    expectError(wrongWay, 405, 'INVALID_REQUEST');
    expect(wrongWay.headers.get('cache-control')).toBe('private, no-store');
    const elsewhere = `/v1/hexcodes/encode?lat=21&lng=105&key=${OWN_KEY}`;
    expectError(await call(server, elsewhere, {}, ''), 401, 'REQUEST_DENIED');
    expect((await call(server, elsewhere, {}, DECODER)).status).toBe(200);
  });

  test('each call is one point of the key, an encode, and a request of the route in the metrics', async () => {
    const other = await startServer({ apiKeys: [{ name: 'own', secret: OWN_KEY }] }, shippedFiles());
    onTestFinished(() => other.stop());

    const ask = (query: string) => call(other, `/v1/reverse?${query}`, {}, OWN_KEY);
    await ask('lat=21.0288&lon=105.8525');
    await ask('lat=0&lon=0');
    await ask('lat=x');
    const usage = await call(other, '/v1/usage', {}, OWN_KEY);
    expect(usage.body.day).toMatchObject({ requests: 3, points: 2 });
    const { text } = await scrape(other.adminPort);
    expect(text).toMatch(/hexcodes_http_requests_total\{[^}]*route="\/v1\/reverse"[^}]*\} 2/);
  });
});

const library = await Hexcodes.load();

describe('the grid', () => {
  const TILE = '/v1/grid/12/3252/1803';

  const MVT = 'application/vnd.mapbox-vector-tile';

  const JSON_TYPE = 'application/json';

  interface Feature {
    readonly properties: { readonly hexcodes: string };
  }

  let codes: string[];

  beforeAll(async () => {
    const { text } = await call(server, TILE);
    codes = JSON.parse(text).features.map(({ properties }: Feature) => properties.hexcodes);
  });

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
    expect(codes).toContain(library.encode(21.0, 105.86, 8).hexcodes);
    const { features } = cellCollection(library, codes);
    expect(JSON.parse(text)).toEqual({ type: 'FeatureCollection', status: 'OK', resolution: 8, features });
  });

  /** Where a position is in a tile: 0 to 1 from its west and from its north. */
  const inTile = (zoom: number, x: number, y: number, lngDeg: number, latDeg: number): [number, number] => [
    ((lngDeg + 180) / 360) * 2 ** zoom - x,
    ((1 - Math.asinh(Math.tan((latDeg * Math.PI) / 180)) / Math.PI) / 2) * 2 ** zoom - y,
  ];
  const tileAt = (zoom: number, lngDeg: number, latDeg: number) =>
    inTile(zoom, 0, 0, lngDeg, latDeg).map(Math.floor) as [number, number];
  const ZOOMS = [0, 4, 7, 10, 12, 14, 16, 19, 22];

  test.each(ZOOMS)(
    'zoom %i: each cell with a code that has a position in a tile is one of its cells',
    async (zoom) => {
      const random = randomFrom(200 + zoom);
      const hasCode = (cell: string): boolean =>
        [cellToLatLng(cell), ...cellToBoundary(cell)].some(([latDeg, lngDeg]) => {
          const admin = library.adminCodeOf(latDeg!, lngDeg!);
          return admin !== null && library.pack(BigInt(`0x${cell}`), admin) !== null;
        });
      for (let tiles = 0; tiles < 12; ) {
        const [latDeg, lngDeg] = [8 + 15.5 * random(), 102 + 8 * random()];
        if (library.adminCodeOf(latDeg, lngDeg) === null) continue;
        tiles++;
        const [x, y] = tileAt(zoom, lngDeg, latDeg);
        const { resolution, features } = JSON.parse((await call(server, `/v1/grid/${zoom}/${x}/${y}`)).text);
        const cells = features.map(({ properties }: Feature) =>
          library.read(properties.hexcodes)!.cell.toString(16),
        );
        // As docs/http.md promises.
        expect(cells.length).toBeLessThanOrEqual(256);
        expect(new Set(cells).size).toBe(cells.length);
        for (const cell of cells) expect(getResolution(cell)).toBe(resolution);
        for (let n = 0; n < 30; n++) {
          const lng = ((x + random()) / 2 ** zoom) * 360 - 180;
          const lat =
            (Math.atan(Math.sinh(Math.PI * (1 - (2 * (y + random())) / 2 ** zoom))) * 180) / Math.PI;
          const cell = latLngToCell(lat, lng, resolution);
          if (hasCode(cell)) expect([zoom, lat, lng, cells.includes(cell)]).toEqual([zoom, lat, lng, true]);
        }
      }
    },
  );

  test.each(ZOOMS)('zoom %i as a vector tile: codes, and corners to a step', async (zoom) => {
    const [x, y] = tileAt(zoom, 105.8525, 21.0288);
    const path = `/v1/grid/${zoom}/${x}/${y}`;
    const { features } = JSON.parse((await call(server, path)).text);
    const { status, type, bytes } = await tile(`${path}.mvt`);
    expect([status, type]).toEqual([200, MVT]);
    const { layers } = new VectorTile(new PbfReader(bytes));
    expect(Object.keys(layers)).toEqual(['grid']);
    const layer = layers.grid!;
    expect([layer.version, layer.extent, layer.length]).toEqual([2, 4096, features.length]);
    for (const [i, { properties, geometry }] of features.entries()) {
      const feature = layer.feature(i);
      expect([feature.type, feature.properties]).toEqual([3, properties]);
      const [ring, ...holes] = feature.loadGeometry();
      expect(holes).toEqual([]);
      const corners: [number, number][] = geometry.coordinates[0].toReversed();
      expect(ring!.length).toBe(corners.length);
      ring!.forEach((corner, at) => {
        const [right, down] = inTile(zoom, x, y, ...corners[at]!);
        expect(Math.abs(corner.x - right * 4096)).toBeLessThanOrEqual(0.5);
        expect(Math.abs(corner.y - down * 4096)).toBeLessThanOrEqual(0.5);
      });
      // Outer rings have a positive area, with y growing downwards.
      const area = ring!.reduce((sum, corner, at) => {
        const next = ring![(at + 1) % ring!.length]!;
        return sum + corner.x * next.y - next.x * corner.y;
      }, 0);
      expect(area).toBeGreaterThan(0);
    }
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
    expect([status, JSON.parse(Buffer.from(bytes).toString()).status]).toEqual([406, 'INVALID_REQUEST']);
  });

  test.each([
    ['/v1/grid/23/0/0', ['z']],
    ['/v1/grid/12/4096/4096.mvt', ['x', 'y']],
    ['/v1/grid/12/x/%20', ['x', 'y']],
    ['/v1/grid/01/0/0', ['z']],
    ['/v1/grid/1e1/0/0', ['z']],
    ['/v1/grid/1.0/0/0', ['z']],
    ['/v1/grid/1/2/0', ['x']],
    ['/v1/grid/12/00/-1', ['x', 'y']],
    [`${TILE}.png`, ['y']],
    [`${TILE}.`, ['y']],
  ])('%s is 400', async (path, parameters) => {
    const { status, text } = await call(server, path);
    expect(status).toBe(400);
    const { details } = JSON.parse(text);
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
      const kept = ['private, max-age=3600', 'Accept, Authorization, Hexcodes-Data, X-API-Key'];
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
});

describe('HTTP clients', () => {
  const run = promisify(execFile);

  async function found(command: string): Promise<boolean> {
    return run(command, ['--version']).then(
      () => true,
      () => false,
    );
  }

  test('curl, undici, node:http and Python’s http.client get the answer that fetch gets', async () => {
    const path = `/v1/hexcodes/encode?lat=21.0288&lng=105.8525&apikey=${server.key}`;
    const wanted = await (await fetch(server.base + path)).text();
    expect(JSON.parse(wanted)).toMatchObject({ hexcodes: 'HN-6GHP4-83RFR', status: 'OK' });

    expect(await (await undiciRequest(server.base + path, { method: 'POST' })).body.text()).toBe(wanted);
    const byNode = await new Promise((resolve, reject) => {
      nodeGet(server.base + path, (answer) => {
        let text = '';
        answer.on('data', (bytes) => {
          text += bytes;
        });
        answer.on('end', () => resolve(text));
      }).on('error', reject);
    });
    expect(byNode).toBe(wanted);
    if (await found('curl')) {
      expect((await run('curl', ['-s', '-X', 'POST', server.base + path])).stdout).toBe(wanted);
      const json = ['-H', 'Content-Type: application/json', '-d', '{"lat":21.0288,"lng":105.8525}'];
      const { stdout } = await run('curl', [
        '-s',
        ...json,
        `${server.base}/v1/hexcodes/encode?apikey=${server.key}`,
      ]);
      expect(stdout).toBe(wanted);
    }
    if (await found('python3')) {
      const script = `
import http.client, sys
c = http.client.HTTPConnection("127.0.0.1", ${server.port})
for method in ("GET", "POST"):
    c.request(method, sys.argv[1])
    print(c.getresponse().read().decode())`;
      const { stdout } = await run('python3', ['-c', script, path]);
      expect(stdout.trim().split('\n')).toEqual([wanted, wanted]);
    }
  });
});
