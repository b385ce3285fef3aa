// Rows, batches and binary frames: the envelope, reports of blocks, every malformed frame answered as such, and
// fields that are added to rows.

import { parse } from 'csv-parse/sync';
import { describe, expect, test } from 'vitest';
import { ADMIN_UNITS, Hexcodes } from '#hexcodes';
import { openKernel, randomFrom } from '../../support/open-world.js';
import { shippedKernel } from '../../support/shipped.js';
import { rowsOf } from '../../support/vectors.js';
import { type BulkRequest, type ConvertedBlock, failedRowsOf, Wire } from '../../support/wire.js';

// The envelope of a batch: how many members it may have, that a body with more is given up there, and that arrays end
// where JSON ends them.
describe('the envelope', () => {
  const wires = [new Wire(openKernel()), new Wire(openKernel('kernel.debug'))];
  /** How many items a body has, or its fault. */
  const itemsIn = (body: Uint8Array | string, wire = wires[0]!): number | string => {
    try {
      const answer = Buffer.from(wire.batch('encode', Buffer.from(body))).toString();
      return (JSON.parse(answer) as { summary: { total: number } }).summary.total;
    } catch (error) {
      return String(error);
    }
  };

  test.each(['same', 'm'])('64 members are read, with one more nothing behind it is (%s)', (name) => {
    const more = Array.from({ length: 64 }, (_, i) => `"${name}${name === 'm' ? i : ''}":0`);
    expect(itemsIn(`{"points":[],${more.slice(1).join()}}`)).toBe(0);
    // The rest is not JSON, which would be the error if it were read.
    for (const rest of ['', ', no JSON at all'])
      expect(itemsIn(`{"points":[],${more.join()}${rest}}`)).toMatch(/has more than 64 members/);
  });

  test('arrays of any values end where JSON ends them, also beyond the size that the kernel takes', () => {
    const random = randomFrom(20261123);
    const upTo = (n: number): number => Math.floor(random() * n);
    // Runs of one kind, so that strings and arrays reach over the 64 bytes that the kernel looks at.
    const pieces = ['[', ']', '{', '}', '"', ',', '\\', '\\"', ' ', 'é', '[1,2],'];
    const text = (): string =>
      Array.from({ length: upTo(5) }, () => pieces[upTo(pieces.length)]!.repeat(1 + upTo(70))).join('');
    const value = (depth: number): unknown => {
      const kind = upTo(depth > 4 ? 2 : 4);
      const many = () => Array.from({ length: upTo(4) }, () => value(depth + 1));
      return kind === 0 ? text() : kind === 1 ? upTo(100) : kind === 2 ? many() : { [text()]: many() };
    };
    for (let round = 0; round < 2000; round++) {
      const points = Array.from({ length: round < 8 ? 9000 : upTo(6) }, () => value(0));
      const space = ' '.repeat(upTo(3));
      const body = Buffer.from(`{"points":${JSON.stringify(points, null, upTo(2))}${space},"resolution":7}`);
      const isCut = round % 4 === 0;
      const given = isCut ? body.subarray(0, upTo(body.length)) : body;
      for (const wire of wires)
        expect(itemsIn(given, wire), given.toString()).toEqual(
          isCut ? expect.stringMatching(/^BrokenBatchError/) : points.length,
        );
    }
  });
});

// Reports of blocks beyond what the property tests draw: more rows than one scan takes, and codes in every spelling.
describe('reports', () => {
  const wire = new Wire(openKernel());
  const library = new Hexcodes(openKernel());

  function convert(text: string, body: string, refusal?: 'UNAVAILABLE'): ConvertedBlock {
    const [operation, input, output] = text.split(' ') as [
      BulkRequest['operation'],
      BulkRequest['input'],
      BulkRequest['output'],
    ];
    const { job, blocks } = wire.cut({ operation, input, output }, [body]);
    expect(blocks).toHaveLength(1);
    return wire.block({ ...job, wantsReport: true, ...(refusal && { refusal }) }, blocks[0]!);
  }

  function byCode(counts: Uint32Array): Record<string, number> {
    const entries = ADMIN_UNITS.map(({ code }, place) => [code, counts[place]!] as const);
    return Object.fromEntries(entries.filter(([, rows]) => rows > 0));
  }

  /**
   * Two places of the test world, with the positions and codes of each; one admin code has three letters, the other
   * two.
   */
  const NORTH = library.encode(21.02, 105.85, 13);
  const SOUTH = library.encode(10.77, 106.7, 13);
  const [N, S] = [NORTH.admin_code, SOUTH.admin_code];

  test('rows are counted through all scans of a block, blank lines not', () => {
    const random = randomFrom(61);
    // Short rows: more than twice as many as a scan takes fit into one block.
    const lines = Array.from({ length: 10_000 }, () =>
      random() < 0.3 ? (random() < 0.5 ? '5,179' : '91,0') : random() < 0.5 ? '21.02,105.85' : '10.77,106.7',
    );
    const { bytes, rows, report } = convert('encode csv csv', `lat,lng\n${lines.join('\n\n')}\n`);
    expect(rows).toBe(lines.length);
    const due = lines.flatMap((line, row) =>
      line === '5,179' ? [[row, 'NOT_FOUND']] : line === '91,0' ? [[row, 'INVALID_REQUEST']] : [],
    );
    const failed = failedRowsOf(report!);
    expect(failed.map(({ row, status }) => [row, status])).toEqual(due);
    const answers = Buffer.from(bytes)
      .toString()
      .split(/(?<=\n)/);
    for (const { row, answerStart, answerEnd } of failed)
      expect(Buffer.from(bytes.subarray(answerStart, answerEnd)).toString()).toBe(answers[row]);
    const count = (line: string): number => lines.filter((each) => each === line).length;
    expect(byCode(report!.byAdmin)).toEqual({ [N]: count('21.02,105.85'), [S]: count('10.77,106.7') });
  });

  test('refused rows have no province, and each is a failed row', () => {
    const body = `lat,lng\n${'21,105.85\n'.repeat(9000)}`;
    const { report } = convert('encode csv csv', body, 'UNAVAILABLE');
    expect(byCode(report!.byAdmin)).toEqual({});
    expect(failedRowsOf(report!).map(({ row }) => row)).toEqual(
      Array.from({ length: 9000 }, (_, row) => row),
    );
  });
});

