// Service and command answer identical bytes identically, row by row; where they do not, the difference has its line
// in docs/reference/same-bytes.md, which `vitest FILE -u` writes. Neither a socket nor a process: test/support/wire.ts
// converts as the endpoints do, test/support/files/convert.ts as the command.
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Hexcodes } from '#hexcodes';
import { encodeFile } from '../support/files/convert.js';
import { numberText } from '../support/items.js';
import { randomFrom } from '../support/open-world.js';
import { below, pick } from '../support/random.js';
import { ownFolder } from '../support/shared.js';
import { shippedKernel } from '../support/shipped.js';
import { Wire } from '../support/wire.js';

type Format = 'csv' | 'ndjson';
/** A word for each row, with the code where there is one, or that the whole body is refused. */
type Answer = readonly string[] | 'refused';

const wire = new Wire(shippedKernel());
const library = await Hexcodes.load();
const folder = ownFolder('same-bytes');

interface Result {
  readonly status: string;
  readonly hexcodes?: string | null;
}

const wordOf = ({ status, hexcodes }: Result): string => (status === 'OK' ? `OK ${hexcodes}` : status);

function wordsOf(text: string, format: Format): string[] {
  if (format === 'ndjson')
    return text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => wordOf(JSON.parse(line.slice(line.indexOf('{'))) as Result));
  // The command keeps a first line that names the delimiter. The columns that are added are the last.
  const [names, ...rows] = parse(text.replace(/^\ufeff?sep=.\r?\n/, ''), {
    ...{ bom: true, delimiter: [',', ';'], record_delimiter: ['\r\n', '\n'], skip_empty_lines: true },
    ...{ relax_column_count: true, relax_quotes: true },
  }) as string[][];
  const code = names!.lastIndexOf('hexcodes') - names!.length;
  return rows.map((row) => wordOf({ status: row.at(-1)!, hexcodes: row.at(code)! }));
}

/** The bulk endpoint. */
function served(from: Format, to: Format, body: Uint8Array): Answer {
  try {
    return wordsOf(wire.bulk({ input: from, output: to }, body).toString(), to);
  } catch (error) {
    expect((error as Error).name).toBe('BulkInputError');
    return 'refused';
  }
}

/** The command. */
async function ran(from: Format, to: Format, body: Uint8Array): Promise<Answer> {
  const [input, output] = [join(folder, `in.${from}`), join(folder, `out.${to}`)];
  writeFileSync(input, body);
  try {
    await encodeFile(library, input, output);
  } catch (error) {
    expect([2, 3]).toContain((error as { exitCode?: number }).exitCode);
    return 'refused';
  }
  return wordsOf(readFileSync(output, 'utf8'), to);
}

/** A batch over HTTP, and the same as a JSON frame of the stream. @param items texts of JSON */
function batches(items: readonly string[]): string[][] {
  const points = `"points":[${items.join()}]`;
  const texts = [
    Buffer.from(wire.batch('encode', Buffer.from(`{${points}}`))).toString(),
    Buffer.from(wire.jsonFrame(Buffer.from(`{"seq":1,"op":"encode",${points}}`))).toString(),
  ];
  return texts.map((text) => (JSON.parse(text) as { results: Result[] }).results.map(wordOf));
}

const OK = 'OK HN-6GHP4-83RFR';
const BAD = 'INVALID_REQUEST';
const LINE = '{"lat":21.0288,"lng":105.8525}\n';
const TABLE = 'lat,lng\n21.0288,105.8525\n';
const lineWith = (member: string): string => LINE.replace('}', `,${member}}`);
const utf16 = (text: string): Buffer => Buffer.from(`\ufeff${text}`, 'utf16le');

type Case = readonly [body: string | Buffer, served: Answer, ran: Answer];

/** Cases of a body after which a plain line or row is, which both read unless the body is refused. */
const lines = (bodies: readonly string[], service: string, command: string): Case[] =>
  bodies.map((body) => [`${LINE}${body}`, [OK, service], command === 'refused' ? 'refused' : [OK, command]]);

type Difference = readonly [
  http: string,
  here: string,
  cases: Partial<Record<`${Format} ${Format}`, readonly Case[]>>,
];

