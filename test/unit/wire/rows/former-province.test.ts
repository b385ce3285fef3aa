// former_province in answers to rows: the same in every format, in rows that the kernel writes and in rows that the
// host writes, and nothing else of the answer changes.
import { expect, test } from 'vitest';
import { Hexcodes } from '#dist/hexcodes/library/hexcodes.js';
import { convertBlock } from '#dist/hexcodes/wire/bulk/convert-block.js';
import { BulkReader } from '#dist/hexcodes/wire/bulk/reader.js';
import { ByteSink } from '#dist/hexcodes/wire/bytes/byte-sink.js';
import type { BulkFormat, BulkRequest } from '#dist/hexcodes/wire/job.js';
import { batchBody, convertBatch, openBatch } from '#dist/hexcodes/wire/rows/batch.js';
import { csvFields } from '#dist/hexcodes/wire/rows/csv-fields.js';
import { openKernel } from '../../../support/open-world.js';
import { rowsOf } from '../../../support/region/fixtures.js';
import { shippedKernel } from '../../../support/shipped.js';

const kernel = shippedKernel();
const library = new Hexcodes(shippedKernel());
const places = rowsOf('places');

/** Answers to a body, one a row; of CSV behind the header row. */
function answersTo(body: string, request: Partial<BulkRequest>, refusal?: 'OVER_QUERY_LIMIT'): string[] {
  const whole: BulkRequest = {
    ...{ operation: 'encode', input: 'csv', output: 'csv', resolution: 13, prefix: '' },
    ...request,
  };
  const reader = new BulkReader(whole);
  const blocks = [...reader.push(Buffer.from(body)), ...reader.end()];
  const bytes = blocks.map(
    (block) => convertBlock(kernel, { ...reader.job!, ...(refusal && { refusal }) }, block).bytes,
  );
  const text = Buffer.concat([reader.head, ...bytes]).toString();
  return text.split(/\r?\n/).slice(0, -1);
}

const ODD_CSV = [
  'name,lat,lng,resolution',
  '"Chợ, lớn",10.7500,106.6500,9',
  'short,10',
  'long,10.75,106.65,9,9,9',
  'many digits,20.446300000000000000000001,106.336600000000000000001,',
  'comma,"20,4463","106,3366",3',
  'none,x,y,7',
  'Paris,48.8584,2.2945,7',
  'bad resolution,20.4463,106.3366,99',
].join('\r\n');

test.each<[string, BulkFormat]>([
  ['CSV', 'csv'],
  ['NDJSON', 'ndjson'],
])('of CSV as %s: the field of the library, and no other change', (_, output) => {
  const body = `${ODD_CSV}\r\n${places.map(({ lat, lng }) => `place,${lat},${lng},`).join('\r\n')}\r\n`;
  const plain = answersTo(body, { output });
  const asked = answersTo(body, { output, former: true });
  expect(asked.length).toBe(plain.length);
  let named = 0;
  for (const [i, line] of asked.entries()) {
    if (output === 'csv') {
      const fields = csvFields(line, 44)!;
      const [former] = fields.splice(-2, 1);
      expect(fields).toEqual(csvFields(plain[i]!, 44));
      if (i === 0) expect(former).toBe('former_province');
      else if (fields.at(-1) !== 'OK') expect(former).toBe('');
      else {
        expect(former).toBe(
          library.formerProvinceOf(
            Number(fields[1]!.replace(',', '.')),
            Number(fields[2]!.replace(',', '.')),
          ),
        );
        named++;
      }
      continue;
    }
    const { former_province, ...rest } = JSON.parse(line);
    expect(JSON.stringify(rest)).toBe(plain[i]);
    expect(Object.keys(JSON.parse(line)).indexOf('former_province')).toBe(5);
    expect(former_province).toBe(rest.status === 'OK' ? library.formerProvinceOf(rest.lat, rest.lng) : null);
    if (rest.status === 'OK') named++;
  }
  expect(named).toBeGreaterThan(200);
});

