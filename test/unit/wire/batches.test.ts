// Rows, batches and binary frames: the envelope, reports of blocks, and every malformed frame answered as such.

import { describe, expect, test } from 'vitest';
import { ADMIN_UNITS, Hexcodes } from '#hexcodes';
import { openKernel, randomFrom } from '../../support/open-world.js';
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

  test('arrays of any values end where JSON ends them, also those that are larger than the kernel takes', () => {
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

  test('a code counts for its province in whatever spelling', () => {
    expect([N.length, S.length].sort()).toEqual([2, 3]);
    const spellings = [NORTH.hexcodes, SOUTH.hexcodes].flatMap((code) => [
      code,
      code.toLowerCase(),
      code.replaceAll('-', ''),
      ` ${code.replaceAll('-', ' ')}`,
      code.replaceAll('-', '. '),
      code.replace('N', 'Ｎ'),
      code.slice(0, 1).toLowerCase() + code.slice(1),
    ]);
    const due = { [N]: 7, [S]: 7 };
    for (const operation of ['decode csv csv', 'decode csv ndjson'])
      expect(byCode(convert(operation, `hexcodes\n${spellings.join('\n')}\nHN-\n`).report!.byAdmin)).toEqual(
        due,
      );
    const lines = spellings.map((code) => JSON.stringify(code)).join('\n');
    for (const operation of ['decode ndjson ndjson', 'decode ndjson csv'])
      expect(byCode(convert(operation, lines).report!.byAdmin)).toEqual(due);
  });

  test('rows that the host writes are counted like others', () => {
    // A number beyond 19 digits, an id with an escape, a code with an escape: none of these is the kernel’s to write.
    const points = [
      '{"lat":21.02880000000000000000001,"lng":105.8525}',
      '{"lat":21,"lng":105.8,"id":"\\u0041"}',
    ];
    const csv = convert('encode ndjson csv', points.join('\n'));
    expect(byCode(csv.report!.byAdmin)).toEqual({ [N]: 2 });
    expect(Buffer.from(csv.bytes).toString()).toContain(`\nA,21,105.8,${N}-`);
    const code = NORTH.hexcodes;
    const hex = code.charCodeAt(0).toString(16);
    const codes = [`{"hexcodes":"\\u00${hex}${code.slice(1)}"}`, JSON.stringify(code)];
    expect(byCode(convert('decode ndjson csv', codes.join('\n')).report!.byAdmin)).toEqual({ [N]: 2 });
  });

  test('refused rows have no province, and each is a failed row', () => {
    const body = `lat,lng\n${'21,105.85\n'.repeat(9000)}`;
    const { report } = convert('encode csv csv', body, 'UNAVAILABLE');
    expect(byCode(report!.byAdmin)).toEqual({});
    expect(failedRowsOf(report!).map(({ row }) => row)).toEqual(
      Array.from({ length: 9000 }, (_, row) => row),
    );
  });

  test('a job that asks for none gets none, and answer frames have none', () => {
    const { job, blocks } = wire.cut({ input: 'ndjson' }, ['[21,105.8]\n']);
    expect(wire.block(job, blocks[0]!).report).toBeUndefined();
    expect(convert('encode ndjson frames', '[21,105.8]\n').report).toBeUndefined();
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
