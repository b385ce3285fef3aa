// Ten fleets against a sheet that another program has reckoned (test/fixtures/capacity/fleet-sheet.py), one process
// each.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { planFor } from '#dist/capacity/model/plan.js';
import { headlineOf } from '#dist/capacity/report/headline.js';
import { requestOf } from '../../../support/capacity/fleets.js';
import { madeResults } from '../../../support/capacity/made-results.js';

const [head, ...rows] = readFileSync('test/fixtures/capacity/fleet-sheet.csv', 'utf8')
  .trim()
  .split('\n')
  .map((line) => line.split(','));
const fleets = rows.map((row) => Object.fromEntries(row.map((cell, at) => [head![at]!, cell])));

test('the sheet has ten fleets', () => {
  expect(fleets).toHaveLength(10);
});

test.each(fleets)('$vehicles vehicles every $intervalS s, $kind, $collected collected', (row) => {
  const of = (name: string): number => Number(row[name]);
  const plan = planFor(
    requestOf({
      ...{ vehicles: of('vehicles'), intervalMs: 1000 * of('intervalS'), pointsPerReport: of('points') },
      ...{ profile: row.kind as 'stream' | 'single', peakFactor: of('peak'), growth: of('growth') },
      flush: of('collected') === 0 ? undefined : { points: of('collected') },
    }),
    madeResults(),
  );
  const { demand, sizing, answer, wire, networkBitsPerS, proxy } = plan;
  expect([answer.carrying, answer.processesPerMachine, answer.machines]).toEqual([1, 1, { low: 2, high: 2 }]);
  expect(demand.meanPointsPerS).toBeCloseTo(of('meanPointsPerS'));
  expect(demand.peak[0]!.messagesPerS).toBeCloseTo(of('messagesPerS'));
  expect(demand.connections).toBe(of('connections'));
  expect(sizing.streams[0]!.costUs).toBeCloseTo(of('costUs'), 4);
  expect(sizing.busyShare).toBeCloseTo(of('busyShare'), 4);
  // Behind a proxy that ends TLS.
  expect(wire.received.packetsPerS).toBeCloseTo(of('packetsIn'), 3);
  expect(wire.sent.packetsPerS).toBeCloseTo(of('packetsOut'), 3);
  expect(networkBitsPerS / 1e6).toBeCloseTo(of('linkMbits'), 4);
  expect(proxy!.connectionsPerPort).toBe(of('connectionsPerPort'));
  expect(headlineOf(plan).join('\n')).toContain(`Cost: ${Math.round(of('monthOf8Cores'))} a month`);
});
