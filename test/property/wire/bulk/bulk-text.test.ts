// Bulk text against the slow peer of test/support/peers/bulk-text.ts: random documents with faults of every kind, in
// both builds of the kernel, and the same documents cut into chunks at every place.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ADMIN_UNITS, Hexcodes } from '#hexcodes';
import { CODES, item, numberText, space } from '../../../support/items.js';
import { openKernel } from '../../../support/open-world.js';
import { csvByPeer, fieldsByPeer, ndjsonByPeer, withoutWording } from '../../../support/peers/bulk-text.js';
import {
  BlockBuffers,
  type BulkJob,
  type BulkRequest,
  type ConvertedBlock,
  failedRowsOf,
  type Operation,
  ROW_STATUSES,
  Wire,
} from '../../../support/wire.js';

const release = new Wire(openKernel());
const debug = new Wire(openKernel('kernel.debug'));
const library = new Hexcodes(openKernel());

/** Shared by all bodies, so that blocks lie in buffers that hold bytes of earlier ones. */
const buffers = new BlockBuffers();

/** The answer to a body that arrives in chunks; `flushes`: after which of them the reader is flushed. */
function answer(
  request: BulkRequest,
  chunks: readonly Uint8Array[],
  wire = release,
  flushes?: boolean[],
): Buffer {
  const { head, job: plain, blocks } = wire.cut(request, chunks, flushes, buffers);
  let rows = 0;
  const parts = blocks.map((block) => {
    const job = { ...plain, wantsReport: chunks.length === 1 };
    const converted = wire.block(job, block);
    if (job.wantsReport) checkReport(job, block, converted);
    expect(converted.byStatus.reduce((sum, n) => sum + n)).toBe(converted.rows);
    rows += converted.rows;
    return converted.bytes;
  });
  const bytes = Buffer.concat([head, ...parts]);
  if (blocks.length > 0) {
    expect(Buffer.concat([head, ...wire.pieces(plain, blocks)]).equals(bytes)).toBe(true);
    for (const block of blocks) buffers.giveBack(block);
  }
  if (request.input !== 'csv' && request.output === 'ndjson')
    expect(bytes.toString('latin1').split('\n').length - 1).toBe(rows);
  return bytes;
}

/** The report of a body in one piece against its answer: provinces by the library, failed rows by their places. */
function checkReport(job: BulkJob, block: Uint8Array, { bytes, byStatus, report }: ConvertedBlock): void {
  const { byAdmin } = report!;
  if (job.output === 'ndjson') {
    const due = new Uint32Array(ADMIN_UNITS.length);
    for (const line of Buffer.from(bytes).toString().split('\n').slice(0, -1)) {
      const { status, hexcodes } = JSON.parse(line) as { status: string; hexcodes: string };
      if (status !== 'OK') continue;
      const { admin_code } = library.decode(hexcodes)!;
      due[ADMIN_UNITS.findIndex(({ code }) => code === admin_code)]!++;
    }
    expect(byAdmin).toEqual(due);
  } else {
    // The provinces of JSON answers to the same rows are checked above.
    const asJson = release.block({ ...job, output: 'ndjson' }, block);
    expect(byAdmin).toEqual(asJson.report!.byAdmin);
  }
  const failed = failedRowsOf(report!);
  if (job.input !== 'csv' || job.output !== 'csv') {
    expect(failed).toEqual([]);
    return;
  }
  const counts = new Uint32Array(ROW_STATUSES.length);
  const text = Buffer.from(bytes).toString('latin1');
  let [row, answerEnd] = [-1, 0];
  for (const each of failed) {
    expect(each.row).toBeGreaterThan(row);
    expect(each.answerStart).toBeGreaterThanOrEqual(answerEnd);
    const answer = text.slice(each.answerStart, each.answerEnd);
    const given = Buffer.from(block.subarray(each.start, each.end)).toString('latin1');
    const isWhole = fieldsByPeer(given, ',')?.length === job.csv!.columns;
    if (isWhole) expect(answer.startsWith(given)).toBe(true);
    const fields = fieldsByPeer(answer.replace(/\r?\n$/, ''), ',');
    expect(fields).toHaveLength(job.csv!.columns + (job.csv!.resolution >= 0 ? 3 : 4));
    expect(answer).toMatch(new RegExp(`,${each.status}\r?\n$`));
    ({ row, answerEnd } = each);
    counts[ROW_STATUSES.indexOf(each.status)]!++;
  }
  expect([...counts].slice(1)).toEqual([...byStatus].slice(1));
}

