// `hexcodes plan` as a command: the recorded results, a file of one's own, JSON, a trace, and faults.
import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { beforeAll, expect, test } from 'vitest';
import { machineNow } from '#dist/capacity/processes/machine.js';
import { madeResults } from '../../support/capacity/made-results.js';
import { sharedCommand } from '../../support/shared.js';
import { VERSION } from '../../support/shipped.js';

const folder = sharedCommand();
beforeAll(() => {
  folder.write('made.json', JSON.stringify(madeResults()));
  const { machine } = madeResults();
  const here = { machine: { ...machine, ...machineNow() }, version: VERSION };
  folder.write('here.json', JSON.stringify(madeResults(here)));
});

const FLEET = ['plan', '--vehicles', '50000', '--interval', '5s'];

test('five lines answer in words, within 80 columns: machines, cost, what fails, a death, and how sure', async () => {
  const { code, stdout, stderr } = await folder.run([
    ...[...FLEET, '--from', 'made.json', '--headroom', '40%', '--p99', '50ms', '--price', '0.04/core-h'],
  ]);
  const ofHere = await folder.run([...FLEET, '--from', 'here.json', '--proxies', '0']);
  const behindProxy = await folder.run([...FLEET, '--from', 'here.json', '--proxies', '2']);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const lines = stdout.split('\n');
  expect(lines.indexOf('')).toBe(5);
  expect(Math.max(...lines.slice(0, 5).map((line) => line.length))).toBeLessThanOrEqual(80);
  const [machines, cost, limit, death, sure] = lines;
  expect(machines).toMatch(/^2 machines of 4 cores, 16 GB: 1 carries the peak \(p99 [^)]+\), 1 may fail\.$/);
  // 8 cores at 0.04 for 730 hours, and 36 million points an hour.
  expect(cost).toBe('Cost: 234 a month, 8.89 for 10⁹ points (0.04 for an hour of a core).');
  expect(limit).toMatch(/^Fails first: WebSockets of one key, 0\.\d+ ×: HEXCODES_MAX_SOCKETS_PER_KEY=\d+\.$/);
  expect(death).toMatch(/^One machine dies at the peak: the others are .* busy, p99 .*: held\.$/);
  expect(sure).toBe(`How sure: of another machine, 4 × Made, hexcodes 0 (not ${VERSION}).`);
  const sureOf = (text: string): string | undefined => /^How sure: .*$/m.exec(text)?.[0];
  expect(sureOf(ofHere.stdout)).toMatch(
    /^How sure: CPU times predict each other within \d+ %; a full run, quiet machine\.$/,
  );
  expect(sureOf(behindProxy.stdout)).toMatch(/^How sure: .* quiet machine; HAProxy: elsewhere\.$/);
  expect(stdout).toContain('twice the fleet');
  expect(stdout).not.toContain('headroom');
});

test('--explain adds the arithmetic, and what was measured or assumed', async () => {
  const { stdout } = await folder.run([...FLEET, '--explain', '--from', 'made.json']);
  expect(stdout).toMatch(/^Messages and connections size this fleet, not points: /m);
  expect(stdout).toContain('50,000 vehicles × 1 (growth) × 1 ÷ 5 s = 10,000; × 2 at the peak = 20,000');
  expect(stdout).toContain('30 % headroom');
});

test('the bus and a history answer in five lines as well, each beside no other kind of plan', async () => {
  const bus = await folder.run([
    ...FLEET,
    '--engine',
    'nats',
    '--flush',
    '4096',
    '--replicas',
    '3',
    '--price',
    '0.04',
  ]);
  const once = await folder.run('plan --once 2e9 --format parquet --within 8h --price 0.04');
  for (const { code, stdout } of [bus, once]) {
    const lines = stdout.split('\n');
    expect([code, lines.indexOf('')]).toEqual([0, 5]);
    expect(Math.max(...lines.slice(0, 5).map((line) => line.length))).toBeLessThanOrEqual(80);
  }
  const fleet = await folder.run(FLEET);
  for (const { stdout } of [fleet, bus, once]) {
    const lines = stdout.split('\n');
    expect(lines[lines.indexOf('') - 1]).toMatch(/^How sure: .*another machine, /);
  }
  expect(bus.stdout).toContain('3 replicas');
  expect(once.stdout).toMatch(/^rows +2,000,000,000 +parquet$/m);
  // Conversions of the shipped results are newer, and of another machine.
  expect(once.stdout).toMatch(/^CPU of a row .* all threads of hexcodes encode, 2 × AMD EPYC/m);
  for (const args of [
    ['plan', '--once', '2e9', '--vehicles', '5'],
    ['plan', '--trace', 'x.csv', '--once', '5'],
    ['plan', '--once', '2e9', '--format', 'xlsx'],
  ])
    expect((await folder.run(args)).code).toBe(2);
  expect((await folder.run('plan --once 2e9 --from made.json')).stderr).toContain(
    'no conversion of csv was measured',
  );
});

