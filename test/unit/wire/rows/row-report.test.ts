// Reports of blocks beyond what the property tests draw: more rows than one scan takes, and codes in every spelling.
import { expect, test } from 'vitest';
import { ADMIN_UNITS } from '#dist/hexcodes/admin-units.js';
import { Hexcodes } from '#dist/hexcodes/library/hexcodes.js';
import { convertBlock } from '#dist/hexcodes/wire/bulk/convert-block.js';
import { BulkReader } from '#dist/hexcodes/wire/bulk/reader.js';
import type { BulkRequest, ConvertedBlock } from '#dist/hexcodes/wire/job.js';
import { failedRowsOf } from '#dist/hexcodes/wire/rows/row-report.js';
import { openKernel, randomFrom } from '../../../support/open-world.js';

const kernel = openKernel();
const library = new Hexcodes(openKernel());

function convert(text: string, body: string, refusal?: 'UNAVAILABLE'): ConvertedBlock {
  const [operation, input, output] = text.split(' ') as [
    BulkRequest['operation'],
    BulkRequest['input'],
    BulkRequest['output'],
  ];
  const reader = new BulkReader({ operation, input, output, resolution: 13, prefix: '' });
  const blocks = [...reader.push(Buffer.from(body)), ...reader.end()];
  expect(blocks).toHaveLength(1);
  const job = { ...reader.job!, wantsReport: true, ...(refusal === undefined ? {} : { refusal }) };
  return convertBlock(kernel, job, blocks[0]!);
}

function byCode(counts: Uint32Array): Record<string, number> {
  const entries = ADMIN_UNITS.map(({ code }, place) => [code, counts[place]!] as const);
  return Object.fromEntries(entries.filter(([, rows]) => rows > 0));
}

/**
 * Two places of the test world, with the positions and codes of each; one admin code has three letters, the other two.
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
  expect(failedRowsOf(report!).map(({ row }) => row)).toEqual(Array.from({ length: 9000 }, (_, row) => row));
});

test('a job that asks for none gets none, and answer frames have none', () => {
  const reader = new BulkReader({
    operation: 'encode',
    input: 'ndjson',
    output: 'ndjson',
    resolution: 13,
    prefix: '',
  });
  const [block] = [...reader.push(Buffer.from('[21,105.8]\n')), ...reader.end()];
  expect(convertBlock(kernel, reader.job!, block!).report).toBeUndefined();
  expect(convert('encode ndjson frames', '[21,105.8]\n').report).toBeUndefined();
});
