// Files as dispatchers have them, by the names of test/fixtures/console-cases.tsv.
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { unzipSync, zipSync } from 'fflate';
import { broughtFile } from './brought-files.js';

const ROWS = 'tên,vĩ độ,kinh độ\nĐại Nội,16.4698,107.5786\nPari,48.85,2.35\n';
const WINDOWS_1258 = Buffer.from('t\xean,lat,lng\nHu\xea\xec,16.4698,107.5786\n', 'latin1');
const text = (content: string): Buffer => Buffer.from(content);

const GPX = `<gpx version="1.1"><wpt lat="16.4698" lon="107.5786"><name>Đại Nội</name></wpt>
<trk><name>Sáng</name><trkseg><trkpt lat="21.0288" lon="105.8525"/><trkpt lat="48" lon="2"/></trkseg></trk></gpx>`;
const placemark = (geometry: string): string =>
  `<kml><Document><Placemark><name>Đại Nội</name>${geometry}</Placemark></Document></kml>`;
const KML = placemark('<Point><coordinates>107.5786,16.4698,0</coordinates></Point>');
const LINES = placemark('<LineString><coordinates>107.5786,16.4698 107.6,16.5</coordinates></LineString>');

/** The workbook with one more cell in the last corner that a sheet may have. */
function farCell(): Buffer {
  const parts = unzipSync(readFileSync('test/fixtures/points.xlsx'));
  const name = Object.keys(parts).find((each) => /worksheets\/sheet1\.xml$/.test(each))!;
  const row = '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row></sheetData>';
  const xml = Buffer.from(parts[name]!).toString().replace('</sheetData>', row);
  return Buffer.from(zipSync({ ...parts, [name]: text(xml) }));
}

export const DISPATCHER_FILES: Readonly<Record<string, () => Buffer>> = {
  'plain.csv': () => text('id,lat,lng\n1,16.4698,107.5786\n2,21.0288,105.8525\n'),
  'tiếng việt.csv': () => text(ROWS),
  'mark.csv': () => text(`\ufeff${ROWS}`),
  'semicolons.csv': () => text('tên;vĩ độ;kinh độ\nĐại Nội;16,4698;107,5786\n'),
  'tabs.tsv': () => text('lat\tlng\n16.4698\t107.5786\n'),
  'sep.csv': () => text('sep=;\nlat;lng\n16,4698;107,5786\n'),
  'utf16.csv': () => Buffer.from(`\ufeff${ROWS}`, 'utf16le'),
  'utf16be.csv': () => Buffer.from(`\ufeff${ROWS}`, 'utf16le').swap16(),
  'windows-1258.csv': () => WINDOWS_1258,
  'headerless.csv': () => text('Đại Nội,16.4698,107.5786\nHồ Gươm,21.0288,105.8525\n'),
  'codes.txt': () => text('HUE-6HQ64-HH9J6\nhn 6ghp4 83rfr\n'),
  'mã.csv': () => text('stt;Mã\n1;HUE-6HQ64-HH9J6\n'),
  'tọa độ.csv': () => text('tên,tọa độ\nĐại Nội,"16.4698, 107.5786"\nkhông có,\n'),
  'swapped.csv': () => text('lat,lng\n107.5786,16.4698\n'),
  'other names.csv': () => text('nơi,bắc,đông\nĐại Nội,16.4698,107.5786\n'),
  'lines.ndjson': () => text('{"lat":16.4698,"lng":107.5786}\n{"lat":48,"lng":2}\n'),
  'packed.csv.gz': () => gzipSync(ROWS),
  'workbook.xlsx': () => readFileSync('test/fixtures/points.xlsx'),
  'places.parquet': () => text('PAR1\0\0\0'),
  'places.geojson': () =>
    text(
      '{"type":"FeatureCollection","features":[{"type":"Feature","properties":{"name":"Hồ Gươm"},"geometry":{"type":"Point","coordinates":[105.8525,21.0288]}},{"type":"Feature","properties":null,"geometry":null}]}',
    ),
  'areas.geojson': () => text('{"type":"Polygon","coordinates":[[[105,21],[106,21],[106,22],[105,21]]]}'),
  'meters.geojson': () =>
    text(
      '{"type":"FeatureCollection","crs":{"type":"name","properties":{"name":"EPSG:3405"}},"features":[{"type":"Feature","properties":{},"geometry":{"type":"Point","coordinates":[588000,2325000]}}]}',
    ),
  'list.json': () => text('[{"name":"a","lat":21.0288,"lng":105.8525},\n {"lat":10.77,"lng":106.69}]'),
  'answer.json': () => text('{"count":1,"results":[{"name":"a","position":{"lat":21.0288,"lng":105.8525}}]}'),
  'pairs.json': () => text('[[105.8525,21.0288],\n[106.69,10.77],[2.29,48.85]]'),
  'codes.json': () => text('["HN-6GHP4-83RFR","HN-6GHP4-83RFQ"]'),
  'cut.json': () => text('[{"lat":21.0288,"lng":105.8525},'),
  'shops.gpkg': () => broughtFile('shops.gpkg'),
  'layers.gpkg': () => broughtFile('gdal-two-layers.gpkg'),
  'old.xls': () => Buffer.from('d0cf11e0a1b11ae1', 'hex'),
  'scan.pdf': () => text('%PDF-1.7\n'),
  'photo.csv': () => Buffer.from('89504e470d0a1a0a0000000d', 'hex'),
  'login.csv': () => text('<!DOCTYPE html><html><body>Mời đăng nhập</body></html>'),
  'packed.zip': () => Buffer.from(zipSync({ 'points.csv': text(ROWS) })),
  'broken.xlsx': () => readFileSync('test/fixtures/points.xlsx').subarray(0, 900),
  'far.xlsx': farCell,
  'ride.gpx': () => text(GPX),
  'places.kml': () => text(KML),
  'places.kmz': () => Buffer.from(zipSync({ 'doc.kml': text(KML) })),
  'lines.kml': () => text(LINES),
  'cut.gpx': () => text(GPX.slice(0, 150)),
  'empty.csv': () => Buffer.alloc(0),
  'array.json': () => text('[{"lat":16.4698,"lng":107.5786}]'),
};