test('what does not hold is said before anything else', async () => {
  const firstOf = async (...flags: string[]) =>
    (await folder.run([...FLEET, '--from', 'made.json', ...flags])).stdout.split('\n')[0];
  // The bench saw a p99 of 300 µs at every rate: no plan promises less.
  expect(await firstOf('--p99', '0.25ms')).toMatch(
    /^DOES NOT HOLD a p99 of 250 µs: at such a load it may be \d+ µs\.$/,
  );
  expect(await firstOf('--memory-per-machine', '150M')).toBe(
    'DOES NOT FIT: 150 MB of memory do not hold one process at its largest.',
  );
  const large = [
    '--cores-per-machine',
    '64',
    '--memory-per-machine',
    '1000G',
    '--link',
    '100G',
    '--vehicles',
    '20M',
  ];
  expect(await firstOf(...large)).toBe(
    'USES 8 OF 64 CORES of a machine: no more was measured. See --assume-linear.',
  );
  expect(await firstOf(...large, '--assume-linear')).toMatch(
    /^ASSUMED, not measured: \d+ processes carry [\d.]+ times what 4 do \(--assume-linear\)\.$/,
  );
});

test('results of a noisy machine are refused, and with --force the first line says so', async () => {
  folder.write('noisy.json', JSON.stringify(madeResults({ isQuietEnough: false })));
  folder.write('few.csv', 'time\n0\n1\n2\n');
  for (const asked of [FLEET, ['plan', '--trace', 'few.csv']]) {
    const refused = await folder.run([...asked, '--from', 'noisy.json']);
    expect([refused.code, refused.stdout]).toEqual([5, '']);
    expect(refused.stderr).toContain('noisy.json: the machine was too noisy');
    const forced = await folder.run([...asked, '--from', 'noisy.json', '--force']);
    expect(forced.code).toBe(0);
    expect(forced.stdout).toMatch(/^NOT TO BE RELIED ON: /);
  }
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
  const isPlan = new Ajv2020().compile(JSON.parse(readFileSync('docs/reference/plan.schema.json', 'utf8')));
  expect(isPlan(plan), JSON.stringify(isPlan.errors)).toBe(true);
  expect(isPlan({ ...plan, headline: [] })).toBe(false);
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
  const { code, stdout } = await folder.run('plan --trace arrivals.csv --from made.json');
  expect(code).toBe(0);
  expect(stdout).toMatch(/^1 process carries this trace with a p99 of at most 50 ms: p99 [\d.]+-[\d.]+ µs/m);
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
  ['time,points\n1,1\n2,Infinity\n', 'bad.csv, row 2, column points: "Infinity" is not a whole number'],
  ['time,points\n1,1\n2\n', 'bad.csv, row 2: 1 fields, the header has 2'],
  ['x\n1\n2\n', 'bad.csv: it has no column "time"'],
  ['{"time": 1}\n{"time": 2}\n', 'bad.csv'],
])('the trace %j is refused', async (text, message) => {
  folder.write('bad.csv', text);
  const { code, stderr } = await folder.run('plan --trace bad.csv --from made.json');
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

/** Two weeks of counts; the busiest hour has three times the mean of all. */
function writeCounts(name: string): { readonly peak: number } {
  const counts = Array.from({ length: 14 * 24 }, (_, at) => (at % 24 === 7 ? 900 : 100 + (at % 24)));
  counts[24 * 9 + 18] = 1500;
  const rows = counts.map((count, at) => {
    const time = new Date(Date.UTC(2026, 2, 1, at)).toISOString();
    return `${time.slice(0, 19)}+07:00,${count}`;
  });
  folder.write(name, `time,count\n${rows.join('\n')}\n`);
  const mean = counts.reduce((sum, count) => sum + count, 0) / counts.length;
  return { peak: 1500 / mean };
}

test('--html: replicas by rate, by hour of --counts and by month of --growth, on one page without scripts', async () => {
  const { peak } = writeCounts('week.csv');
  const flags = ['--counts', 'week.csv', '--growth', '44%/y:2y', '--price', '0.04', '--from', 'here.json'];
  const { code, stdout } = await folder.run([...FLEET, ...flags, '--html', 'plan.html']);
  expect(code).toBe(0);
  expect(stdout).toContain('points/s ');
  const page = folder.read('plan.html');
  expect(page).not.toMatch(/<script|https?:|undefined|NaN/);
  const rowsOf = (title: string): string[][] => {
    const section = page.slice(page.indexOf(`<h2>${title}</h2>`));
    const table = section.slice(section.indexOf('<table>'), section.indexOf('</table>'));
    return [...table.matchAll(/<tr>(.*?)<\/tr>/g)]
      .slice(1)
      .map(([, row]) => [...row!.matchAll(/<td>(.*?)<\/td>/g)].map(([, cell]) => cell!));
  };
  const number = (text: string): number => Number(text.replaceAll(',', ''));
  const [rates, hours, months] = ['Replicas by rate', 'Replicas by hour', 'Machines by month'].map(rowsOf);
  // A higher rate never takes fewer replicas.
  const replicas = rates!.map((row) => number(row[2]!));
  expect(replicas).toEqual(replicas.toSorted((a, b) => a - b));
  expect(replicas.at(-1)).toBeGreaterThan(replicas[0]!);
  expect(hours).toHaveLength(24);
  expect(Number.parseFloat(hours![18]![2]!.replace(',', ''))).toBeCloseTo(100 * peak, -1);
  const busiest = hours!.map((row) => number(row[3]!));
  expect(busiest.indexOf(Math.max(...busiest))).toBe(18);
  expect(months).toHaveLength(25);
  expect(number(months!.at(-1)![1]!)).toBeCloseTo(Number((50_000 * 1.44 ** 2).toPrecision(3)), -2);
  // The last month is the plan itself.
  const json = await folder.run([...FLEET, ...flags, '--json']);
  const plan = JSON.parse(json.stdout);
  expect(plan.request.fleet.peakFactor).toBeCloseTo(peak);
  expect(number(months!.at(-1)!.at(-2)!.split('-').at(-1)!)).toBe(plan.answer.machines.high);
});

test.each([
  ['when,count\n1,2\n', 'it has no column &quot;time&quot;'],
  ['time,n\n1,2\n', 'it has no column "count"'],
  ['time,count\n2026-01-01T00:00:00,5\nnoon,6\n', 'row 2'],
  ['time,count\n0,5\n3600,many\n', '"many" is not a count'],
  ['time,count\n0,5\n3600,-1\n', '"-1" is not a count'],
  ['time,count\n0,0\n3600,0\n', 'all its counts are 0'],
  ['time,count\n0,5\n1800,6\n', 'fewer than two hours'],
  ['time,count\n0,5\n99999999999,6\n', 'row 2, column time: its counts are of more than'],
])('counts that cannot be read are refused: %j', async (text, message) => {
  folder.write('bad.csv', text);
  const { code, stderr } = await folder.run([...FLEET, '--counts', 'bad.csv']);
  expect(code).toBe(3);
  expect(stderr).toContain(message.replaceAll('&quot;', '"'));
});

test('counts of as many hours as may be are read, and of one more refused', async () => {
  const rows = Array.from({ length: 20 * 366 * 24 + 1 }, (_, hour) => `${hour * 3600},${hour % 24}\n`);
  folder.write('more.csv', `time,count\n${rows.join('')}`);
  folder.write('most.csv', `time,count\n${rows.slice(1).join('')}`);
  const ran = await Promise.all(
    ['more.csv', 'most.csv'].map((name) => folder.run([...FLEET, '--counts', name, '--from', 'here.json'])),
  );
  expect(ran.map(({ code }) => code)).toEqual([3, 0]);
});

test('counts take the place of --peak, and a page is that of a fleet', async () => {
  writeCounts('week.csv');
  expect((await folder.run([...FLEET, '--counts', 'week.csv', '--peak', '3'])).code).toBe(2);
  for (const flags of [
    ['--once', '2e9', '--html', 'x.html'],
    ['--vehicles', '5', '--engine', 'nats', '--counts', 'week.csv'],
  ])
    expect((await folder.run(['plan', ...flags])).code).toBe(2);
  expect((await folder.run([...FLEET, '--html', 'none/x.html'])).code).toBe(4);
  const { stdout } = await folder.run([...FLEET, '--html', '-']);
  expect(stdout).toMatch(/^<!doctype html>/);
});