/** Differences by the bodies that show them: what the page says of service and command, and the bodies. */
const DIFFERENCES: Readonly<Record<string, Difference>> = {
  'a position as people write it: `+21.03`, `21.03°`, `21.03N`, `21°01\'43.7"N`': [
    '`INVALID_REQUEST`',
    'read',
    {
      'csv csv': ['+21.0288', '21.0288°', '21.0288N', 'N21.0288', '21.0288 N', `"21°01'43.68""N"`].map(
        (lat) => [`lat,lng\n${lat},105.8525\n`, [BAD], [OK]],
      ),
    },
  ],
  'JSON: a position or resolution as text, `"21.0288"`; a resolution that is null': [
    '`INVALID_REQUEST`',
    'read; the default',
    {
      'ndjson ndjson': [
        '{"lat":"21.0288","lng":"105.8525"}\n',
        '{"lat":"21.0288N","lng":"105.8525E"}\n',
        lineWith('"resolution":"13"'),
        lineWith('"resolution":null'),
      ].map((body) => [body, [BAD], [OK]]),
    },
  ],
  'NDJSON: a line that is not JSON, not UTF-8 or not an object': [
    'fails alone; `[21.0288,105.8525]` is read',
    'refused',
    {
      'ndjson ndjson': [
        ...lines(['x', '{', '{"lat":21,"lng":105.8,}', '{"lat":021,"lng":1}', '"x"', '12'], BAD, 'refused'),
        ...lines(['null', '[]', '["21","105"]', `${LINE.trim()}x`, "{'lat':21}"], BAD, 'refused'),
        ...lines(['[21.0288,105.8525]'], OK, 'refused'),
        [Buffer.from(`${LINE}{"a":"\xff"}`, 'latin1'), [OK, BAD], 'refused'],
      ],
    },
  ],
  'NDJSON: a number that no double holds, `1e999`; more than 512 levels': [
    'fails alone if it is the position, else ignored',
    'refused',
    {
      'ndjson ndjson': [
        ...lines(
          [lineWith('"a":1e999'), lineWith(`"a":${'['.repeat(600)}${']'.repeat(600)}`)],
          OK,
          'refused',
        ),
        ...lines(['{"lat":-1e999,"lng":105.8525}'], BAD, 'refused'),
      ],
    },
  ],
  'NDJSON: an `id` that is neither a number nor a string of 128 characters at most, or two of them': [
    '`INVALID_REQUEST`',
    'read, as any column',
    {
      'ndjson csv': lines(
        [`"id":"${'x'.repeat(129)}"`, '"id":{}', '"id":null', '"id":true', '"id":1,"id":2'].map(lineWith),
        BAD,
        OK,
      ),
    },
  ],
  'NDJSON: a line of more than 64 KiB': [
    '`INVALID_REQUEST`',
    'read, up to 16 MiB',
    {
      'ndjson ndjson': lines([lineWith(`"a":"${'x'.repeat(65_536)}"`)], BAD, OK),
    },
  ],
  'NDJSON: `LAT`, ` lat `; `lat` in one line and `latitude` in another': [
    'exact names; each line by itself',
    'names as in CSV; two that could be the same are refused',
    {
      'ndjson csv': [
        ...lines([LINE.replace('lat', 'LAT'), LINE.replace('lat', ' lat ')], BAD, 'refused'),
        ...lines([LINE.replace('lat', 'latitude')], OK, 'refused'),
      ],
    },
  ],
  'NDJSON, and CSV into NDJSON: a member or column with the name of one that is added': [
    'not in the answer',
    'refused; `--prefix`',
    {
      'ndjson ndjson': lines(
        ['hexcodes', 'status', 'admin_code'].map((name) => lineWith(`"${name}":"x"`)),
        OK,
        'refused',
      ),
      'csv ndjson': [['lat,lng,hexcodes\n21.0288,105.8525,x\n', [OK], 'refused']],
      'csv csv': [['lat,lng,hexcodes\n21.0288,105.8525,x\n', 'refused', 'refused']],
    },
  ],
  'CSV into NDJSON: two columns of one name': [
    'not in the answer',
    'refused; `--drop`',
    {
      'csv ndjson': [['lat,lng,a,a\n21.0288,105.8525,x,y\n', [OK], 'refused']],
      'csv csv': [['lat,lng,a,a\n21.0288,105.8525,x,y\n', [OK], [OK]]],
    },
  ],
  'CSV: a quote that is open at the end': [
    'the rest is one row, `INVALID_REQUEST`',
    'refused',
    {
      'csv ndjson': [[`${TABLE}"21,105\n1,21\n`, [OK, BAD], 'refused']],
      'csv csv': [[`${TABLE}"21,105\n1,21\n`, [OK, BAD], 'refused']],
    },
  ],
  'CSV: titles above the header, no header, one column of whole positions, a header of more than 64 KiB': [
    'refused',
    'read',
    {
      'csv csv': [
        [`Shops of Hà Nội\n${TABLE}`, 'refused', [OK]],
        [`lat,lng,${'a'.repeat(70_000)}\n21.0288,105.8525,1\n`, 'refused', [OK]],
      ],
      'csv ndjson': [
        ['1,21.0288,105.8525\n2,21.0288,105.8525\n', 'refused', [OK, OK]],
        ['id,position\n1,"21.0288,105.8525"\n', 'refused', [OK]],
      ],
    },
  ],
  'UTF-16 with a byte order mark': [
    'refused; as NDJSON each line fails',
    'read',
    {
      'csv csv': [utf16(TABLE), utf16(TABLE).swap16()].map((body) => [body, 'refused', [OK]]),
      'ndjson ndjson': [[utf16(LINE), [BAD, BAD], [OK]]],
    },
  ],
};

