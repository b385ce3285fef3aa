// Blocks that are answered in parts, as allowances end: the same bytes as in one go, no part beyond its allowance, and
// progress as long as there is one. Batches are answered whole or not at all.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { WorkAllowance } from '#dist/server/http/offload.js';
import { CODES, item } from '../../../support/items.js';
import { openKernel, randomFrom } from '../../../support/open-world.js';
import { decodeFrame, encodeFrame } from '../../../support/raw-stream.js';
import { type BulkFormat, type BulkJob, type Operation, Wire } from '../../../support/wire.js';

const SEED = 20_261_122;
const wire = new Wire(openKernel());

const csvRow = fc.constantFrom(
  ...[
    '21.02,105.85,HN-6GHMK-53FMF',
    ',,',
    '1,2',
    '1,2,3,4',
    'a,"b",c',
    '"21.02","105.85","é"',
    '"a"b,1,é',
    '',
  ],
  ...['21.0285e-300,105.85,hn6ghmk53fmf', '91,2,HN', `21.02,105.85,${'x'.repeat(300)}`, '1e400,1,Hà'],
);
const lineEnd = fc.constantFrom('\n', '\r\n');
const csv = fc
  .tuple(fc.array(csvRow, { maxLength: 60 }), lineEnd, fc.boolean())
  .map(([rows, end, hasLastEnd]) => `lat,lng,hexcodes${end}${rows.join(end)}${hasLastEnd ? end : ''}`);
const ndjson = fc
  .tuple(
    fc.array(
      item.filter((text) => !text.includes('\n')),
      { maxLength: 40 },
    ),
    lineEnd,
  )
  .map(([rows, end]) => rows.join(end));

function frames(operation: Operation, seed: number): Buffer {
  const random = randomFrom(seed);
  return Buffer.concat(
    Array.from({ length: Math.floor(random() * 6) }, () => {
      const count = Math.floor(random() * 30);
      if (operation === 'encode') {
        const degrees = Float64Array.from({ length: 2 * count }, () =>
          random() < 0.3 ? Number.NaN : 8 + random() * 100,
        );
        return encodeFrame(7, degrees, 9);
      }
      const records = Buffer.alloc(20 * count);
      for (let i = 0; i < count; i++) records.write(CODES[Math.floor(random() * CODES.length)]!, 20 * i, 20);
      return decodeFrame(8, records);
    }),
  );
}

/** The answers to a block in parts, each with an allowance of its own. */
function inParts(job: BulkJob, block: Uint8Array, rows: number, slowRows: number): Buffer[] {
  const parts: Buffer[] = [];
  for (let rest = block.slice(); rest.length > 0; ) {
    const shared = { left: slowRows };
    const allowance = new WorkAllowance(rows, shared, 1);
    const before = wire.slowRows();
    const { bytes, restAt } = wire.part(job, rest, allowance);
    expect(wire.slowRows() - before).toBeLessThanOrEqual(slowRows + 1);
    parts.push(bytes);
    if (restAt === 0) {
      // The first row alone is more than the allowance: it goes where there is none.
      expect(allowance.isSlowSpent).toBe(true);
      parts.push(Buffer.from(wire.block(job, rest).bytes));
      break;
    }
    if (restAt < rest.length) expect(allowance.isSlowSpent || allowance.rows === 0).toBe(true);
    rest = rest.subarray(restAt);
  }
  return parts;
}

/** The answers to single points in answer frames: the parts of a block are frames of their own. */
function pointsOf(answer: Buffer, operation: Operation): string {
  const points: string[] = [];
  const text = (from: number, sizeBytes: number): string => answer.toString('hex', from, from + sizeBytes);
  for (let at = 0; at < answer.length; ) {
    const count = answer.readUInt32LE(at + 8);
    const body = at + 16;
    for (let i = 0; i < count; i++) {
      if (operation === 'encode') points.push(text(body + 20 * i, 20));
      else
        points.push(
          text(body + 16 * i, 16) + text(body + 16 * count + i, 1) + text(body + 17 * count + i, 1),
        );
    }
    at = body + count * (operation === 'encode' ? 20 : 18);
  }
  return points.join('\n');
}

