// The table of docs/reference/values.md: what becomes of a value of each type in each format. Every cell is observed:
// files of independent writers are encoded, and independent readers read the outputs. A cell that would be a silent
// change throws.

/** A type of an input format, with the values of two rows as text; the third row is null. */
export interface TypeCase {
  readonly name: string;
  readonly texts: readonly [string, string];
  /** `text` where JSON has the values as strings, `bare` where it has the texts themselves, else its spelling. */
  readonly json: 'text' | 'bare' | readonly [string, string];
}

/** A column as a reader found it: the name of its type, and the values of three rows. */
export interface Observed {
  readonly type: string;
  readonly values: readonly (string | null)[];
}

/** A cell of the table. */
export type Cell = string;

/**
 * The cell of a target with types: `exact`, `as TYPE`, or text with the first value.
 * @param input what the reader finds in the input
 * @throws Error for a changed value
 */
export function typedCell({ name, texts, json }: TypeCase, input: Observed, found: Observed): Cell {
  const { type, values } = found;
  const isSame = (wanted: readonly (string | null)[]): boolean =>
    JSON.stringify(wanted) === JSON.stringify(values);
  // Readers do not tell the type of a column of nulls.
  if (isSame([null, null, null]) && isSame(input.values)) return 'null';
  if (isSame(input.values) && type === input.type) return 'exact';
  if (type === 'VARCHAR' && isSame([...texts, null])) return `text ${code(texts[0])}`;
  const members = jsonOf(texts, json);
  if ((type === 'VARCHAR' || type === 'JSON') && isSame([...members, null])) {
    return `${type === 'JSON' ? 'JSON' : 'text'} ${code(members[0]!)}`;
  }
  if (type !== 'VARCHAR' && type !== 'JSON' && isSame(input.values)) return `as ${type}`;
  throw new Error(`${name} is ${type} ${JSON.stringify(values)}: was ${JSON.stringify(input)} or ${texts}`);
}

/** The cell of CSV. @throws Error for a changed value */
export function textCell({ name, texts }: TypeCase, values: readonly string[]): Cell {
  if (JSON.stringify(values) === JSON.stringify([...texts, ''])) return code(texts[0]);
  throw new Error(`${name} is ${JSON.stringify(values)}, not ${JSON.stringify(texts)}`);
}

/** The cell of JSON. @param values the JSON text of the members. @throws Error for a changed value */
export function jsonCell({ name, texts, json }: TypeCase, values: readonly string[]): Cell {
  const wanted = jsonOf(texts, json);
  if (JSON.stringify(values) === JSON.stringify([...wanted, 'null'])) return code(wanted[0]!);
  throw new Error(`${name} is ${JSON.stringify(values)}, not ${JSON.stringify(wanted)}`);
}

function jsonOf(texts: TypeCase['texts'], json: TypeCase['json']): readonly string[] {
  if (json === 'bare') return texts;
  return json === 'text' ? texts.map((text) => JSON.stringify(text)) : json;
}

function code(text: string): string {
  return text === '' ? 'empty' : `\`${text.replaceAll('|', '\\|')}\``;
}

