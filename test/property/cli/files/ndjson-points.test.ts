// Positions of NDJSON by the kernel's scan are those that are read value by value, of lines of every kind.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type PointBatch, type PointFiles, runPoints } from '#dist/files/points/run-points.js';
import { Hexcodes } from '#hexcodes';

const scratch = mkdtempSync(join(tmpdir(), 'hexcodes-points-'));
afterAll(() => rmSync(scratch, { recursive: true }));
let hexcodes: Hexcodes;
beforeAll(async () => {
  hexcodes = await Hexcodes.load();
});

async function positionsIn(path: string, wanted: PointFiles['wanted']) {
  const positions: number[] = [];
  const read: unknown[] = [];
  const firstRows: number[] = [];
  try {
    const { rows } = await runPoints(hexcodes, {
      files: {
        ...{ inputs: [path], from: 'ndjson', columns: { prefix: '' }, input: {} },
        csv: { delimiter: null, decimal: '.', hasHeader: true },
        ...(wanted === undefined ? {} : { wanted }),
      },
      output: {
        output: join(scratch, 'out.csv'),
        to: null,
        csv: { delimiter: null, decimal: '.', hasHeader: true },
      },
      isQuiet: true,
      take({ latLngDeg, firstRow, columns, rows: { rowCount, values } }: PointBatch) {
        expect(firstRow).toBe(1 + firstRows.reduce((sum, each) => sum + each, 0));
        firstRows.push(rowCount);
        positions.push(...latLngDeg);
        for (const name of ['id', 'name']) {
          const column = columns.findIndex((each) => each.name === name);
          if (column >= 0) read.push(...Array.from(values[column] ?? []).slice(0, rowCount));
        }
      },
      async end() {},
    } as unknown as Parameters<typeof runPoints>[1]);
    // The two roads have other batches: values one name after the other.
    return { positions, rows, read: read.map((each) => String(each)).sort() };
  } catch (error) {
    return { positions, fault: (error as Error).message };
  }
}

const usual = fc
  .tuple(fc.integer(), fc.double({ min: -91, max: 91 }), fc.double({ noDefaultInfinity: true }))
  .map(([id, lat, lng]) => JSON.stringify({ id, lat, lng, ...(id % 3 === 0 ? { name: `xe ${id}` } : {}) }));
const odd = fc.constantFrom(
  ...['', '  ', ' {"lat":21,"lng":105.8} ', '{"lat":21,"lng":105.8}\r', '{"lat":"21,03","lng":"105.8"}'],
  ...['{"lat":null,"lng":105.8}', '{"lng":105.8}', '{}', '{"lat":21,"lng":105.8,"lat":22}', '[21,105.8]'],
  ...['{"lat":2.10e1,"lng":1058E-1,"big":123456789012345678901}', '{"lat":21,"lng":105.8,"name":"Hà Nội"}'],
  ...[`{"lat":21,"lng":105.8,"long":"${'x'.repeat(2000)}"}`, '{"lat":21,"lng":105.8,"h\\u0065":1}', '{'],
  ...['{"lat":21,"lng":105.8}x', 'null', '{"lat":true,"lng":[1]}', '\u001e{"lat":21,"lng":105.8}'],
);

test('positions and faults of both roads', async () => {
  let whole = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(usual, { minLength: 1, maxLength: 50 }),
      fc.array(fc.oneof({ weight: 2, arbitrary: usual }, { weight: 1, arbitrary: odd }), { maxLength: 6 }),
      fc.integer({ min: 0, max: 9000 }),
      fc.boolean(),
      async (first, middle, between, hasEnd) => {
        const filler = Array.from({ length: between }, (_, i) => first[i % first.length]!);
        const path = join(scratch, 'in.ndjson');
        writeFileSync(path, [...first, ...filler, ...middle, ...filler].join('\n') + (hasEnd ? '\n' : ''));
        const none = await positionsIn(path, { numbers: [], others: [] });
        const fast = await positionsIn(path, { numbers: ['id'], others: ['name'] });
        expect(none.positions).toEqual(fast.positions);
        const slow = await positionsIn(path, undefined);
        expect(fast.fault).toBe(slow.fault);
        if (fast.fault !== undefined) return;
        whole++;
        expect(fast).toEqual(slow);
      },
    ),
    { numRuns: 25, endOnFailure: true },
  );
  expect(whole).toBeGreaterThan(5);
});
