// Arbitraries of texts: codes, numbers and JSON items with every kind of trouble.
import fc from 'fast-check';

export const CODES = [
  ...['HN-6GHMK-53FMF', 'hn6ghmk53fmf', 'DNGXC9VKQG44', 'HN', '', '-', 'QNH-6X', 'Hà', '8d415cb4520b53f'],
  ...[' HN 6GHMK 53FMF ', 'H N 6 G H M K 5 3 F M F', 'HUẾ-6HQ64-HHGRR', 'ĐNG-6K6GJ-Q5JK5', 'x'.repeat(70)],
  ...['HN-6GHMK-53FMF\u0000', 'HN\u00106GHMK-53FMF', 'ＨＮ－６ＧＨＭＫ－５３ＦＭＦ', 'HN-6GHMK-53F😀'],
];

export const numberText = fc.oneof(
  { weight: 6, arbitrary: fc.double({ min: 8, max: 23, noNaN: true }).map(String) },
  { weight: 6, arbitrary: fc.double({ min: 99, max: 120, noNaN: true }).map(String) },
  fc
    .tuple(fc.double({ min: 8, max: 120, noNaN: true }), fc.integer({ min: 0, max: 20 }))
    .map(([v, n]) => v.toFixed(n)),
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
const resolution = fc.constantFrom('13', '0', '15', '16', '7.0', '-1', '"7"', 'null', '1e1', '07');
const codeText = fc.constantFrom(...CODES).map((code) => JSON.stringify(code));
const jsonNumber = fc.oneof(
  { weight: 5, arbitrary: numberText },
  fc.constantFrom('"21"', 'null', 'true', '[1]'),
);
const member = fc.oneof(
  { weight: 6, arbitrary: jsonNumber.map((v) => ['"lat"', v]) },
  { weight: 6, arbitrary: jsonNumber.map((v) => ['"lng"', v]) },
  { weight: 5, arbitrary: codeText.map((v) => ['"hexcodes"', v]) },
  { weight: 2, arbitrary: idText.map((v) => ['"id"', v]) },
  longId.map((v) => ['"id"', v]),
  resolution.map((v) => ['"resolution"', v]),
  { weight: 2, arbitrary: extra.map((v) => ['"x"', v]) },
  fc.constantFrom(
    ['"l\\u0061t"', '10.5'],
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