// Binary frames through the kernel: equal to the library point by point, and every malformed frame answered as such.

const wire = new Wire(openKernel());
/** Points of a frame, at most. */
const MAX_FRAME_POINTS = 65_536;
const library = new Hexcodes(openKernel());
const random = randomFrom(606);

function frameOf(
  operation: number,
  resolution: number,
  output: number,
  count: number,
  body: Uint8Array,
): Uint8Array {
  const frame = new Uint8Array(16 + body.length);
  frame.set([1, operation, resolution, output]);
  const view = new DataView(frame.buffer);
  view.setUint32(4, 0xfffffff0, true);
  view.setUint32(8, count, true);
  frame.set(body, 16);
  return frame;
}

/** Land, sea, abroad, and what is not a coordinate. */
function points(count: number): Float64Array {
  const oddities = [Number.NaN, Number.POSITIVE_INFINITY, 91, -90.5];
  return Float64Array.from({ length: count * 2 }, (_, i) => {
    if (random() < 0.02) return oddities[Math.floor(random() * oddities.length)]!;
    return i % 2 === 0 ? 3 + random() * 24 : 98 + random() * 23;
  });
}

const bytesOf = (array: Float64Array): Uint8Array => new Uint8Array(array.buffer);

test.each([0, 1, 4096, 4097, 10_000])('encode and decode of %i points equal the library', (count) => {
  const pairs = points(count);
  const records = library.encodeBatch(pairs, 11);
  const texts = wire.frame(frameOf(1, 11, 0, count, bytesOf(pairs)));
  expect(Buffer.from(texts.subarray(16)).equals(Buffer.from(records))).toBe(true);
  const view = new DataView(texts.buffer, texts.byteOffset);
  const failed = records.filter((_, i) => i % 20 === 19).filter((status) => status !== 0).length;
  expect([texts[0], texts[1], texts[2], texts[3]]).toEqual([1, 1, 0, 0]);
  expect([4, 8, 12].map((at) => view.getUint32(at, true))).toEqual([0xfffffff0, count, failed]);

  const cells = wire.frame(frameOf(1, 11, 1, count, bytesOf(pairs)));
  const cellView = new DataView(cells.buffer, cells.byteOffset);
  expect(cells.length).toBe(16 + count * 10);
  for (let i = 0; i < count; i++) {
    const status = records[i * 20 + 19]!;
    const code = Buffer.from(records.subarray(i * 20, i * 20 + 19)).toString('latin1');
    const expected = status === 0 ? library.read(code.replace(/\0+$/, ''))!.cell : 0n;
    if (cellView.getBigUint64(16 + i * 8, true) !== expected) expect.fail(`cell of point ${i}`);
    if (cells[16 + count * 9 + i] !== status) expect.fail(`status of point ${i}`);
    if ((cells[16 + count * 8 + i] === 255) !== (status !== 0)) expect.fail(`admin of point ${i}`);
  }

  const decoded = library.decodeBatch(records);
  const positions = wire.frame(frameOf(2, 0, 0, count, records));
  expect(Buffer.from(positions.subarray(16, 16 + count * 16)).equals(bytesOf(decoded.latLng))).toBe(true);
  expect([...positions.subarray(16 + count * 16, 16 + count * 17)]).toEqual([...decoded.resolution]);
  expect([...positions.subarray(16 + count * 17)]).toEqual([...decoded.status]);
});

