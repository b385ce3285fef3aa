// Rows and batches: the envelope, and reports of blocks.
import { describe, expect, test } from 'vitest';
import { JsonEnvelope, MAX_MEMBERS } from '#dist/hexcodes/wire/rows/envelope.js';
import { failedRowsOf } from '#dist/hexcodes/wire/rows/row-report.js';
import { ADMIN_UNITS, Hexcodes } from '#hexcodes';
import { openKernel, randomFrom } from '../../support/open-world.js';
import { type BulkRequest, type ConvertedBlock, Wire } from '../../support/wire.js';

// The envelope of a batch: how many members it may have, that a body with more is given up there, and that arrays end
// where they do without the kernel.
describe('the envelope', () => {
  const bodyOf = (names: string[], rest = ''): Buffer =>
    Buffer.from(`{${names.map((name) => `"${name}":0`).join(',')}${rest}}`);

  test('as many members as are allowed are read, of one name or of many', () => {
    const names = Array.from({ length: MAX_MEMBERS }, (_, i) => `m${i}`);
    expect(new JsonEnvelope(bodyOf(names)).members('m63')).toHaveLength(1);
    const same = new JsonEnvelope(bodyOf(names.map(() => 'same')));
    expect(same.members('same')).toHaveLength(MAX_MEMBERS);
    expect(same.members('same').map(({ start }) => start)).toEqual(names.map((_, i) => 8 + 9 * i));
  });

  test.each(['', 'distinct'])('one more is refused, and nothing behind it is read (%s)', (kind) => {
    const names = Array.from({ length: MAX_MEMBERS + 1 }, (_, i) => (kind === '' ? '' : `m${i}`));
    const message = `has more than ${MAX_MEMBERS} members`;
    expect(() => new JsonEnvelope(bodyOf(names))).toThrow(message);
    // The rest is not JSON, which would be the error if it were read.
    expect(() => new JsonEnvelope(bodyOf(names, ', no JSON at all'))).toThrow(message);
  });

  const kernels = [openKernel(), openKernel('kernel.debug')];

  /** The member `points`, or the fault of the body. */
  const pointsIn = (body: Buffer, kernel?: (typeof kernels)[number]): unknown => {
    try {
      return new JsonEnvelope(body, kernel).members('points');
    } catch (error) {
      return String(error);
    }
  };

  test('brackets, quotes, commas and backslashes in any order: the kernel ends an array where the walk does', () => {
    const random = randomFrom(20261123);
    const upTo = (n: number): number => Math.floor(random() * n);
    // Runs of one kind, so that strings and arrays reach over the 64 bytes that the kernel looks at.
    const pieces = ['[', ']', '{', '}', '"', ',', '\\', '\\"', ' ', '"a"', '0.5', 'é', '[1,2],', '{"x":[]},'];
    const seen = { ended: 0, refused: 0 };
    for (let round = 0; round < 20_000; round++) {
      let text = '';
      for (let left = upTo(12); left >= 0; left--)
        text += pieces[upTo(pieces.length)]!.repeat(1 + upTo(round % 3 === 0 ? 70 : 3));
      const body = Buffer.from(`{"points":[${text}${round % 2 === 0 ? ']}' : ''}`);
      const wanted = pointsIn(body);
      seen[typeof wanted === 'string' ? 'refused' : 'ended']++;
      for (const kernel of kernels) expect(pointsIn(body, kernel), body.toString()).toEqual(wanted);
    }
    expect(Math.min(seen.ended, seen.refused)).toBeGreaterThan(500);
  });

  test('arrays larger than the kernel takes at once, with strings, escapes and brackets at its bounds', () => {
    const random = randomFrom(20261124);
    for (let round = 0; round < 12; round++) {
      const elements = Array.from({ length: 9000 }, () =>
        JSON.stringify({ a: '\\"[{,'.repeat(Math.floor(random() * 12)), b: [1, [2, '"'], {}] }),
      );
      const whole = Buffer.from(`{"points":[${elements.join(', ')}]}`);
      const body = round < 8 ? whole : whole.subarray(0, Math.floor(whole.length * random()));
      const wanted = pointsIn(body);
      if (round < 8) expect(wanted).toMatchObject([{ count: 9000, isArray: true }]);
      for (const kernel of kernels) expect(pointsIn(body, kernel)).toEqual(wanted);
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