describe.each(Object.entries(DIFFERENCES))('%s', (_, [, , cases]) => {
  test.each(Object.entries(cases))('%s', async (formats, bodies) => {
    const [from, to] = formats.split(' ') as [Format, Format];
    for (const [body, service, command] of bodies) {
      const bytes = Buffer.from(body as string);
      const shown = bytes.toString().slice(0, 200);
      expect([shown, served(from, to, bytes), await ran(from, to, bytes)]).toEqual([shown, service, command]);
    }
  });
});

test.each(['', '\n', '\r\n\n'])('NDJSON without a line, %j', async (body) => {
  const bytes = Buffer.from(body);
  expect([served('ndjson', 'ndjson', bytes), await ran('ndjson', 'ndjson', bytes)]).toEqual([[], []]);
});

const PAGE = `# The same bytes over HTTP

Where a row of CSV or NDJSON has another status or code in the command than in \`/bulk\`: test/conformance/same-bytes.test.ts
writes this page and holds each row. *Refused* is exit code 3 of the command (2 where a name clashes), and 400 over HTTP.

| body | over HTTP | command |
|---|---|---|
${Object.entries(DIFFERENCES)
  .map(([body, [http, here]]) => `| ${body} | ${http} | ${here} |`)
  .join('\n')}

NDJSON with members for the hemisphere (\`lat_ref\`) is refused by the command as a whole; over HTTP a line with one fails alone.
`;

test('docs/reference/same-bytes.md has each difference', async () => {
  await expect(PAGE).toMatchFileSnapshot(resolve('docs/reference/same-bytes.md'));
});