test.each([0, 1, 4096, 4097, 26_000])('%i points are answered in the kernel as elsewhere', (count) => {
  const pairs = points(count);
  const records = library.encodeBatch(pairs, 11);
  const { textOut } = wire.kernel;
  for (const frame of [
    frameOf(1, 11, 0, count, bytesOf(pairs)),
    frameOf(1, 11, 1, count, bytesOf(pairs)),
    frameOf(2, 0, 0, count, records),
  ]) {
    const due = Buffer.from(wire.frame(frame));
    const answer = wire.frame(frame, textOut.subarray(5));
    expect([answer.buffer, answer.byteOffset]).toEqual([textOut.buffer, textOut.byteOffset + 5]);
    expect(due.equals(answer)).toBe(true);
  }
});

test('failed points are all NUL, cell 0 and admin 255, or the one NaN of the format', () => {
  const nowhere = Float64Array.of(0, 0, Number.NaN, 105);
  const texts = wire.frame(frameOf(1, 13, 0, 2, bytesOf(nowhere)));
  expect([...texts.subarray(16)]).toEqual([...new Array(19).fill(0), 1, ...new Array(19).fill(0), 2]);
  const cells = wire.frame(frameOf(1, 13, 1, 2, bytesOf(nowhere)));
  expect([...cells.subarray(16)]).toEqual([...new Array(16).fill(0), 255, 255, 1, 2]);
  const record = new Uint8Array(40);
  record.set(Buffer.from('not a hexcode'));
  record.set([0xc4, 0x90], 20);
  const positions = wire.frame(frameOf(2, 0, 0, 2, record));
  const nan = [0, 0, 0, 0, 0, 0, 0xf8, 0x7f];
  expect([...positions.subarray(16)]).toEqual([...nan, ...nan, ...nan, ...nan, 255, 255, 3, 3]);
});

const good = frameOf(1, 13, 0, 1, new Uint8Array(16));
const changed = (at: number, value: number, from = good): Uint8Array => {
  const frame = from.slice();
  frame[at] = value;
  return frame;
};
const goodDecode = frameOf(2, 0, 0, 1, new Uint8Array(20));

test.each([
  ['no header', new Uint8Array(0)],
  ['15 bytes', good.subarray(0, 15)],
  ['version 0', changed(0, 0)],
  ['version 2', changed(0, 2)],
  ['operation 0', changed(1, 0)],
  ['operation 3', changed(1, 3)],
  ['resolution 16', changed(2, 16)],
  ['resolution 255, which the kernel knows', changed(2, 255)],
  ['output 2', changed(3, 2)],
  ['one byte short', good.subarray(0, 31)],
  ['one byte long', Uint8Array.of(...good, 0)],
  ['another count', changed(8, 2)],
  ['a count of 4 G', changed(11, 255)],
  ['bytes 12-15 not 0', changed(15, 1)],
  ['decode with a resolution', changed(2, 13, goodDecode)],
  ['decode with an output', changed(3, 1, goodDecode)],
  [
    'more points than allowed',
    frameOf(1, 13, 0, MAX_FRAME_POINTS + 1, new Uint8Array((MAX_FRAME_POINTS + 1) * 16)),
  ],
])('%s is a bad frame', (_, frame) => {
  const answer = wire.frame(frame);
  expect(answer.length).toBe(16);
  expect([answer[0], answer[2]]).toEqual([1, 1]);
  const seq = frame.length < 16 ? [0, 0, 0, 0] : [0xf0, 0xff, 0xff, 0xff];
  expect([...answer.subarray(4)]).toEqual([...seq, 0, 0, 0, 0, 0, 0, 0, 0]);
  if (frame.length >= 16) expect([answer[1], answer[3]]).toEqual([frame[1], frame[3]]);
});

// former_province, border_m and certainty in rows that are odd or refused: nothing else of an answer changes, and rows
// without a code have none. Rows with one are compared by test/property/differential.

const shipped = new Wire(shippedKernel());
const shippedLibrary = new Hexcodes(shippedKernel());

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
  const { border_m, certainty } = shippedLibrary.borderOf(lat, lng)!;
  return {
    ...(asked.former && { former_province: shippedLibrary.formerProvinceOf(lat, lng) }),
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
    expect(shippedLibrary.formerProvinceOf(latDeg, lngDeg) ?? '-').toBe(former_province);
    if (admin_code === '-') continue;
    const encoded = shippedLibrary.encode(latDeg, lngDeg, { former: true });
    expect(encoded).toEqual({ ...shippedLibrary.encode(latDeg, lngDeg), former_province });
  }
});

test('boundaries without the former provinces refuse to name them', () => {
  const other = new Hexcodes(openKernel());
  for (const call of [() => other.formerProvinceOf(21, 105), () => other.encode(21, 105, { former: true })])
    expect(call).toThrow(expect.objectContaining({ code: expect.any(String) }));
});