test('blocks that are answered in parts', () => {
  const seen = { parts: 0, whole: 0 };
  const bodies = fc
    .constantFrom<BulkFormat>('csv', 'ndjson', 'frames')
    .chain((input) =>
      fc.tuple(
        fc.constant(input),
        fc.constantFrom<BulkFormat>('csv', 'ndjson', 'frames'),
        fc.constantFrom<Operation>('encode', 'decode'),
        input === 'csv' ? csv : input === 'ndjson' ? ndjson : fc.nat().map(String),
      ),
    );
  fc.assert(
    fc.property(
      bodies,
      fc.integer({ min: 1, max: 50 }),
      fc.integer({ min: 0, max: 20 }),
      ([input, output, operation, text], rows, slow) => {
        const body = input === 'frames' ? frames(operation, Number(text)) : Buffer.from(text);
        const { job, blocks } = wire.cut({ operation, input, output, resolution: 11, prefix: 'p_' }, [body]);
        for (const block of blocks) {
          const whole = Buffer.from(wire.block(job, block).bytes);
          // A frame costs 32 rows, so that fewer would never answer one.
          const parts = inParts(job, block, input === 'frames' ? rows + 32 : rows, slow);
          seen[parts.length > 1 ? 'parts' : 'whole']++;
          const joined = Buffer.concat(parts);
          if (output === 'frames' && input !== 'frames') {
            expect(pointsOf(joined, operation)).toBe(pointsOf(whole, operation));
          } else if (!joined.equals(whole)) {
            expect(joined.toString()).toBe(whole.toString());
          }
        }
      },
    ),
    { seed: SEED, numRuns: 1000 },
  );
  expect(Math.min(seen.parts, seen.whole)).toBeGreaterThan(200);
});

test.each<[string, Operation, BulkFormat, string]>([
  ['numbers that the host reads', 'encode', 'csv', '21.02e-300,105.85'],
  ['codes beyond ASCII', 'decode', 'csv', 'é'],
  ['items that the host reads', 'encode', 'ndjson', '{"lat":"21.02","lng":105.85,"id":"\\u0041"}'],
])('%s: no part has more of them than its allowance', (_name, operation, input, row) => {
  const slowRows = 5;
  const header = input === 'csv' ? (operation === 'encode' ? 'lat,lng\n' : 'hexcodes\n') : '';
  const asked = { operation, input, output: 'ndjson', resolution: 11 } as const;
  const { job, blocks } = wire.cut(asked, [header + `${row}\n`.repeat(50)]);
  const parts = blocks.flatMap((block) => inParts(job, block, 1000, slowRows));
  const rowsOfParts = parts.map((part) => part.toString().split('\n').length - 1);
  expect(rowsOfParts.reduce((a, b) => a + b)).toBe(50);
  expect(Math.max(...rowsOfParts)).toBeLessThanOrEqual(slowRows + 1);
});

test('a batch is answered whole or not at all', () => {
  const seen = { whole: 0, refused: 0 };
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom('{"lat":21,"lng":105}', '{}', '0', '[21.02,105.85]', '"é"', '[1,"a"]'), {
        maxLength: 40,
      }),
      fc.integer({ min: 0, max: 40 }),
      fc.integer({ min: 0, max: 20 }),
      (items, rows, slow) => {
        const body = Buffer.from(`{"points":[${items.join(',')}]}`);
        const allowance = new WorkAllowance(rows, { left: slow }, 0);
        const before = wire.slowRows();
        const answer = wire.batchWithin('encode', body, allowance);
        expect(wire.slowRows() - before).toBeLessThanOrEqual(slow);
        seen[answer === undefined ? 'refused' : 'whole']++;
        if (answer === undefined) {
          expect(items.length > rows || allowance.isSlowSpent).toBe(true);
          return;
        }
        expect(answer.equals(wire.batch('encode', body))).toBe(true);
      },
    ),
    { seed: SEED, numRuns: 500 },
  );
  expect(Math.min(seen.whole, seen.refused)).toBeGreaterThan(100);
});

test('a long row costs more than a short one', () => {
  const shared = { left: 20 };
  const allowance = new WorkAllowance(100, shared, 3);
  expect([allowance.takeSlow(1000), shared.left, allowance.isSlowSpent]).toEqual([true, 4, false]);
  expect([allowance.takeSlow(63), allowance.takeSlow(64 * 3), shared.left]).toEqual([true, false, 3]);
  expect(allowance.isSlowSpent).toBe(true);
  allowance.takeRows(101);
  expect(allowance.rows).toBe(0);
});
