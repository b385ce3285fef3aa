// Declarations of systems of coordinates, in every notation that GDAL writes, judged by GDAL.
import { describe, expect, test } from 'vitest';
import { otherSystem } from '#dist/hexcodes/wire/rows/coordinate-system.js';
import { parsePosition } from '#dist/hexcodes/wire/rows/position-text.js';
import { shapeInText } from '#dist/tables/shapes/shape-text.js';
import { gdal, gdalNote, hasGdal } from '../../../support/gdal.js';

/** WGS 84, and systems with its name, its datum, its ellipsoid or its unit in them. */
const CODES = [
  4326, 4979, 9055, 4756, 3405, 3406, 5897, 9210, 32648, 3857, 4978, 4269, 4258, 4490, 4807, 4322, 4760,
];
const TEXTS = [
  '+proj=longlat +ellps=WGS84 +no_defs',
  '+proj=longlat +ellps=WGS84 +towgs84=-192.873,-39.382,-111.202,0.00205,0.0005,-0.00335,0.0188 +no_defs',
  '+proj=longlat +datum=WGS84 +pm=paris +no_defs',
  '+proj=utm +zone=48 +datum=WGS84 +units=m +no_defs',
  '+proj=tmerc +lat_0=0 +lon_0=105 +k=0.9999 +x_0=500000 +y_0=0 +datum=WGS84 +units=m',
  'GEOGCS["WGS 84",DATUM["WGS_1984",SPHEROID["WGS 84",6378137,298.257223563],TOWGS84[1,2,3,0,0,0,0]],PRIMEM["Greenwich",0],UNIT["degree",0.0174532925199433]]',
  'GEOGCS["WGS 84",DATUM["WGS_1984",SPHEROID["WGS 84",6378137,298.257223563]],PRIMEM["Paris",2.33722917],UNIT["degree",0.0174532925199433]]',
  'GEOGCS["WGS 84",DATUM["WGS_1984",SPHEROID["WGS 84",6378137,298.257223563]],PRIMEM["Greenwich",0],UNIT["grad",0.015707963267949]]',
];
const JUDGE = `
wgs = osr.SpatialReference(); wgs.ImportFromEPSG(4326)
wgs.SetAxisMappingStrategy(osr.OAMS_TRADITIONAL_GIS_ORDER)
def metres(s):
    s.SetAxisMappingStrategy(osr.OAMS_TRADITIONAL_GIS_ORDER)
    if not s.IsGeographic(): return 1e9
    try:
        x, y, _ = osr.CoordinateTransformation(s, wgs).TransformPoint(105.8525, 21.0288, 0)
    except Exception: return 1e9
    return 111000 * max(abs(x - 105.8525), abs(y - 21.0288))
def written(s):
    yield s.ExportToWkt(['FORMAT=WKT1_GDAL'])
    for form in ('WKT1_ESRI', 'WKT2_2015', 'WKT2_2019'):
        try: yield s.ExportToWkt(['FORMAT=' + form, 'MULTILINE=YES'])
        except Exception: pass
    yield s.ExportToPROJJSON()
found = []
for each in json.load(sys.stdin):
    s = osr.SpatialReference(); s.SetFromUserInput(each)
    for text in filter(None, [each, *written(s)]):
        again = osr.SpatialReference()
        try: again.SetFromUserInput(text)
        except Exception: continue
        found.append([text, metres(again)])
print(json.dumps(found))`;

