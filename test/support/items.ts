// Arbitraries of texts: codes, numbers and JSON items with every kind of trouble.
import fc from 'fast-check';

export const CODES = [
  ...['HN-6GHMK-53FMF', 'hn6ghmk53fmf', 'DNGXC9VKQG44', 'HN', '', '-', 'QNH-6X', 'Hà', '8d415cb4520b53f'],
  ...[' HN 6GHMK 53FMF ', 'H N 6 G H M K 5 3 F M F', 'HUẾ-6HQ64-HHGRR', 'ĐNG-6K6GJ-Q5JK5', 'x'.repeat(70)],
  ...['HN-6GHMK-53FMF\u0000', 'HN\u00106GHMK-53FMF', 'ＨＮ－６ＧＨＭＫ－５３ＦＭＦ', 'HN-6GHMK-53F😀'],
];

/** The decimal, in full, of the number in the middle between a positive double and the next one. */
function middleBehind(value: number): string {
  const bits = new DataView(new ArrayBuffer(8));
  bits.setFloat64(0, value);
  const all = bits.getBigUint64(0);
  const places = 1076n - (all >> 52n);
  if (places < 1n || places > 400n) return '0.5';
  const middle = (((all & ((1n << 52n) - 1n)) | (1n << 52n)) << 1n) | 1n;
  const digits = ((middle * 10n ** places) / 2n ** places).toString().padStart(Number(places) + 1, '0');
  return `${digits.slice(0, -Number(places))}.${digits.slice(-Number(places))}`;
}

export const numberText = fc.oneof(
  { weight: 6, arbitrary: fc.double({ min: 8, max: 23, noNaN: true }).map(String) },
  { weight: 6, arbitrary: fc.double({ min: 99, max: 120, noNaN: true }).map(String) },
  fc
    .tuple(fc.double({ min: 8, max: 120, noNaN: true }), fc.integer({ min: 0, max: 20 }))
    .map(([v, n]) => v.toFixed(n)),
  // Zeros at the end of fractions, and fractions of zeros alone.
  {
    weight: 3,
    arbitrary: fc
      .tuple(
        fc.integer({ min: 8, max: 120 }),
        fc.constantFrom('', '5', '05', '250'),
        fc.integer({ min: 1, max: 7 }),
      )
      .map(([whole, fraction, zeros]) => `${whole}.${fraction}${'0'.repeat(zeros)}`),
  },
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
  fc.constantFrom(
    '0',
    '-0',
    '90',
    '-90',
    '180',
    '180.0000000000000000000000001',
    '1e1',
    '2.1E+1',
    '0.5',
    '1e400',
    '1e-9',
  ),
  // Half way between two doubles, and beside it.
  fc
    .tuple(
      fc.oneof(fc.double({ min: 8, max: 110, noNaN: true }), fc.double({ min: 0, max: 1, noNaN: true })),
      fc.constantFrom('', '0', '1', '00000000001', '-'),
    )
    .map(([value, end]) => (end === '-' ? middleBehind(value).slice(0, -1) : middleBehind(value) + end)),
  fc.constantFrom('21.02850000000000000000001', '105.00000000000000710542735760100', '9007199254740993e-14'),
  fc.constantFrom(
    '',
    '.5',
    '5.',
    '+5',
    '1e',
    '0x10',
    '1_0',
    'NaN',
    'abc',
    '01',
    '-',
    '.',
    '--1',
    '1.2.3',
    ' 1',
    '1 ',
  ),
);