describe('rows that are drawn', () => {
  const degrees = fc.oneof(
    numberText,
    fc.constantFrom(
      'null',
      'nan',
      'N/A',
      '0x15',
      '-Infinity',
      '1e999',
      '\u00a021.03',
      '21.03\u200b',
      '5e-324',
    ),
  );

  test('numbers, quotes, blanks and other lengths in CSV', async () => {
    const row = fc
      .tuple(
        degrees,
        degrees,
        fc.constantFrom('', 'a', '"a,;b"', 'a"b', '"a\nb"', '"a\nb" c', '"a\nb" ', '👍'),
        fc.nat(20),
      )
      .map(([lat, lng, note, way]) => {
        const fields = [lat, lng].map((text) => (way % 3 === 0 ? `"${text}"` : text));
        if (way === 1) return fields[0]!;
        return [...fields, note, ...(way === 2 ? ['more'] : [])].join(';');
      });
    const body = fc.tuple(
      fc.array(row, { minLength: 1, maxLength: 20 }),
      fc.constantFrom('\n', '\r\n', '\n\n'),
      fc.constantFrom('', '\ufeff', 'sep=;\n'),
      fc.constantFrom('', '\r', '\r\n'),
    );
    await fc.assert(
      fc.asyncProperty(body, async ([rows, end, start, last]) => {
        const bytes = Buffer.from(
          `${start}lat;lng;note${end}21,0288;105,8525;x${end}${rows.join(end)}${last}`,
        );
        const due = served('csv', 'csv', bytes);
        expect(served('csv', 'ndjson', bytes)).toEqual(due);
        for (const to of ['csv', 'ndjson'] as const) {
          const answers = await ran('csv', to, bytes);
          // A sign before a number is read by the command alone.
          if (answers === 'refused' || due === 'refused') expect(answers).toBe(due);
          else if (!bytes.includes('+')) expect(answers).toEqual(due);
        }
      }),
      { seed: 101, numRuns: 30 },
    );
  });

  test('numbers and members in NDJSON, in batches and frames', async () => {
    const isNumber = (text: string): boolean => /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text);
    const number = numberText.filter((text) => isNumber(text) && Number.isFinite(Number(text)));
    const more = fc.constantFrom(
      '',
      '"a":[1,{"lat":2}]',
      '"id":1.50',
      '"":null',
      '"resolution":9',
      '"lat":21.5',
    );
    const line = fc
      .tuple(number, number, more, fc.constantFrom('', ' ', '\t'))
      .map(([lat, lng, member, blank]) =>
        `{"lat":${lat},"lng":${lng}${member && `,${member}`}}`.replaceAll(/[:,](?=["\d-])/g, `$&${blank}`),
      );
    const lines = fc.array(line, { minLength: 1, maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(lines, fc.constantFrom('\n', '\r\n', '\n\n'), async (rows, end) => {
        const bytes = Buffer.from([LINE.trim(), ...rows, ''].join(end));
        const due = served('ndjson', 'ndjson', bytes) as string[];
        expect(served('ndjson', 'csv', bytes)).toEqual(due);
        for (const to of ['ndjson', 'csv'] as const) expect(await ran('ndjson', to, bytes)).toEqual(due);
        for (const answers of batches([LINE.trim(), ...rows])) expect(answers).toEqual(due);
      }),
      { seed: 105, numRuns: 30 },
    );
  });

  test('bytes that are not text, and lines that end in CR alone or CR CR LF, are refused by both', async () => {
    const body = Buffer.from('id,lat,lng\n1,21.0288,105.8525\n2,"10.7769",106.7009\n');
    const wrong = ['\r', '\r\r\n'].map((end) => Buffer.from(body.toString().replaceAll('\n', end)));
    for (let at = 4; at < body.length; at += 7)
      for (const bad of ['\0', '\xff', '\xc0\xaf', '\xed\xa0\x80', '\xf5\x80\x80\x80'])
        wrong.push(Buffer.concat([body.subarray(0, at), Buffer.from(bad, 'latin1'), body.subarray(at)]));
    for (const bytes of wrong)
      for (const to of ['csv', 'ndjson'] as const)
        expect([bytes, served('csv', to, bytes), await ran('csv', to, bytes)]).toEqual([
          bytes,
          'refused',
          'refused',
        ]);
  });
});

// Members that say the hemisphere of a position (`lat_dir`, `ns` beside `ew`) and are not read: every reader of JSON
// refuses a row with them, whatever their spelling; names are drawn, and the judge is a list of spellings.
describe('members for the hemisphere', () => {
  const ENDS = ['_dir', 'Dir', ' direction', '-hemi', 'Hemisphere', '_ref', '.ref'].concat([
    '_hem',
    'Sign',
    ' indicator',
    '_reference',
    'Quadrant',
    ' cardinal',
  ]);
  /** One of these alone may be anything. */
  const SHORT = ['ns', 'N_S', 'n/s', 'ew', 'E_W', 'e w'];
  const LAT_SIDES = ['ns', 'lat_ns', 'N_S', 'n/s', 'North_South'].concat(
    ENDS.flatMap((end) => [`lat${end}`, `GPSLatitude${end}`, `NS${end}`, `n/s${end}`]),
  );
  const LNG_SIDES = ['ew', 'lonEW', 'E_W', 'e w', 'eastwest'].concat(
    ENDS.flatMap((end) => [`lng${end}`, `gps_lon${end}`, `ew${end}`, `E_W${end}`]),
  );
  /** Names that begin or end as the ones above, and are others. */
  const OTHERS = [
    ...'name news notes ens new latency longer east_side northing gps gps_fix'.split(' '),
    ...'lat2 event ngày n e s lat_int lng_int lat_sum nsf_dir ew_total ns_total'.split(' '),
  ];
  const escaped = (name: string): string =>
    JSON.stringify(name)
      .replaceAll('/', '\\/')
      .replace(/[a-z]/, (letter) => `\\u00${letter.charCodeAt(0).toString(16)}`);
  const spelled = (name: string, way: number): string =>
    way === 0 ? escaped(name) : JSON.stringify(way === 1 ? ` ${name}` : way === 2 ? `${name}\u00a0` : name);

  test('are refused by every entry', async () => {
    const random = randomFrom(104);
    const rows = Array.from({ length: 600 }, () => {
      const [hasLat, hasLng] = [below(2, random) === 0, below(2, random) === 0];
      const sides = [
        ...(hasLat ? [pick(LAT_SIDES, random)] : []),
        ...(hasLng ? [pick(LNG_SIDES, random)] : []),
      ];
      const others = Array.from({ length: below(3, random) }, () => pick(OTHERS, random));
      const members = [...sides, ...others].map(
        (name) => `${spelled(name, below(8, random))}:${pick(['"S"', '1', 'null'], random)}`,
      );
      members.push('"lat":21.0288', '"lng":105.8525');
      members.sort(() => random() - 0.5);
      const isRefused = sides.length === 2 || sides.some((name) => !SHORT.includes(name));
      return { text: `{${members.join(pick([',', ', '], random))}}`, isRefused };
    });
    const right = rows.map(({ isRefused }) => (isRefused ? BAD : OK));
    const body = Buffer.from(rows.map(({ text }) => `${text}\n`).join(''));
    for (const to of ['ndjson', 'csv'] as const) expect(served('ndjson', to, body)).toEqual(right);
    for (const answers of batches(rows.map(({ text }) => text))) expect(answers).toEqual(right);
    // The columns of a file are those of all its lines.
    const one = rows.find(({ isRefused }) => isRefused)!.text;
    for (const text of [`${one}\n`, LINE.repeat(5000) + body.toString()])
      expect(await ran('ndjson', 'ndjson', Buffer.from(text))).toBe('refused');
  });
});

test('names of one axis that are given different numbers are refused, equal ones are read', () => {
  const random = randomFrom(106);
  const LAT = ['lat', 'latitude'];
  const LNG = ['lng', 'lon', 'longitude'];
  const numberFor = (right: number): string => pick([`${right}`, `${right}0`, `${right}`, '7'], random);
  const rows = Array.from({ length: 2000 }, () => {
    const axes = [
      { names: LAT, right: 21.0288 },
      { names: LNG, right: 105.8525 },
    ].map(({ names, right }) => {
      const given = names.filter(() => below(2, random) === 0);
      if (given.length === 0) given.push(pick(names, random));
      return given.map((name) => [name, numberFor(right)] as const);
    });
    const members = axes.flat().map(([name, value]) => `"${name}":${value}`);
    const isRead = axes.every((axis) => new Set(axis.map(([, value]) => Number(value))).size === 1);
    const isThere = axes.every(([first]) => first![1] !== '7');
    const text = `{${members.sort(() => random() - 0.5).join()}}`;
    return { text, right: isRead ? (isThere ? OK : 'NOT_FOUND') : BAD };
  });
  const right = rows.map((row) => row.right);
  const body = rows.map(({ text }) => `${text}\n`).join('');
  expect(served('ndjson', 'ndjson', Buffer.from(body))).toEqual(right);
  for (const answers of batches(rows.map(({ text }) => text))) expect(answers).toEqual(right);
});
