// former_province, border_m and certainty in rows that are odd or refused: nothing else of an answer changes, and rows
// without a code have none. Rows with one are compared by test/property/differential.
import { parse } from 'csv-parse/sync';
import { expect, test } from 'vitest';
import { Hexcodes } from '#hexcodes';
import { openKernel } from '../../support/open-world.js';
import { shippedKernel } from '../../support/shipped.js';
import { rowsOf } from '../../support/vectors.js';
import { type BulkRequest, Wire } from '../../support/wire.js';

const shipped = new Wire(shippedKernel());
const library = new Hexcodes(shippedKernel());

/** Answers to a body, one a row; of CSV with the header row. */
function answersTo(
  body: string,
  request: Partial<BulkRequest>,
  refusal?: 'OVER_QUERY_LIMIT',
  wire = shipped,
): string[] {
  return wire
    .bulk({ input: 'csv', output: 'csv', ...request }, body, refusal && { refusal })
    .toString()
    .split(/\r?\n/)
    .slice(0, -1);
}

const fieldsOf = (line: string): string[] => parse(line, { relax_quotes: true })[0]!;

const ODD_CSV = [
  'name,lat,lng,resolution',
  '"Chợ, lớn",10.7500,106.6500,9',
  'short,10',
  'long,10.75,106.65,9,9,9',
  'many digits,20.446300000000000000000001,106.336600000000000000001,',
  'comma,"20,4463","106,3366",3',
  'none,x,y,7',
  'Paris,48.8584,2.2945,7',
  'bad resolution,20.4463,106.3366,99\r\n',
].join('\r\n');
const ODD_LINES = `${[
  '{"lat":20.4463,"lng":106.3366,"id":"a\\"b"}',
  '{"l\\u0061t":20.4463,"lng":106.3366,"id":7}',
  '{"lat":"x","lng":106.3366,"id":8}',
  '[20.4463,106.3366]',
  'x',
].join('\n')}\n`;

const ASKED = [
  { former: true },
  { certainty: true },
  { former: true, certainty: true },
] satisfies Partial<BulkRequest>[];

/** The fields that a call with these options adds, at a position that has a code. */
function addedAt(asked: Partial<BulkRequest>, lat: number, lng: number): Record<string, unknown> {
  const { border_m, certainty } = library.borderOf(lat, lng)!;
  return {
    ...(asked.former && { former_province: library.formerProvinceOf(lat, lng) }),
    ...(asked.certainty && { border_m, certainty }),
  };
}

test.each(ASKED)('rows of CSV with %j, as CSV', (asked) => {
  const names = Object.keys(addedAt(asked, 20.4463, 106.3366));
  const plain = answersTo(ODD_CSV, {});
  for (const [i, line] of answersTo(ODD_CSV, asked).entries()) {
    const fields = fieldsOf(line);
    const added = fields.splice(-1 - names.length, names.length);
    expect(fields).toEqual(fieldsOf(plain[i]!));
    const [lat, lng] = [fields[1]!, fields[2]!].map((text) => Number(text.replace(',', '.')));
    if (i === 0) expect(added).toEqual(names);
    else if (fields.at(-1) !== 'OK') expect(added).toEqual(names.map(() => ''));
    else expect(added).toEqual(Object.values(addedAt(asked, lat!, lng!)).map((value) => String(value ?? '')));
  }
});

test.each(
  ASKED.flatMap((asked) => [
    { asked, input: 'csv' as const, body: ODD_CSV },
    { asked, input: 'ndjson' as const, body: ODD_LINES },
  ]),
)('rows of $input with $asked, as lines of JSON', ({ asked, input, body }) => {
  const names = Object.keys(addedAt(asked, 20.4463, 106.3366));
  const plain = answersTo(body, { input, output: 'ndjson' });
  let ok = 0;
  for (const [i, line] of answersTo(body, { ...asked, input, output: 'ndjson' }).entries()) {
    const answer = JSON.parse(line) as Record<string, unknown>;
    const rest = Object.fromEntries(Object.entries(answer).filter(([name]) => !names.includes(name)));
    expect(JSON.stringify(rest)).toBe(JSON.stringify(JSON.parse(plain[i]!)));
    const at = Object.keys(answer).indexOf('status');
    expect(Object.keys(answer).slice(at - names.length, at)).toEqual(names);
    const due = answer['status'] === 'OK' ? addedAt(asked, Number(answer['lat']), Number(answer['lng'])) : {};
    expect(names.map((name) => answer[name])).toEqual(names.map((name) => due[name] ?? null));
    if (answer['status'] === 'OK') ok++;
  }
  expect(ok).toBeGreaterThan(2);
});

test('rows that a quota refuses have none', () => {
  const asked = { former: true, certainty: true };
  const body = 'lat,lng\n20.4463,106.3366\n';
  expect(answersTo(body, asked, 'OVER_QUERY_LIMIT')[1]).toBe('20.4463,106.3366,,13,,,,,OVER_QUERY_LIMIT');
  const [line] = answersTo(body, { ...asked, output: 'ndjson' }, 'OVER_QUERY_LIMIT');
  expect(JSON.parse(line!)).toMatchObject({ former_province: null, border_m: null, certainty: null });
});

test('boundaries without bands: the distance alone', () => {
  const body = 'lat,lng\n21.4999,105.5\n';
  expect(answersTo(body, { certainty: true }, undefined, new Wire(openKernel()))[1]).toMatch(/,11,,OK$/);
});

test('the library names the former province of each place of the table', () => {
  for (const { lat, lng, admin_code, former_province } of rowsOf('places')) {
    const [latDeg, lngDeg] = [Number(lat), Number(lng)];
    expect(library.formerProvinceOf(latDeg, lngDeg) ?? '-').toBe(former_province);
    if (admin_code === '-') continue;
    const encoded = library.encode(latDeg, lngDeg, { former: true });
    expect(encoded).toEqual({ ...library.encode(latDeg, lngDeg), former_province });
  }
});

test('boundaries without the former provinces refuse to name them', () => {
  const other = new Hexcodes(openKernel());
  for (const call of [() => other.formerProvinceOf(21, 105), () => other.encode(21, 105, { former: true })])
    expect(call).toThrow(expect.objectContaining({ code: expect.any(String) }));
});