export const space = fc.constantFrom('', '', '', ' ', '\t', '\r');
/** Objects and arrays in each other, of which one may be closed by the other's bracket. */
function nested(depth: number, at: number, isRight: boolean): string {
  let [open, close] = ['', ''];
  for (let level = 0; level < depth; level++) {
    const isObject = (level * 7 + at) % 3 === 0;
    open += isObject ? '{ "k\\"" :' : '[1,';
    close = (isObject === (isRight || level !== at) ? ' }' : ']') + close;
  }
  return `${open}null${close}`;
}
const extra = fc.oneof(
  fc.json({ maxDepth: 4 }),
  fc.constantFrom(
    '"a\\u1ea1\\n"',
    '"ế"',
    '"\\x"',
    '"\u0001"',
    'tru',
    '[1,]',
    '{"a":1,"a":[{}]}',
    '"\\ud800"',
    '"',
  ),
  fc.constantFrom('['.repeat(40) + ']'.repeat(40), '1.5e3', '-', '01'),
  fc
    .tuple(fc.integer({ min: 1, max: 70 }), fc.integer({ min: 0, max: 40 }), fc.boolean())
    .map(([depth, at, isRight]) => nested(depth, at, isRight)),
);
const idText = fc.constantFrom(
  '"a"',
  '7',
  '1.50',
  '"\\u1ea1\\"x"',
  '12345678901234567890',
  'null',
  '"Phố"',
  '1e400',
);
/** As most write them, and what is nearly so. */
const plainId = fc.oneof(
  fc.string({ unit: fc.constantFrom(...'aZ09-_ :.,}{"\\'), maxLength: 18 }).map((text) => `"${text}"`),
  fc.string({ unit: fc.constantFrom('0', '1', '9'), maxLength: 18 }),
  fc.constantFrom('"a\tb"', '"\u007f"', '"é"', '-3', '1.5', '1e3', 'true', '{}', '[7]', '7 '),
);
const longId = fc.constantFrom(
  `"${'x'.repeat(128)}"`,
  `"${'x'.repeat(129)}"`,
  `"${'ế'.repeat(128)}"`,
  `"${'😀'.repeat(65)}"`,
);
const resolution = fc.constantFrom(
  ...['13', '0', '15', '16', '7.0', '-1', '"7"', 'null', '1e1', '07', '13.0', '7.5', '100', '0.0', '1.50e1'],
);
const codeText = fc.constantFrom(...CODES).map((code) => JSON.stringify(code));
const jsonNumber = fc.oneof(
  { weight: 5, arbitrary: numberText },
  fc.constantFrom('"21"', 'null', 'true', '[1]'),
);
const member = fc.oneof(
  { weight: 6, arbitrary: jsonNumber.map((v) => ['"lat"', v]) },
  { weight: 6, arbitrary: jsonNumber.map((v) => ['"lng"', v]) },
  {
    weight: 3,
    arbitrary: fc
      .tuple(fc.constantFrom('"latitude"', '"longitude"', '"lon"'), jsonNumber)
      .map(([k, v]) => [k, v]),
  },
  { weight: 5, arbitrary: codeText.map((v) => ['"hexcodes"', v]) },
  { weight: 2, arbitrary: idText.map((v) => ['"id"', v]) },
  longId.map((v) => ['"id"', v]),
  resolution.map((v) => ['"resolution"', v]),
  { weight: 2, arbitrary: extra.map((v) => ['"x"', v]) },
  fc.constantFrom(
    ['"l\\u0061t"', '10.5'],
    ['"lo\\u006E"', '106.5'],
    ['"\\u0069d"', '7'],
    ['"lat\\u0000"', '1'],
    ['"\\/lat"', '1'],
    ['"bi\\u1ec3n s\\u1ed1"', '"51F"'],
    ['"hexcode\\u0073"', '"HN-6GHMK-53FMF"'],
    ['"latitud"', '1'],
    ['"longitudes"', '1'],
    ['"latt"', '1'],
    ['""', '1'],
    ['"ế"', '2'],
    ['lat', '1'],
    ['"admin_v2"', '3'],
  ),
);
const point = fc.tuple(numberText, numberText);
/** The text of one item: right, wrong in its meaning, or no JSON. */
export const item = fc.oneof(
  fc
    .tuple(fc.array(member, { maxLength: 6 }), space)
    .map(([members, s]) => `{${s}${members.map(([k, v]) => `${k}${s}:${s}${v}`).join(`${s},${s}`)}${s}}`),
  point.map(([lat, lng]) => `{"lat":${lat},"lng":${lng}}`),
  fc.tuple(point, plainId).map(([[lat, lng], id]) => `{"id":${id},"lat":${lat},"lng":${lng}}`),
  fc.tuple(point, plainId).map(([[lat, lng], id]) => `{"lat":${lat},"lng":${lng},"id":${id}}`),
  fc.tuple(point, idText).map(([[lat, lng], id]) => `{"lng": ${lng}, "lat": ${lat}, "id": ${id}}`),
  fc
    .tuple(point, plainId, fc.constantFrom(['lat', 'lon'], ['latitude', 'longitude'], ['lat', 'lng']))
    .map(([[lat, lng], id, names]) => `{"id": ${id}, "${names[0]}": ${lat}, "a": {}, "${names[1]}": ${lng}}`),
  fc.tuple(point, plainId).map(([[lat, lng], id]) => `{"id": ${id}, "lat": ${lat}, "lng": ${lng}}`),
  fc.tuple(point, plainId).map(([[lat, lng], id]) => `{"lat": ${lat}, "lng": ${lng}, "id": ${id}}`),
  fc.tuple(point, space).map(([[lat, lng], s]) => `[${s}${lat}${s},${s}${lng}${s}]`),
  codeText,
  fc.tuple(codeText, idText).map(([code, id]) => `{"hexcodes":${code},"id":${id}}`),
  fc.constantFrom(
    '',
    'null',
    '[]',
    '[1]',
    '[1,2,3]',
    '{}',
    'foo',
    '{"lat":10,',
    '[10.5,106.5]]',
    '10',
    '"',
    '{"lat":10\u0000,"lng":106}',
  ),
  extra,
);