test('of NDJSON, with ids, escapes and lines that are left to the host', () => {
  const lines = [
    '{"lat":20.4463,"lng":106.3366,"id":"a\\"b"}',
    '{"l\\u0061t":20.4463,"lng":106.3366,"id":7}',
    '{"lat":"x","lng":106.3366,"id":8}',
    '[20.4463,106.3366]',
    'x',
    ...places.map(({ lat, lng }, i) => `{"lat":${lat},"lng":${lng},"id":${i}}`),
  ];
  const body = `${lines.join('\n')}\n`;
  const plain = answersTo(body, { input: 'ndjson', output: 'ndjson' });
  const asked = answersTo(body, { input: 'ndjson', output: 'ndjson', former: true });
  for (const [i, line] of asked.entries()) {
    const { former_province, ...rest } = JSON.parse(line);
    expect(JSON.stringify(rest)).toBe(JSON.stringify(JSON.parse(plain[i]!)));
    const wanted = i < 5 ? (rest.status === 'OK' ? 'Thái Bình' : null) : places[i - 5]!.former_province;
    expect(former_province ?? '-').toBe(wanted ?? '-');
  }
  const asCsv = answersTo(body, { input: 'ndjson', output: 'csv', former: true });
  expect(asCsv[0]).toBe('id,lat,lng,hexcodes,resolution,admin_code,former_province,status');
  expect(asCsv[1]).toMatch(/^"a""b",20\.4463,106\.3366,HY-[^,]+,13,HY,Thái Bình,OK$/);
});

test('rows that a quota refuses have none', () => {
  const rows = answersTo('lat,lng\n20.4463,106.3366\n', { former: true }, 'OVER_QUERY_LIMIT');
  expect(rows[1]).toBe('20.4463,106.3366,,13,,,OVER_QUERY_LIMIT');
  const [line] = answersTo(
    'lat,lng\n20.4463,106.3366\n',
    { former: true, output: 'ndjson' },
    'OVER_QUERY_LIMIT',
  );
  expect(JSON.parse(line!)).toMatchObject({ former_province: null, status: 'OVER_QUERY_LIMIT' });
});

test('a batch takes a member former, true or false, and refuses others', () => {
  const answer = (former: string): { results: { former_province?: string | null }[] } => {
    const body = Buffer.from(`{"points":[[20.4463,106.3366],[0,0]]${former}}`);
    return JSON.parse(
      Buffer.from(batchBody(convertBatch(kernel, openBatch('encode', body), new ByteSink()))).toString(),
    );
  };
  expect(answer(',"former":true').results.map((result) => result.former_province)).toEqual([
    'Thái Bình',
    null,
  ]);
  for (const former of ['', ',"former":false'])
    expect(answer(former).results.every((result) => !('former_province' in result))).toBe(true);
  for (const former of [',"former":1', ',"former":"true"', ',"former":[]', ',"former":true,"former":false'])
    expect(() => answer(former)).toThrow('former must be true or false');
});

test('boundaries without the former provinces refuse', () => {
  const other = openKernel();
  expect(other.formerProvinces).toBeNull();
  expect(() => new Hexcodes(other).formerProvinceOf(21, 105)).toThrow('no provinces of before July 2025');
  expect(() => new Hexcodes(other).encode(21, 105, { former: true })).toThrow(
    'no provinces of before July 2025',
  );
  const batch = openBatch('encode', Buffer.from('{"points":[[21,105]],"former":true}'));
  expect(() => convertBatch(other, batch, new ByteSink())).toThrow('former cannot be answered');
});

test('the library names it where it is asked', () => {
  for (const { lat, lng, admin_code, former_province } of places) {
    const [latDeg, lngDeg] = [Number(lat), Number(lng)];
    expect(library.formerProvinceOf(latDeg, lngDeg) ?? '-').toBe(former_province);
    if (admin_code === '-') continue;
    const encoded = library.encode(latDeg, lngDeg, { former: true });
    expect(encoded).toEqual({ ...library.encode(latDeg, lngDeg), former_province });
  }
  expect(library.formerProvinceOf('21' as unknown as number, 105)).toBeNull();
});
