// GPX and KML as rows: points of every kind, names that are somebody else's, what is broken, in pieces of any size.
import { strToU8, zipSync } from 'fflate';
import { expect, test } from 'vitest';
import type { PointChoice } from '#dist/tables/shapes/shapes.js';
import { gpxAsCsv } from '#dist/tables/xml/gpx.js';
import { kmlAsCsv } from '#dist/tables/xml/kml.js';

async function gpx(text: string | Uint8Array, pieceBytes = 1 << 20): Promise<string[]> {
  const bytes = typeof text === 'string' ? strToU8(text) : text;
  async function* pieces() {
    for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes);
  }
  const parts: Uint8Array[] = [];
  for await (const part of gpxAsCsv(pieces())) parts.push(part);
  return Buffer.concat(parts).toString().trimEnd().split('\n');
}

const kml = (text: string | Uint8Array, choice: PointChoice | null = null): string[] => {
  const bytes = typeof text === 'string' ? strToU8(text) : text;
  return Buffer.concat([...kmlAsCsv(bytes, choice, () => undefined)])
    .toString()
    .trimEnd()
    .split('\n');
};

const GPX = `<?xml version="1.0"?><gpx xmlns="http://www.topografix.com/GPX/1/1" xmlns:t="urn:t"><metadata><name>all</name></metadata>
<wpt lat="21.0288" lon="105.8525"><ele>12.5</ele><name>Hồ &amp; Gươm</name><link href="x"><text>no</text><name>no</name></link></wpt>
<rte><name>R</name><rtept lat="10.1" lon="106.1"/></rte>
<trk><name><![CDATA[Xe <1>]]></name><trkseg><trkpt lat="16" lon="108"><time>2025-07-01T00:00:00Z</time>
<extensions><t:ext><t:speed>3.5</t:speed></t:ext></extensions></trkpt></trkseg><trkseg><trkpt lat="16.1" lon="108.1"><name>own</name></trkpt></trkseg></trk>
<trk><trkseg><trkpt lat="17" lon="107"/></trkseg></trk></gpx>`;
const ROWS = [
  'kind,name,number,segment,lat,lng,time,ele,speed,course,hdop,sat,hr,cad,sym,desc,other',
  `waypoint,Hồ & Gươm,,,21.0288,105.8525,,12.5,,,,,,,,,"{""link"":{""@href"":""x"",""text"":""no"",""name"":""no""}}"`,
  'route,R,1,,10.1,106.1,,,,,,,,,,,',
  'track,Xe <1>,1,1,16,108,2025-07-01T00:00:00Z,,3.5,,,,,,,,',
  'track,own,1,2,16.1,108.1,,,,,,,,,,,',
  'track,,2,1,17,107,,,,,,,,,,,',
];

test.each([1 << 20, 7, 1])(
  'waypoints, routes and tracks of GPX in pieces of %i bytes',
  async (pieceBytes) => {
    expect(await gpx(GPX, pieceBytes)).toEqual(ROWS);
  },
);

test('a name inside of a link is none of the point, before its own as well', async () => {
  const link = '<link href="x"><name>page</name><desc>of it</desc></link>';
  const [, row] = await gpx(`<gpx><wpt lat="21" lon="105">${link}<name>own</name></wpt></gpx>`);
  expect(row).toMatch(/^waypoint,own,,,21,105,,,,,,,,,,,"/);
});

test('GPX with prefixes, and in UTF-16', async () => {
  const prefixed = GPX.replace('<gpx xmlns=', '<gpx xmlns:g=').replace(
    /<(\/?)(gpx|wpt|rte|rtept|trk|trkseg|trkpt|name|ele|time|link)\b/g,
    '<$1g:$2',
  );
  expect(await gpx(prefixed)).toEqual(
    ROWS.map((row) => row.replace('""link', '""g:link').replace('""name', '""g:name')),
  );
  expect(await gpx(Buffer.from(`\ufeff${GPX}`, 'utf16le'))).toEqual(ROWS);
});

test.each([
  ['cut off', GPX.slice(0, -20), /ends in the middle|not XML/],
  ['wrongly nested', '<gpx><wpt lat="1" lon="2"></gpx></wpt>', /not XML/],
  [
    'of no encoding',
    Buffer.from('<gpx><wpt lat="1" lon="2"><name>\xff</name></wpt></gpx>', 'latin1'),
    /encoding/,
  ],
  ['endlessly nested', `<gpx>${'<a>'.repeat(600)}`, /nested/],
])('GPX that is %s is refused', async (_, text, message) => {
  await expect(gpx(text)).rejects.toThrow(message);
});

const place = (inside: string): string =>
  `<kml xmlns="http://www.opengis.net/kml/2.2" xmlns:gx="urn:gx"><Document><name>D</name><Folder><name>Kho</name><Placemark>${inside}</Placemark></Folder></Document></kml>`;
const AREA =
  '<Polygon><outerBoundaryIs><LinearRing><coordinates>105,21,0 107,21,0 107,23,0 105,23,0 105,21,0</coordinates></LinearRing></outerBoundaryIs></Polygon>';

test('a placemark with data of its own', () => {
  const inside =
    '<name>A</name><description>x, y</description><ExtendedData><Data name="mã"><value>7</value></Data><SchemaData><SimpleData name="name">n</SimpleData></SchemaData></ExtendedData><Point><coordinates> 105.8525,21.0288,3 </coordinates></Point>';
  const rows = [
    'name,description,folder,time,mã,data_name,other,lat,lng',
    'A,"x, y",Kho,,7,n,"{""Point"":{""coordinates"":{""@height"":""3""}}}",21.0288,105.8525',
  ];
  expect(kml(place(inside))).toEqual(rows);
  expect(kml(zipSync({ 'doc.kml': strToU8(place(inside)), 'files/x.png': strToU8('x') }))).toEqual(rows);
});

test('a track has a row for each of its points', () => {
  const inside =
    '<gx:Track><when>t1</when><when>t2</when><gx:coord>105 21 0</gx:coord><gx:coord>106 22 0</gx:coord></gx:Track>';
  expect(kml(place(inside)).slice(1)).toEqual([',,Kho,t1,,21,105', ',,Kho,t2,,22,106']);
});

test('areas wait for a word on their point', () => {
  expect(() => kml(place(AREA))).toThrow('it holds lines or areas: 1 Polygon');
  expect(kml(place(AREA), 'centroid').slice(1)).toEqual([',,Kho,,,22,106']);
  expect(kml(place(AREA), 'first').slice(1)).toEqual([',,Kho,,,21,105']);
  expect(kml(place(AREA), 'each')).toHaveLength(5);
});

test('a placemark without a place is a row without a position', () => {
  expect(kml(place('<name>A</name>')).slice(1)).toEqual(['A,,Kho,,,,']);
});
