// Zones of the page: outlines, names, files, and their column in a table.

import { describe, expect, test } from 'vitest';
import type * as Column from '../../../src/console/file/zone-column.js';
import type * as Import from '../../../src/console/zones/import-zones.js';
import type * as Kept from '../../../src/console/zones/kept-zones.js';
import type * as Zones from '../../../src/console/zones/zone.js';
import { consoleModule } from '../../support/console-module.js';

// Zones drawn by hand: what is an outline, what is a name, the file of areas, and what a storage may hold.
describe('outlines and storage', async () => {
  // The page's storage tells of other tabs.
  (globalThis as { addEventListener?: unknown }).addEventListener ??= () => {};
  const { cornerAt, faultOf, geoJsonOf, MAX_CORNERS, MAX_ZONES, ringOf, tidyName, uniqueName } =
    await consoleModule<typeof Zones>('zones/zone.ts');
  const { readKept } = await consoleModule<typeof Kept>('zones/kept-zones.ts');

  const SQUARE = [
    [105.84, 21.02],
    [105.86, 21.02],
    [105.86, 21.04],
    [105.84, 21.04],
  ] as const;
  const turned = [...SQUARE].reverse();

  test('an outline has three corners, an area, and sides that do not meet', () => {
    expect(faultOf([])).toBe('zoneTooFew');
    expect(faultOf(SQUARE.slice(0, 2))).toBe('zoneTooFew');
    expect(faultOf(SQUARE)).toBeUndefined();
    expect(faultOf(turned)).toBeUndefined();
    const [a, b, c, d] = SQUARE;
    expect(faultOf([a, c, b, d])).toBe('zoneCrosses');
    // There and back on one line; a corner on a side; the first corner once more.
    expect(faultOf([a, b, [105.85, 21.02]])).toBe('zoneCrosses');
    expect(faultOf([a, b, c, [105.85, 21.02], d])).toBe('zoneCrosses');
    expect(faultOf([a, b, c, a, d])).toBe('zoneCrosses');
    expect(faultOf([a, a, a])).not.toBeUndefined();
    // On one line all the way.
    expect(faultOf([a, [105.85, 21.02], b])).toBe('zoneCrosses');
    const round = Array.from({ length: MAX_CORNERS }, (_, i) =>
      cornerAt(
        21 + Math.sin((i / MAX_CORNERS) * 2 * Math.PI) / 10,
        105 + Math.cos((i / MAX_CORNERS) * 2 * Math.PI) / 10,
      ),
    );
    expect(faultOf(round)).toBeUndefined();
  });

  test('names are one line that no spreadsheet computes', () => {
    expect(tidyName('  Hoàn \n Kiếm ')).toBe('Hoàn Kiếm');
    expect(tidyName('=HYPERLINK("http://x")')).toBe('HYPERLINK("http://x")');
    expect(tidyName('\t-+@=1')).toBe('1');
    expect(tidyName('=')).toBe('');
    expect(tidyName('a\u202eb\u0000c')).toBe('a b c');
    expect(tidyName('<img src=x>')).toBe('<img src=x>');
    expect([...tidyName('𝒙'.repeat(100))].length).toBe(60);
    expect(uniqueName('Kho', ['Kho', 'Kho 2'])).toBe('Kho 3');
    expect([...uniqueName('k'.repeat(60), ['k'.repeat(60)])].length).toBe(60);
  });

  test('the file has closed rings, counterclockwise, one feature a line', () => {
    const zones = [
      { id: 'a', name: 'Kho "A"', corners: SQUARE },
      { id: 'b', name: 'B', corners: turned },
    ];
    const text = geoJsonOf(zones);
    expect(text.split('\n').length).toBe(5);
    const { features } = JSON.parse(text);
    expect(features.map((each: { properties: object }) => each.properties)).toEqual([
      { name: 'Kho "A"' },
      { name: 'B' },
    ]);
    const [ring] = features[0].geometry.coordinates;
    expect([ring.length, ring[0]]).toEqual([5, ring[4]]);
    expect(ring).toEqual([...SQUARE, SQUARE[0]]);
    expect(ringOf({ corners: turned })).toEqual([turned[3], turned[2], turned[1], turned[0], turned[3]]);
  });

  test('areas of GeoJSON become zones; one that cannot is named with its reason', async () => {
    const { importedZones } = await consoleModule<typeof Import>('zones/import-zones.ts');
    const ring = [...SQUARE, SQUARE[0]];
    const feature = (properties: object | null, geometry: object | null, more: object = {}) => ({
      type: 'Feature',
      properties,
      geometry,
      ...more,
    });
    const polygon = (...rings: unknown[]) => ({ type: 'Polygon', coordinates: rings });
    const moved = ring.map(([lng, lat]) => [lng + 1, lat, 12.5]);
    const collection = {
      type: 'FeatureCollection',
      features: [
        feature({ name: 'Kho A' }, polygon(ring)),
        feature({ ten: '=2+2' }, { type: 'MultiPolygon', coordinates: [[ring], [moved]] }),
        feature(null, polygon(turned)),
        feature({ name: 'Đảo' }, polygon(ring, moved)),
        feature({ name: 'Điểm' }, { type: 'Point', coordinates: [105, 21] }),
        feature({ name: 'Chéo' }, polygon([SQUARE[0], SQUARE[2], SQUARE[1], SQUARE[3], SQUARE[0]])),
        feature({ name: 'Mét' }, polygon(ring.map(([lng, lat]) => [lng * 5000, lat * 1e5]))),
        feature({ name: 'Hệ khác' }, polygon(ring), {
          crs: { type: 'name', properties: { name: 'EPSG:3405' } },
        }),
      ],
    };
    const found = importedZones(JSON.stringify(collection), ['Kho A'], (zone) => `Zone ${zone}`)!;
    expect(found.zones.map(({ name }) => name)).toEqual(['Kho A 2', '2+2', '2+2 2', 'Zone 5']);
    expect(found.zones[0]!.corners).toEqual(SQUARE);
    expect(found.zones[3]!.corners).toEqual(turned);
    expect(found.refused).toEqual([
      { name: 'Đảo', reason: 'zoneHoles' },
      { name: 'Điểm', reason: 'zoneNoArea' },
      { name: 'Chéo', reason: 'zoneCrosses' },
      { name: 'Mét', reason: 'zoneOtherSystem' },
      { name: 'Hệ khác', reason: 'zoneOtherSystem' },
    ]);
    const numbered = JSON.stringify(feature({ id: 7 }, polygon(ring))).replace('7', '12345678901234567890');
    expect(importedZones(numbered, [], String)!.zones[0]!.name).toBe('12345678901234567890');
    // Its own file comes back as it was, and no more than there may be.
    const own = found.zones.map((zone, i) => ({ ...zone, id: String(i) }));
    const again = importedZones(geoJsonOf(own), [], String)!;
    expect(again.zones.map(({ name }) => name)).toEqual(own.map(({ name }) => name));
    expect(again.zones.map(ringOf)).toEqual(own.map(ringOf));
    const many = {
      type: 'FeatureCollection',
      features: Array.from({ length: 40 }, () => feature({}, polygon(ring))),
    };
    const full = importedZones(JSON.stringify(many), ['x'], String)!;
    expect([full.zones.length, full.refused.length]).toEqual([MAX_ZONES - 1, 41 - MAX_ZONES]);
    for (const none of ['', '{"type":"FeatureCollection","features":[1]}', '[]', '{"lat":1}', 'name,lat'])
      expect(importedZones(none, [], String)).toBeUndefined();
  });

  test('a storage that others have written gives whole zones alone', () => {
    const good = { id: 'a', name: 'A', corners: SQUARE };
    const kept = (zones: unknown, more: object = {}) => readKept(JSON.stringify({ zones, ...more }));
    expect(kept([good]).zones).toEqual([good]);
    for (const text of [null, '', '{', 'null', '7', '"a"', '[]', '{"zones":7}']) {
      expect(readKept(text)).toEqual({ zones: [], resolution: 9, isCompact: true });
    }
    const bad = [
      null,
      7,
      {},
      { ...good, id: 7 },
      { ...good, name: '' },
      { ...good, name: 7 },
      { ...good, corners: 'abcd' },
      { ...good, corners: SQUARE.slice(1, 3) },
      { ...good, corners: [...SQUARE, [200, 0]] },
      { ...good, corners: [...SQUARE, ['105', 21]] },
      { ...good, corners: [...SQUARE, [105]] },
      { ...good, corners: [...SQUARE, [null, null]] },
      {
        ...good,
        corners: Array.from({ length: MAX_CORNERS + 1 }, (_, i) => [105 + i / 1e4, 21 + (i * i) / 1e9]),
      },
      { ...good, corners: [SQUARE[0], SQUARE[2], SQUARE[1], SQUARE[3]] },
    ];
    for (const each of bad) expect(kept([each, good]).zones).toEqual([good]);
    // One id twice is one zone; one name twice are two.
    expect(kept([good, good]).zones).toEqual([good]);
    expect(kept([good, { ...good, id: 'b' }]).zones.map(({ name }) => name)).toEqual(['A', 'A 2']);
    const many = Array.from({ length: MAX_ZONES + 5 }, (_, i) => ({ ...good, id: String(i) }));
    expect(kept(many).zones.length).toBe(MAX_ZONES);
    expect(kept([], { resolution: 12, isCompact: false })).toMatchObject({
      resolution: 12,
      isCompact: false,
    });
    for (const resolution of [-1, 16, 9.5, '9', null]) expect(kept([], { resolution }).resolution).toBe(9);
  });
});