function request(
  operation: Operation,
  input: 'csv' | 'ndjson',
  output: 'csv' | 'ndjson' = input,
): BulkRequest {
  return { operation, input, output, resolution: 11, prefix: '' };
}

function run(seedless: fc.IProperty<unknown>, numRuns: number): void {
  fc.assert(seedless, { numRuns, verbose: 1 });
}

describe('CSV', () => {
  const filler = fc.oneof(
    fc.string({ maxLength: 20 }),
    fc.string({ unit: fc.constantFrom('"', ',', '\n', '\r', 'a', ' ', '\t', 'ế'), maxLength: 12 }),
    fc.constantFrom('', '"', '""', 'a"b', '\u0001', 'Phố Huế, Hà Nội', '"x" y'),
  );
  const quote = (text: string): string => `"${text.replaceAll('"', '""')}"`;
  const mayBare = (text: string): boolean => !/[,\n]|^"/.test(text) && !text.endsWith('\r');
  const field = (value: fc.Arbitrary<string>): fc.Arbitrary<string> =>
    fc.tuple(value, fc.integer({ min: 0, max: 9 })).map(([text, how]) => {
      if (how === 0) return quote(text);
      // A quote that does not open the field is a letter; one that opens it and has no end is another test's matter.
      if (how === 1) return text.replaceAll(/[,\n\r]/g, ' ').replace(/^"/, '_');
      if (how === 2 && !/["\n\r,]/.test(text)) return `"${text}"z`;
      return mayBare(text) ? text : quote(text);
    });
  /** Numbers as tables hold them. */
  const cell = fc
    .tuple(
      numberText,
      fc.constantFrom('', '', '', ' ', '\t', '\u00a0 ', ' \u00a0'),
      fc.integer({ min: 0, max: 8 }),
    )
    .map(([text, blanks, how]) => {
      if (how === 0) return text.replace('.', ',');
      if (how === 1) return blanks + text.replaceAll('.', ',');
      return how === 2 ? text + blanks : how === 3 ? blanks + text + blanks : text;
    });
  const header = ['note', 'lat', 'x', 'lng', 'resolution', 'hexcodes'];
  const fields = [
    field(filler),
    field(cell),
    field(filler),
    field(cell),
    field(fc.constantFrom('', '', '13', '0', '15', '16', '7', ' 7', '9\t', ' ', '07', 'x', '1e1')),
    field(fc.constantFrom(...CODES)),
  ];

  /** A document with some of the columns, its header and the places of what is read. */
  const document = fc
    .record({
      columns: fc.constantFrom(
        [1, 3],
        [3, 1],
        [0, 1, 3],
        [1, 2, 3, 0],
        [4, 3, 1],
        [0, 1, 2, 3, 4, 5],
        [5],
        [0, 5],
        [5, 2],
      ),
      rowEnd: fc.constantFrom('\n', '\r\n'),
      hasMark: fc.boolean(),
      isEnded: fc.boolean(),
    })
    .chain(({ columns, rowEnd, hasMark, isEnded }) => {
      const row = fc.tuple(
        fc.tuple(...columns.map((c) => fields[c]!)),
        fc.integer({ min: 0, max: 30 }),
        fc.constantFrom(rowEnd, rowEnd, rowEnd, '\n', '\r\n', `${rowEnd}${rowEnd}`),
      );
      return fc.array(row, { maxLength: 12 }).map((rows) => {
        const names = columns.map((c) => header[c]!);
        const lines = rows.map(([cells, oddity, end], i) => {
          if (oddity === 0) cells = [...cells, 'more'] as typeof cells;
          if (oddity === 1 && cells.length > 1) cells = cells.slice(1) as typeof cells;
          return cells.join(',') + (i === rows.length - 1 && !isEnded ? '' : end);
        });
        // A NUL ends the body.
        const all = lines.join('').replaceAll('\0', '\u0001');
        const text = `${hasMark ? '\ufeff' : ''}${names.join(',')}${rowEnd}${all}`;
        return { names, rowEnd, bytes: Buffer.from(text), mark: hasMark };
      });
    });

  const places = (names: string[], operation: Operation) => ({
    first: names.indexOf(operation === 'encode' ? 'lat' : 'hexcodes'),
    second: names.indexOf('lng'),
    resolution: names.indexOf('resolution'),
  });

  test('is what csv-parse and the library make of it', () => {
    run(
      fc.property(document, ({ names, rowEnd, bytes, mark }) => {
        for (const operation of ['encode', 'decode'] as const) {
          const at = places(names, operation);
          if (at.first < 0) continue;
          const isClash =
            operation === 'decode' && ['lat', 'lng', 'resolution'].some((n) => names.includes(n));
          const isEncodeClash = operation === 'encode' && names.includes('hexcodes');
          const asked = { ...request(operation, 'csv'), prefix: isClash || isEncodeClash ? 'p_' : '' };
          const head =
            operation === 'encode'
              ? ['hexcodes', ...(at.resolution < 0 ? ['resolution'] : []), 'admin_code', 'status']
              : ['lat', 'lng', 'resolution', 'status'];
          const wanted =
            Buffer.from(`${mark ? '\ufeff' : ''}${names.join(',')}`).toString('latin1') +
            head.map((name) => `,${asked.prefix}${name}`).join('') +
            rowEnd +
            csvByPeer(
              library,
              operation,
              bytes.subarray(mark ? 3 : 0),
              names.join(',') + (rowEnd === '\r\n' ? '\r' : ''),
              at,
              11,
            );
          expect(answer(asked, [bytes]).toString('latin1')).toBe(wanted);
          expect(answer(asked, [bytes], debug).toString('latin1')).toBe(wanted);
        }
      }),
      150,
    );
  });

  test('is the same however the body is cut', () => {
    run(
      fc.property(document, fc.infiniteStream(fc.boolean()), ({ names, bytes }, flips) => {
        const operation = names.includes('lat') ? 'encode' : 'decode';
        const asked = { ...request(operation, 'csv'), prefix: 'p_' };
        const whole = answer(asked, [bytes]);
        const flushes = [...flips.take(2)];
        for (let cut = 0; cut <= bytes.length; cut++) {
          const chunks = [bytes.subarray(0, cut), bytes.subarray(cut)];
          expect(answer(asked, chunks, release, flushes).equals(whole)).toBe(true);
        }
        const single = [...bytes].map((byte) => Uint8Array.of(byte));
        expect(answer(asked, single, release, [...flips.take(single.length)]).equals(whole)).toBe(true);
      }),
      8,
    );
  });
});

describe('NDJSON', () => {
  const line = fc.tuple(space, item, space).map((parts) => parts.join(''));
  const document = fc
    .tuple(
      fc.array(fc.tuple(line, fc.constantFrom('\n', '\r\n', '\n\n')), { maxLength: 10 }),
      fc.boolean(),
      fc.nat(),
    )
    .map(([lines, isEnded, where]) => {
      const text = lines
        .map(([l, end], i) => l.replaceAll('\n', ' ') + (i === lines.length - 1 && !isEnded ? '' : end))
        .join('');
      const bytes = Buffer.from(text);
      // One document in four has a byte that no UTF-8 has.
      if (where % 4 === 0 && bytes.length > 0) bytes[where % bytes.length] = 0xff;
      return bytes;
    });
  const bodies = (bytes: Buffer): string[] => bytes.toString().split('\n').slice(0, -1).map(withoutWording);

  test('is what JSON.parse and the library make of it', () => {
    run(
      fc.property(document, (bytes) => {
        for (const operation of ['encode', 'decode'] as const) {
          const wanted = ndjsonByPeer(library, operation, bytes, 11);
          expect(bodies(answer(request(operation, 'ndjson'), [bytes]))).toEqual(wanted);
          expect(bodies(answer(request(operation, 'ndjson'), [bytes], debug))).toEqual(wanted);
        }
      }),
      300,
    );
  });

  test('is the same however the body is cut', () => {
    run(
      fc.property(document, fc.constantFrom('csv', 'ndjson'), fc.boolean(), (bytes, output, flush) => {
        const asked = request('encode', 'ndjson', output as 'csv');
        const whole = answer(asked, [bytes]);
        for (let cut = 0; cut <= bytes.length; cut++) {
          const chunks = [bytes.subarray(0, cut), bytes.subarray(cut)];
          expect(answer(asked, chunks, release, [flush]).equals(whole)).toBe(true);
        }
      }),
      12,
    );
  });
});