test.skipIf(!hasGdal)(`what GDAL moves is another system, and WGS 84 passes${gdalNote}`, () => {
  const inputs = [
    ...CODES.map((code) => `EPSG:${code}`),
    ...[4326, 4756].flatMap((code) => [
      `urn:ogc:def:crs:EPSG::${code}`,
      `http://www.opengis.net/def/crs/EPSG/0/${code}`,
    ]),
    ...[
      'OGC:CRS84',
      'urn:ogc:def:crs:OGC:1.3:CRS84',
      'http://www.opengis.net/def/crs/OGC/1.3/CRS84',
      'WGS84',
    ],
    ...['EPSG:4326+5773', 'EPSG:4756+5773', 'ESRI:104100', ...TEXTS],
  ];
  const judged = gdal(JUDGE, [], JSON.stringify(inputs)) as [string, number][];
  // Some 2 m that GDAL leaves to ensembles (4322, 4490) are no WGS 84 by name, and may be refused.
  const wrong = judged.filter(([text, metres]) => otherSystem(text) === null && metres > 0.01);
  expect(wrong).toEqual([]);
  const accepted = judged.filter(([text]) => otherSystem(text) === null);
  expect(accepted.length).toBeGreaterThan(20);
  // Each notation of the two systems themselves.
  const own = judged.filter(
    ([text, metres]) =>
      metres < 0.01 &&
      !/BOUNDCRS|BoundCRS|TOWGS84|Unknown|\+5773/.test(text) &&
      /WGS[ _]84|CRS84|4326|4979/.test(text.slice(0, 80)),
  );
  expect(own.filter(([text]) => otherSystem(text) !== null).map(([text]) => text)).toEqual([]);
});

describe('members and numbers', () => {
  const named = (name: string) => ({ type: 'name', properties: { name } });
  test.each([
    [undefined, null],
    [null, null],
    ['', null],
    [0, null],
    [-1, null],
    [4326, null],
    [4979, null],
    ['4326', null],
    ['srid:4326', null],
    [named('urn:ogc:def:crs:OGC::CRS84'), null],
    [{ type: 'EPSG', properties: { code: 4326 } }, null],
    [{ type: 'OGC', properties: { urn: 'urn:ogc:def:crs:OGC:1.3:CRS84' } }, null],
    [{ type: 'link', properties: { href: 'http://spatialreference.org/ref/epsg/4326/proj4/' } }, null],
    [4756, 'EPSG:4756'],
    [99_999, 'EPSG:99999'],
    ['srid:4756', 'EPSG:4756'],
    ['ESRI:4326', 'ESRI:4326'],
    ['14326', 'EPSG:14326'],
    [named('EPSG:3405'), 'EPSG:3405'],
    [named('http://x/4326'), 'http://x/4326'],
    [{ type: 'link', properties: { href: 'http://spatialreference.org/ref/epsg/3405/' } }, 'EPSG:3405'],
    [{ type: 'name', properties: {} }, 'one without a name'],
    [
      { type: 'GeographicCRS', name: 'VN-2000', id: { authority: 'EPSG', code: 4756 } },
      'EPSG:4756 (VN-2000)',
    ],
    ['projjson:nowhere', 'PROJJSON:NOWHERE'],
    ['GEOGCS["WGS 84"', 'GEOGCS["WGS 84"'],
  ])('%j', (declared, called) => {
    expect(otherSystem(declared)?.called ?? null).toBe(called);
  });

  test('nesting and length are bounded', () => {
    const deep = { type: 'CompoundCRS', components: [] as unknown[] };
    let at = deep;
    for (let i = 0; i < 10_000; i++) {
      const next = { type: 'CompoundCRS', components: [] as unknown[] };
      at.components.push(next);
      at = next;
    }
    expect(otherSystem(deep)).not.toBeNull();
    for (const text of [
      'A['.repeat(200_000),
      `A[${'"'.repeat(200_001)}`,
      '+'.repeat(200_000),
      ' '.repeat(400_000),
    ])
      expect(() => otherSystem(text)).not.toThrow();
  });
});

test('points in EWKT and EWKB pass the same judge, by themselves and in columns', () => {
  const codes = [0, 4326, 4979, 9053, 9054, 9055, 9056, 9057, 9755, ...CODES];
  const judged = codes.map((code) => {
    const ewkb = Buffer.alloc(25);
    ewkb.writeUInt8(1);
    ewkb.writeUInt32LE(0x2000_0001, 1);
    ewkb.writeUInt32LE(code, 5);
    ewkb.writeDoubleLE(105.8525, 9);
    ewkb.writeDoubleLE(21.0288, 17);
    const texts = [`SRID=${code};POINT(105.8525 21.0288)`, ewkb.toString('hex')];
    return texts.flatMap((text) => [parsePosition(text) !== null, shapeInText(text) !== null]);
  });
  expect(judged).toEqual(codes.map((code) => Array(4).fill(otherSystem(code) === null)));
});