/** A table of Markdown. */
export function markdownTable(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  return [heads, heads.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |\n`).join('');
}

// The types of the table in docs/reference/values.md with two values each, a usual one and an extreme one.

const MIN64 = '-9223372036854775808';
const BIG = '9007199254740993';
const INSTANTS = ['2026-01-01T00:00:00.123456', '1969-12-31T23:59:59.999999'] as const;

function cases(
  rows: readonly (readonly [string, string, string, (TypeCase['json'] | undefined)?])[],
): TypeCase[] {
  return rows.map(([name, first, second, json = 'text']) => ({ name, texts: [first, second], json }));
}

/** Columns of both test/fixtures/types/types.parquet and types.arrows, by pyarrow. */
export const COMMON_TYPES = cases([
  ['null', '', '', ['null', 'null']],
  ['bool', 'true', 'false', 'bare'],
  ['int8', '7', '-128', 'bare'],
  ['uint8', '7', '255', 'bare'],
  ['int16', '7', '-32768', 'bare'],
  ['uint16', '7', '65535', 'bare'],
  ['int32', '7', '-2147483648', 'bare'],
  ['uint32', '7', '4294967295', 'bare'],
  ['int64', BIG, MIN64, 'bare'],
  ['uint64', BIG, '18446744073709551615', 'bare'],
  ['float16', '1.5', '-65504', 'bare'],
  ['float32', '0.10000000149011612', '3.4028234663852886e+38', 'bare'],
  ['float64', '0.1', '1.7976931348623157e+308', 'bare'],
  ['not finite', 'NaN', '-Infinity'],
  ['decimal128(9,2)', '12.34', '-9999999.99'],
  ['decimal128(38,10)', '12.3400000000', `-${'9'.repeat(28)}.9999999999`],
  ['decimal256(50,5)', '12.34000', `-${'9'.repeat(45)}.99999`],
  ['string', 'Đà Nẵng', ''],
  ['large_string', 'Đà Nẵng', ''],
  ['binary', 'AP8=', 'YWJj'],
  ['fixed_size_binary(2)', 'AP8=', 'YWI='],
  ['date32', '2026-01-01', '0000-01-01'],
  ['date64', '2026-01-01', '1969-12-31'],
  ['time32[s]', '01:02:03', '23:59:59'],
  ['time32[ms]', '01:02:03.004', '23:59:59.999'],
  ['time64[us]', '01:02:03.000004', '23:59:59.999999'],
  ['time64[ns]', '01:02:03.000000004', '23:59:59.999999999'],
  ['timestamp[s]', '2026-01-01T00:00:00', '1969-12-31T23:59:59'],
  ['timestamp[ms]', '2026-01-01T00:00:00.123', '1969-12-31T23:59:59.999'],
  ['timestamp[us]', ...INSTANTS],
  ['timestamp[ns]', '2026-01-01T00:00:00.123456789', '1677-09-21T00:12:43.145224193'],
  ['timestamp[us, UTC]', `${INSTANTS[0]}Z`, `${INSTANTS[1]}Z`],
  ['timestamp[us, Asia/Ho_Chi_Minh]', `${INSTANTS[0]}Z`, `${INSTANTS[1]}Z`],
  ['dictionary<string>', 'a', 'b'],
  ['list<int64>', `[${BIG},null]`, '[]', 'bare'],
  ['list<timestamp>', `["${INSTANTS[0]}"]`, '[null]', 'bare'],
  ['fixed_size_list<double>[2]', '[105.8,21]', '[0.5,null]', 'bare'],
  ['struct', `{"id":${BIG},"price":"1.20"}`, '{"id":null,"price":null}', 'bare'],
  ['map<string, int64>', `{"a":${BIG},"b":null}`, '{}', 'bare'],
  ['uuid', '00112233-4455-6677-8899-aabbccddeeff', '00000000-0000-0000-0000-000000000000'],
  ['json', `{"id": ${BIG}}`, 'a', [`{"id": ${BIG}}`, '"a"']],
]);

/** Parquet keeps times and timestamps of seconds as milliseconds: their texts in types.parquet. */
export const OTHER_TEXTS_IN_PARQUET: Readonly<Record<string, TypeCase['texts']>> = {
  'time32[s]': ['01:02:03.000', '23:59:59.000'],
  'timestamp[s]': ['2026-01-01T00:00:00.000', '1969-12-31T23:59:59.000'],
};

/** Columns of test/fixtures/types/arrow-only.arrows, by pyarrow. */
export const ARROW_TYPES = cases([
  ['decimal32(9,2)', '12.34', '-9999999.99'],
  ['decimal64(18,2)', '12.34', '-9999999999999999.99'],
  ['duration[s]', 'PT90061S', 'PT-1S'],
  ['duration[us]', 'PT90061.000004S', 'PT-0.000001S'],
  ['month_day_nano_interval', 'P14M3DT4.500000000S', 'P0M-1DT0.000000000S'],
  ['string_view', 'Đà Nẵng', 'longer than the twelve bytes of a view'],
  ['binary_view', 'AP8=', 'YWJj'],
  ['large_list<int32>', '[1,2]', '[]', 'bare'],
  ['list_view<int32>', '[1,2]', '[]', 'bare'],
  ['run_end_encoded<int64>', BIG, '-5', 'bare'],
  ['dictionary<timestamp>', ...INSTANTS],
  ['struct of null', '{"nothing":null,"n":7}', '{"nothing":null,"n":null}', 'bare'],
  ['union', '', ''],
]);

/** The columns as DuckDB would show them, which reads few of these types: by the values in write.py. */
export const ARROW_REFERENCES: Readonly<Record<string, Observed>> = {
  'decimal32(9,2)': { type: 'DECIMAL(9,2)', values: ['12.34', '-9999999.99', null] },
  'decimal64(18,2)': { type: 'DECIMAL(18,2)', values: ['12.34', '-9999999999999999.99', null] },
  'duration[s]': { type: 'INTERVAL', values: ['25:01:01', '-00:00:01', null] },
  'duration[us]': { type: 'INTERVAL', values: ['25:01:01.000004', '-00:00:00.000001', null] },
  month_day_nano_interval: {
    type: 'INTERVAL',
    values: ['1 year 2 months 3 days 00:00:04.5', '-1 days', null],
  },
  string_view: { type: 'VARCHAR', values: ['Đà Nẵng', 'longer than the twelve bytes of a view', null] },
  binary_view: { type: 'BLOB', values: ['\\x00\\xFF', 'abc', null] },
  'large_list<int32>': { type: 'INTEGER[]', values: ['[1, 2]', '[]', null] },
  'list_view<int32>': { type: 'INTEGER[]', values: ['[1, 2]', '[]', null] },
  'run_end_encoded<int64>': { type: 'BIGINT', values: [BIG, '-5', null] },
  'dictionary<timestamp>': {
    type: 'TIMESTAMP',
    values: ['2026-01-01 00:00:00.123456', '1969-12-31 23:59:59.999999', null],
  },
  'struct of null': { type: 'STRUCT', values: ['', '', null] },
  union: { type: 'UNION', values: ['', '', null] },
};

/** Written by DuckDB: its type, the SQL of two values. */
export const DUCKDB_TYPES: readonly (readonly [type: string, first: string, second: string])[] = [
  ['TIME WITH TIME ZONE', "'01:02:03.000004+00'", "'23:59:59.999999+00'"],
  ['INTERVAL', "'14 months 3 days 4.5 seconds'", "'1 day'"],
  ['TIMESTAMP_S', "'2026-01-01'", "'1969-12-31 23:59:59'"],
  ["ENUM('a', 'b')", "'a'", "'b'"],
  ['BIT', "'101'", "'1'"],
  [
    'STRUCT(a STRUCT(b INTEGER[]), day TIMESTAMPTZ)[]',
    "[{'a': {'b': [1, NULL]}, 'day': '2026-01-01'}]",
    '[NULL]',
  ],
  ['MAP(INTEGER, DOUBLE)', 'MAP {7: 0.5}', 'MAP {}'],
  ['MAP(DATE, DOUBLE)', "MAP {'2026-01-01': 0.5}", 'MAP {}'],
];
export const DUCKDB_TEXTS = cases([
  ['TIME WITH TIME ZONE', '01:02:03.000004Z', '23:59:59.999999Z'],
  ['INTERVAL', 'P14M3DT4.500000000S', 'P0M1DT0.000000000S'],
  ['TIMESTAMP_S', '2026-01-01T00:00:00.000000', '1969-12-31T23:59:59.000000'],
  ["ENUM('a', 'b')", 'a', 'b'],
  ['BIT', '101', '1'],
  [
    'STRUCT(a STRUCT(b INTEGER[]), day TIMESTAMPTZ)[]',
    '[{"a":{"b":[1,null]},"day":"2026-01-01T00:00:00.000000Z"}]',
    '[null]',
    'bare',
  ],
  ['MAP(INTEGER, DOUBLE)', '{"7":0.5}', '{}', 'bare'],
  ['MAP(DATE, DOUBLE)', '', ''],
]);

/** The column of test/fixtures/types/int96.parquet, by pyarrow. */
export const INT96: TypeCase = {
  name: 'INT96',
  texts: ['2026-01-01T00:00:00.123456789Z', '1969-12-31T23:59:59.999999999Z'],
  json: 'text',
};

/** Its nanoseconds of UTC, of which DuckDB reads microseconds in Arrow. */
export const INT96_REFERENCE: Observed = {
  type: 'Timestamp<NANOSECOND, UTC>',
  values: ['1767225600123456789', '-1', null],
};

/** A kind of field in NDJSON and of property in GeoJSON. */
export interface JsonCase extends TypeCase {
  /** As they are written in the input. */
  readonly written: readonly [string, string];
  /** The type that DuckDB finds in Parquet, and the values that it shows; null where the file is refused. */
  readonly type: string | null;
  readonly values: readonly [string | null, string | null];
}

function jsonCase(
  name: string,
  written: readonly [string, string],
  type: string | null,
  { texts = written, json = written, values = texts }: Partial<JsonCase> = {},
): JsonCase {
  return { name, written, texts, json, type, values };
}

/** Declared types of columns of a GeoPackage, with literals of SQL. */
export const SQL_TYPES: readonly (JsonCase & { readonly literals: readonly [string, string] })[] = [
  { ...jsonCase('INTEGER', ['7', BIG], 'BIGINT'), literals: ['7', BIG] },
  { ...jsonCase('REAL', ['0.1', '-5'], 'DOUBLE', { values: ['0.1', '-5.0'] }), literals: ['0.1', '-5'] },
  { ...jsonCase('BOOLEAN', ['true', 'false'], 'BOOLEAN'), literals: ['1', '0'] },
  {
    ...jsonCase('TEXT', ['"Đà Nẵng"', '"007"'], 'VARCHAR', { texts: ['Đà Nẵng', '007'] }),
    literals: ["'Đà Nẵng'", "'007'"],
  },
  {
    ...jsonCase('DATETIME', ['"2026-01-02T23:30:00Z"', '"2026-01-03T00:00:00Z"'], 'VARCHAR', {
      texts: ['2026-01-02T23:30:00Z', '2026-01-03T00:00:00Z'],
    }),
    literals: ["'2026-01-02T23:30:00Z'", "'2026-01-03T00:00:00Z'"],
  },
  {
    ...jsonCase('BLOB', ['"AP8="', '"AQ=="'], 'BLOB', {
      texts: ['AP8=', 'AQ=='],
      values: ['\\x00\\xFF', '\\x01'],
    }),
    literals: ["x'00ff'", "x'01'"],
  },
  {
    ...jsonCase('', ['"7"', '"a"'], 'VARCHAR', { texts: ['7', 'a'] }),
    name: 'none, several kinds',
    literals: ['7', "'a'"],
  },
];

export const JSON_TYPES: readonly JsonCase[] = [
  jsonCase('integers', ['7', '-5'], 'BIGINT'),
  jsonCase('integers beyond 2^53', [BIG, '-5'], 'BIGINT'),
  jsonCase('integers beyond 64 bits', ['18446744073709551616', '-5'], 'DECIMAL(38,0)'),
  jsonCase('integers beyond 38 digits', ['1'.repeat(39), '-5'], 'JSON'),
  jsonCase('numbers', ['0.1', '-5'], 'DOUBLE', { values: ['0.1', '-5.0'] }),
  jsonCase('numbers written as 2.0', ['2.0', '3.0'], 'DOUBLE', { texts: ['2', '3'], values: ['2.0', '3.0'] }),
  jsonCase('numbers and integers beyond 2^53', ['0.5', BIG], 'JSON'),
  jsonCase('text', ['"Đà Nẵng"', `"${BIG}"`], 'VARCHAR', { texts: ['Đà Nẵng', BIG] }),
  jsonCase('booleans', ['true', 'false'], 'BOOLEAN'),
  jsonCase('only null', ['null', 'null'], 'VARCHAR', { texts: ['', ''], values: [null, null] }),
  jsonCase('lists', [`[${BIG},null]`, '[]'], 'JSON'),
  jsonCase('objects', [`{"id":${BIG}}`, '{}'], 'JSON'),
  jsonCase('several kinds', [BIG, '"a"'], 'JSON', { texts: [BIG, 'a'], values: [BIG, '"a"'] }),
  jsonCase('numbers beyond all doubles', ['1e400', '1'], null),
];

const textCase = (name: string, first: string, second: string): JsonCase =>
  jsonCase(name, [JSON.stringify(first), JSON.stringify(second)], 'VARCHAR', { texts: [first, second] });

/** Kinds of cells of a workbook, in XML; style 1 has the format. */
export const XLSX_CASES: readonly (JsonCase & {
  readonly cells: readonly [string, string];
  readonly formats?: readonly (number | string)[];
})[] = [
  { ...textCase('number', '0.1', '-5'), cells: ['<c><v>0.1</v></c>', '<c><v>-5.0</v></c>'] },
  {
    ...textCase('integer of any number of digits', BIG, '7'),
    cells: [`<c><v>${BIG}</v></c>`, '<c><v>7</v></c>'],
  },
  {
    ...textCase('date', '2026-01-02', '9999-12-31'),
    cells: ['<c s="1"><v>46024</v></c>', '<c s="1"><v>2958465</v></c>'],
    formats: ['d/m/yyyy'],
  },
  {
    ...textCase('date and time', '2026-01-02T23:30:00', '2026-01-02T00:00:00.123'),
    cells: ['<c s="1"><v>46024.979166666664</v></c>', '<c s="1"><v>46024.00000142361</v></c>'],
    formats: [22],
  },
  {
    ...textCase('time', '08:30:00', '23:59:59.999'),
    cells: ['<c s="1"><v>0.35416666666666669</v></c>', '<c s="1"><v>0.99999998842592596</v></c>'],
    formats: ['h:mm'],
  },
  {
    ...textCase('duration', 'PT26H5M0S', '-PT12H0M0S'),
    cells: ['<c s="1"><v>1.0868055555555556</v></c>', '<c s="1"><v>-0.5</v></c>'],
    formats: ['[h]:mm'],
  },
  {
    ...textCase('text', 'Đà Nẵng', '007'),
    cells: ['<c t="inlineStr"><is><t>Đà Nẵng</t></is></c>', '<c t="str"><f>A1</f><v>007</v></c>'],
  },
  { ...textCase('boolean', 'true', 'false'), cells: ['<c t="b"><v>1</v></c>', '<c t="b"><v>0</v></c>'] },
  {
    ...textCase('error', '#N/A', '#DIV/0!'),
    cells: ['<c t="e"><v>#N/A</v></c>', '<c t="e"><v>#DIV/0!</v></c>'],
  },
];

/** Texts of formats without types. */
export const TEXT_CASES: readonly JsonCase[] = [
  textCase('text', 'Đà Nẵng', '007'),
  textCase('number', '0.1', '-5'),
  textCase('integer beyond 15 digits', BIG, '7'),
  textCase('date', '2026-01-02', '2026-01-03'),
  textCase('date and time', '2026-01-02T23:30:00', '2026-01-02T23:30:00.123'),
  textCase('time with a zone', '2026-01-02T23:30:00Z', '2026-01-02T23:30:00+07:00'),
  textCase('number with a zero', '21.0280', '0901234567'),
];