// The column of zones: after the last field of each row, whatever its quotes, line ends and failed rows.
describe('the column', async () => {
  const { ZoneColumn, zoneColumn } = await consoleModule<typeof Column>('file/zone-column.ts');
  const NONE = 255;

  function added(
    text: string,
    zones: number[],
    failed: [start: number, end: number][] = [],
    delimiter?: string,
  ) {
    const column = new ZoneColumn(['A', 'B, "b"'], delimiter);
    const bounds = failed.map(([answerStart, answerEnd]) => ({ answerStart, answerEnd }));
    return new TextDecoder().decode(
      column.added(new TextEncoder().encode(text), Uint8Array.from(zones), bounds),
    );
  }

  test('rows of a table', () => {
    expect(added('1,OK\n2,OK\n', [0, NONE], [], ',')).toBe('1,OK,A\n2,OK,\n');
    expect(added('1;OK\r\n', [1], [], ';')).toBe('1;OK;"B, ""b"""\r\n');
    expect(added('1\tOK\n', [1], [], '\t')).toBe('1\tOK\t"B, ""b"""\n');
    // Line ends and quotes in quoted fields; a quote inside of a field that is not quoted.
    expect(added('"a\n""b""\r\n",OK\n5" pipe,OK\n', [0, 0], [], ',')).toBe(
      '"a\n""b""\r\n",OK,A\n5" pipe,OK,A\n',
    );
    expect(added('"a"b\n', [0], [], ',')).toBe('"a"b,A\n');
  });

  test('a failed row is taken as it is, with a quote that is not closed', () => {
    const text = '1,OK\n"2,x\n3",y,INVALID_REQUEST\n4,OK\n';
    const start = text.indexOf('"2');
    const end = text.indexOf('4,OK');
    expect(added(text, [0, NONE, 1], [[start, end]], ',')).toBe(
      '1,OK,A\n"2,x\n3",y,INVALID_REQUEST,\n4,OK,"B, ""b"""\n',
    );
  });

  test('lines of JSON get a member', () => {
    expect(added('{"id":"}"}\n{"id":1}\n', [1, NONE])).toBe(
      '{"id":"}","zone":"B, \\"b\\""}\n{"id":1,"zone":null}\n',
    );
  });

  test('rows without their zone are refused, not shifted', () => {
    expect(() => added('1\n2\n', [0], [], ',')).toThrow('2 rows have 1 zones');
  });

  test('the name is one that the file has not', () => {
    expect(zoneColumn(['id', 'lat'], 'hexcodes_')).toBe('zone');
    expect(zoneColumn(['id', ' Zone '], 'hexcodes_')).toBe('hexcodes_zone');
    expect(zoneColumn(['zone', 'hexcodes_zone'], 'hexcodes_')).toBe('hexcodes_hexcodes_zone');
    const column = new ZoneColumn(['A'], ',');
    const named = column.withName(new TextEncoder().encode('id,lat\r\n'), 'zone');
    expect(new TextDecoder().decode(named)).toBe('id,lat,zone\r\n');
  });
});
