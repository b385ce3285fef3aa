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
    /^2 machines of 4 cores, 8 in all \(1 carries the load with \d process(es)? each, 1 may fail\); p99 .*; first limit: /,
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

test.each([
  [['--growth', '150%/y:1y'], 2.5],
  [['--growth', '1.5/y:1y'], 2.5],
])('%j', async (flags, growth) => {
  const { stdout } = await folder.run([...FLEET, ...flags, '--json', '--from', 'made.json']);
  expect(JSON.parse(stdout).request.fleet.growth).toBe(growth);
});

test('that a gateway collects more points than a message may have is said', async () => {
  const { stdout } = await folder.run([...FLEET, '--flush', '60s', '--from', 'made.json']);
  expect(stdout).toContain('comes in several, of 65,536 points at most');
});

test('help shows defaults as they are written', async () => {
  const helpOf = async (command: string): Promise<string> =>
    (await folder.run([command, '--help'])).stdout.replace(/\s+/g, ' ');
  const help = await helpOf('plan');
  for (const shown of ['default: 5s', 'default: 50ms', 'default: 30%', 'default: 1G', 'default: none'])
    expect(help).toContain(shown);
  expect(await helpOf('bench')).toContain('default: 50ms');
});

test('a trace', async () => {
  folder.write('arrivals.csv', 'time\n0\n0.5\n1\n1.5\n2\n');
  const { code, stdout } = await folder.run(['plan', '--trace', 'arrivals.csv', '--from', 'made.json']);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^1 process carries this trace with a p99 of at most 50 ms: p99 [\d.]+-[\d.]+ µs/);
  expect(stdout).toMatch(
    /\n2 machines of 4 cores, 8 in all \(1 carries it with up to 1 process each, 1 may fail\)\n/,
  );
  expect(stdout).toContain('no column vehicle');
  expect(stdout).toContain('measured (made.json)');
});

test('a trace with quotes, semicolons and commas in names, and with the machines of a fleet', async () => {
  folder.write('quoted.csv', '"time";"vehicle";"points"\r\n"0";"7; ""b""";2\r\n1;8;3\r\n2;8;3\r\n');
  const machines = [
    '--cores-per-machine',
    '2',
    '--survive',
    '0',
    '--price',
    '0.04',
    '--memory-per-machine',
    '4G',
  ];
  const flags = ['--trace', 'quoted.csv', '--from', 'made.json', '--json', ...machines];
  const { code, stdout, stderr } = await folder.run(['plan', ...flags]);
  expect(stderr).toBe('');
  expect(code).toBe(0);
  const plan = JSON.parse(stdout);
  expect(plan).toMatchObject({ messages: 3, points: 8, vehicles: 2, seconds: 2 });
  expect(plan.answer).toMatchObject({ processes: 1, machines: 1, carrying: 1 });
  // Two cores for two seconds, and eight points.
  expect(plan.answer.pricePerBillionPoints).toBeCloseTo((0.04 * 2 * 2 * 1e9) / (3600 * 8));
});

test.each([
  ['time,vehicle\n1,a\nvehicle 7,a\n', 'bad.csv, row 2, column time: "vehicle 7" is neither'],
  ['time\n1\n2026-01-01T00:00:00Z\n', 'bad.csv, row 2, column time: "2026-01-01T00:00:00Z" is ISO 8601'],
  ['time,points\n1,1\n2,Infinity\n', 'bad.csv, row 2, column points: "Infinity" is no whole number'],
  ['time,points\n1,1\n2\n', 'bad.csv, row 2, column points: 1 fields, the header has 2'],
  ['x\n1\n2\n', 'bad.csv: it has no column "time"'],
  ['{"time": 1}\n{"time": 2}\n', 'bad.csv'],
])('the trace %j is refused', async (text, message) => {
  folder.write('bad.csv', text);
  const { code, stderr } = await folder.run(['plan', '--trace', 'bad.csv', '--from', 'made.json']);
  expect(stderr).toContain(message);
  expect(code).toBe(3);
});

test.each([
  ['ladder', undefined, 'damaged.json: field ladder is missing: a list'],
  ['machine', {}, 'damaged.json: field machine.model is missing: a text'],
])('results whose %s is %j are refused by plan and bench --compare', async (field, value, message) => {
  folder.write('damaged.json', JSON.stringify({ ...madeResults(), [field]: value }));
  for (const args of [
    [...FLEET, '--from', 'damaged.json'],
    ['bench', '--compare', 'made.json', 'damaged.json'],
  ]) {
    const { code, stderr } = await folder.run(args);
    expect(stderr).toContain(message);
    expect(code).toBe(3);
  }
});

test.each([
  [['plan'], 2, 'how many vehicles'],
  [[...FLEET, '--p99', 'soon'], 2, 'Write a time'],
  [[...FLEET, '--headroom', '100%'], 2, 'nothing may be used'],
  [[...FLEET, '--profile', 'csv'], 2, 'Allowed choices'],
  [[...FLEET, '--nightly', '5'], 2, 'Write it as 2e9:6h'],
  [[...FLEET, '--growth', '5'], 2, 'Write it as 30%/y:2y'],
  [[...FLEET, '--price', 'x'], 2, 'Write a price'],
  [['plan', '--vehicles', 'many'], 2, 'from 1 to 1,000,000,000'],
  [['plan', '--vehicles', '0.4'], 2, "'--vehicles <number>' argument '0.4' is invalid. Write a whole number"],
  [['plan', '--vehicles', '1e13'], 2, 'from 1 to 1,000,000,000'],
  [[...FLEET, '--survive', '1.5'], 2, 'whole number'],
  [[...FLEET, '--cores-per-machine', '0'], 2, 'whole number from 1'],
  [[...FLEET, '--gateways', '0', '--flush', '1s'], 2, 'whole number from 1'],
  [
    [...FLEET, '--flush', '0.5'],
    2,
    'a time with its unit, as 1s, or a whole number of points from 1 to 65,536',
  ],
  [[...FLEET, '--flush', '65537'], 2, 'the most of one message'],
  [[...FLEET, '--peak', '0.1'], 2, 'from 1 to'],
  [['plan', '--vehicles', '1e9', '--interval', '1ms'], 1, 'more processes than a plan can be made for'],
  [
    ['plan', '--trace', 'made.csv', '--vehicles', '5', '--flush', '1s', '--price', '3'],
    2,
    '--vehicles, --flush: not beside --trace',
  ],
  [[...FLEET, '--from', 'none.json'], 3, 'no such file'],
  [['plan', '--trace', 'none.csv'], 3, 'no such file'],
])('%j ends with %d', async (args, code, message) => {
  const answer = await folder.run(args);
  expect(answer.stderr).toContain(message);
  expect(answer.code).toBe(code);
});
