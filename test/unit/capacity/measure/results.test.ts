// Files of results: those of older runs are read, and one that lacks a field is refused with the field and its rule.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { Latencies } from '#dist/capacity/generator/latencies.js';
import { parseResults, samplesOf, withoutImpossible } from '#dist/capacity/measure/results.js';
import { planFor } from '#dist/capacity/model/plan.js';
import { benchText } from '#dist/capacity/report/bench-text.js';
import { compareResults } from '#dist/capacity/report/compare.js';
import { requestOf } from '../../../support/capacity/fleets.js';
import { madeResults } from '../../../support/capacity/made-results.js';

/** The text of made results with one field set to another value; undefined leaves it out. */
function changed(path: string, value: unknown): string {
  const results = JSON.parse(JSON.stringify(madeResults()));
  const names = path.split('.');
  const last = names.pop()!;
  const holder = names.reduce((at, name) => at[name], results);
  holder[last] = value;
  return JSON.stringify(results);
}

test('made and recorded results are read as they are', () => {
  expect(parseResults(JSON.stringify(madeResults()))).toEqual(madeResults());
  const recorded = readFileSync('data/capacity.json', 'utf8');
  expect(parseResults(recorded)).toEqual(JSON.parse(recorded));
});

test('fields that came later may be missing, unknown ones are left alone, and a byte order mark is skipped', () => {
  const { workUs: _, ...noise } = madeResults().noise[0]!;
  expect(parseResults(changed('noise', [noise])).noise).toEqual([noise]);
  expect(parseResults(changed('machine.countedStealShare', 0.1)).machine).not.toHaveProperty('counted');
  expect(parseResults(`\uFEFF${changed('ladder', [])}`).ladder).toEqual([]);
});

test('a sample that was infinite is left out', () => {
  const { speedUps } = parseResults(changed('speedUps.1.speedUp.samples', [1, null, 3]));
  expect(speedUps[1]!.speedUp.samples).toEqual([1, 3]);
});

test.each([
  'ladder',
  'ways',
  'sizes',
  'speedUps',
  'machine',
  'noise',
  'memory',
  'isQuietEnough',
  'version',
  'node',
])('without %s', (field) => {
  expect(() => parseResults(changed(field, undefined))).toThrow(`field ${field} is missing: `);
});

test.each([
  ['machine.cores', undefined, 'field machine.cores is missing: a whole number from 1 on'],
  ['machine.cores', 0, 'field machine.cores is 0, and has to be a whole number from 1 on'],
  ['machine.memoryBytes', '16G', 'field machine.memoryBytes is "16G", and has to be a number above 0'],
  [
    'ways.3.costBacklogUs.median',
    0,
    'field ways[3].costBacklogUs.median is 0, and has to be a number above 0',
  ],
  [
    'ways.0.costBacklogUs.samples',
    [],
    'field ways[0].costBacklogUs.samples is [], and has to be a list of 1 or more',
  ],
  [
    'ways.0.curve.1.ratePerS',
    null,
    'field ways[0].curve[1].ratePerS is null, and has to be a number above 0',
  ],
  ['ways.0.services', 'HIST', 'field ways[0].services is "HIST", and has to be a histogram with services'],
  ['sizes.2.costUs', 0, 'field sizes[2].costUs is 0, and has to be a number above 0'],
  ['speedUps.0.speedUp', 1, 'field speedUps[0].speedUp is 1, and has to be an object'],
  [
    'ladder.0.nsPerPoint.median',
    -1,
    'field ladder[0].nsPerPoint.median is -1, and has to be a number above 0',
  ],
  ['ways', {}, 'field ways is {}, and has to be a list'],
  ['version', 'x'.repeat(50).split(''), 'and has to be a text'],
])('%s = %j', (path, value, message) => {
  expect(() => parseResults(changed(path, value))).toThrow(message);
});

test.each([
  ['', 'no JSON'],
  ['null', 'no file of results'],
  ['{"tool":"hexcodes bench","format":2}', 'its format is 2'],
])('%j is refused', (text, message) => {
  expect(() => parseResults(text)).toThrow(message);
});

test('whatever a disturbed run measured is written so that plan and compare read it', () => {
  const samples = samplesOf([0, Number.POSITIVE_INFINITY]);
  const made = madeResults();
  const point = { ...made.ways[0]!.curve[0]!, costUs: Number.NaN };
  const knee = { ratePerS: 0, targetP99Us: 50_000, steps: [], isConfirmed: false, isGeneratorLimit: true };
  const disturbed = madeResults({
    control: { backlogPerS: Number.NaN, openPerS: 0 },
    ladder: [{ name: 'x', nsPerPoint: samples }],
    ways: made.ways.map((way) => ({
      ...{ ...way, costBacklogUs: samples, backlogPerS: samples, knee, constant: point },
      ...{ curve: [point, { ...point, costUs: 0 }, { ...point, ratePerS: Number.NaN }] },
      services: new Latencies().encode(),
    })),
    sizes: made.sizes.map((size) => ({ ...size, costUs: 0 })),
    speedUps: [
      { processes: 1, speedUp: samplesOf([0, 0.8, 1, 1.2]) },
      { processes: 2, speedUp: samples },
    ],
  });
  const read = parseResults(JSON.stringify(withoutImpossible(disturbed)));
  expect(read).toMatchObject({ control: null, ladder: [] });
  expect(read.ways[0]).toMatchObject({ costBacklogUs: null, backlogPerS: null, services: null, knee: null });
  expect(read.ways[0]!.curve.map(({ costUs }) => costUs)).toEqual([null, null]);
  expect(read.speedUps).toEqual([{ processes: 1, speedUp: samplesOf([0.8, 1, 1.2]) }]);
  expect(read.sizes[0]!.costUs).toBeNull();
  expect(compareResults(read, read).figures).toEqual([]);
  expect(benchText(read)).toContain('single');
  expect(() => planFor(requestOf(), read)).toThrow('no CPU time of stream was measured');
  expect(withoutImpossible(made)).toEqual(made);
});

test('a speed-up beyond the number of processes is not shown as one', () => {
  const speedUps = [{ processes: 2, speedUp: samplesOf([5.29]) }];
  expect(benchText(madeResults({ speedUps }))).toContain('2: – (5.29 is more than there are');
});
