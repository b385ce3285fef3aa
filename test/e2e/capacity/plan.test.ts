// `hexcodes plan` as a command: the recorded results, a file of one's own, JSON, a trace, and faults.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { madeResults } from '../../support/capacity/made-results.js';
import { CliFolder } from '../../support/cli.js';

const folder = new CliFolder();
beforeAll(() => folder.write('made.json', JSON.stringify(madeResults())));
afterAll(() => folder.remove());

const FLEET = ['plan', '--vehicles', '50000', '--interval', '5s'];

test('the first line says what sizes the fleet, the next how many machines it needs', async () => {
  const { code, stdout, stderr } = await folder.run([
    ...FLEET,
    '--from',
    'made.json',
    '--headroom',
    '40%',
    '--p99',
    '50ms',
  ]);
  expect(stderr).toBe('');
  expect(code).toBe(0);
  const [first, , answer] = stdout.split('\n');
  expect(first).toMatch(/^Messages and connections size this fleet, not points: /);
  expect(answer).toMatch(
    /^2 machines of 4 cores, 8 in all \(1 carries the peak with \d process(es)? each, 1 may fail\); p99 .*; first limit: /,
  );
  expect(stdout).toContain('twice the fleet');
  expect(stdout).toContain('40 % headroom');
});

test('without --from the recorded results answer, and are named', async () => {
  const { code, stdout } = await folder.run(FLEET);
  expect(code).toBe(0);
  expect(stdout).toMatch(/measured \(recorded, a machine of ours: run hexcodes bench on yours\)/);
});

test('every flag of a fleet, as JSON', async () => {
  const flags = [
    ...['--profile', 'single', '--points-per-report', '1', '--report-together', '20%', '--peak', '1.5'],
    ...['--nightly', '2e9:6h', '--growth', '30%/y:2y', '--survive', '2', '--cores-per-machine', '4'],
    ...[
      '--memory-per-machine',
      '16G',
      '--link',
      '10G',
      '--price',
      '0.04/core-h',
      '--json',
      '--from',
      'made.json',
    ],
  ];
  const { code, stdout } = await folder.run([...FLEET, ...flags]);
  expect(code).toBe(0);
  const plan = JSON.parse(stdout);
  expect(plan.request).toMatchObject({ survive: 2, linkBitsPerS: 10e9, pricePerCoreHour: 0.04 });
  expect(plan.request.fleet.growth).toBeCloseTo(1.69);
  expect(plan.demand.connections).toBe(84_500);
  expect(plan.pricePerBillionPoints.low).toBeGreaterThan(0);
  expect(plan.oneLess.p99Us.high).toBeGreaterThan(0);
});

test.each([
  [['--flush', '1s'], { everyMs: 1000 }],
  [['--flush', '4096'], { points: 4096 }],
  [['--flush', '4k'], { points: 4000 }],
])('%j', async (flags, flush) => {
  const { stdout } = await folder.run([...FLEET, ...flags, '--json', '--from', 'made.json']);
  expect(JSON.parse(stdout).request.fleet.flush).toEqual(flush);
});

test('a trace', async () => {
  folder.write('arrivals.csv', 'time\n0\n0.5\n1\n1.5\n2\n');
  const { code, stdout } = await folder.run(['plan', '--trace', 'arrivals.csv', '--from', 'made.json']);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^1 process carries this trace/);
});

test.each([
  [['plan'], 2, 'how many vehicles'],
  [[...FLEET, '--p99', 'soon'], 2, 'Write a time'],
  [[...FLEET, '--headroom', '100%'], 2, 'nothing may be used'],
  [[...FLEET, '--profile', 'csv'], 2, 'Allowed choices'],
  [[...FLEET, '--nightly', '5'], 2, 'Write it as 2e9:6h'],
  [[...FLEET, '--growth', '5'], 2, 'Write it as 30%/y:2y'],
  [[...FLEET, '--price', 'x'], 2, 'Write a price'],
  [['plan', '--vehicles', 'many'], 2, 'Write a number'],
  [['plan', '--vehicles', '5', '--survive', '1.5'], 2, 'whole number'],
  [[...FLEET, '--from', 'none.json'], 3, 'no such file'],
  [['plan', '--trace', 'none.csv'], 3, 'no such file'],
])('%j ends with %d', async (args, code, message) => {
  const answer = await folder.run(args);
  expect(answer.stderr).toContain(message);
  expect(answer.code).toBe(code);
});
