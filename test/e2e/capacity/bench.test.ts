// `hexcodes bench` as a command, in its shortest form: the shape of its results, its faults, and a comparison of two runs.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseResults, type Results } from '#dist/capacity/measure/results.js';
import { CliFolder, type Ran } from '../../support/cli.js';
import { startServer } from '../../support/server.js';

const folder = new CliFolder();
let ran: Ran;
let results: Results;
beforeAll(async () => {
  ran = await folder.run(['bench', '--tiny', '--only', 'single,stream', '--json', 'results.json']);
  results = parseResults(folder.read('results.json'));
}, 180_000);
afterAll(() => folder.remove());

test('it ends with 0, or with 5 where the machine was too noisy', () => {
  expect([ran.code, ran.stderr.includes('too noisy')]).toEqual(
    results.isQuietEnough ? [0, false] : [5, true],
  );
});

test('the results name machine, versions and seed', () => {
  expect(results).toMatchObject({
    format: 1,
    tool: 'hexcodes bench',
    seed: 1,
    target: null,
    node: process.version,
  });
  expect(results.machine.cores).toBeGreaterThan(0);
});

test('each way has its cost, its curve and its service times', () => {
  expect(results.ways.map(({ name }) => name)).toEqual(['single', 'stream']);
  for (const {
    costBacklogUs,
    backlogPerS,
    curve,
    services,
    sentBytesPerUnit,
    receivedBytesPerUnit,
  } of results.ways) {
    expect(costBacklogUs!.median).toBeGreaterThan(0);
    expect(backlogPerS!.median).toBeGreaterThan(0);
    expect(curve).toHaveLength(5);
    expect(services).not.toBe('');
    expect(sentBytesPerUnit).toBeGreaterThan(30);
    expect(receivedBytesPerUnit).toBeGreaterThan(30);
  }
});

test('sizes, ladder, speed-ups and memory are there', () => {
  expect(results.sizes).toHaveLength(14);
  expect(results.ladder).toHaveLength(7);
  expect(results.speedUps[0]).toMatchObject({ processes: 1 });
  expect(results.memory!.idleBytes).toBeGreaterThan(2 ** 20);
});

test('the table has a line for each way', () => {
  expect(ran.stdout).toMatch(/^single +1 /m);
  expect(ran.stdout).toMatch(/^stream +1 /m);
});

test('a comparison with itself sees no difference', async () => {
  const { code, stdout } = await folder.run(['bench', '--compare', 'results.json', 'results.json']);
  expect(code).toBe(0);
  expect(stdout.match(/no difference seen/g)).toHaveLength(11);
  expect(stdout).not.toMatch(/better|worse/);
});

test('a server elsewhere is measured without costs', async () => {
  const files = {
    kernel: readFileSync('dist/kernel.wasm'),
    index: readFileSync('data/index.bin'),
    reach: readFileSync('data/reach.bin'),
  };
  const server = await startServer({ logLevel: 'warn' }, files);
  folder.write('key', server.key);
  const args = [
    'bench',
    '--tiny',
    '--only',
    'single',
    '--target',
    server.base,
    '--key-file',
    'key',
    '--json',
    'b.json',
  ];
  const { code, stderr } = await folder.run(args);
  await server.stop();
  expect([0, 5], stderr).toContain(code);
  const { target, ways, memory, idleCoreShare } = parseResults(folder.read('b.json'));
  expect({ target, memory, idleCoreShare }).toEqual({
    target: server.base,
    memory: null,
    idleCoreShare: null,
  });
  expect(ways[0]).toMatchObject({ costBacklogUs: null, backlogBusyShare: null });
}, 180_000);

test.each([
  [['--only', 'nothing'], 2, 'there is no such way'],
  [['--target', 'x'], 2, 'no address'],
  [['--target', 'http://127.0.0.1:1'], 2, '--key-file'],
  [['--target', 'http://127.0.0.1:1', '--key-file', 'none'], 3, 'no such file'],
  [['--compare', 'results.json'], 2, 'two files'],
  [['--compare', 'results.json', 'key.none'], 3, 'no such file'],
  [['--p99', 'soon'], 2, 'Write a time'],
  [['results.json'], 2, 'files are for --compare'],
])('%j ends with %d', async (args, code, message) => {
  const answer = await folder.run(['bench', ...args]);
  expect(answer.stderr).toContain(message);
  expect(answer.code).toBe(code);
});

test.each(['{}', '[1', '{"tool":"hexcodes bench","format":2}'])(
  'a file that is no result is refused: %s',
  async (text) => {
    folder.write('other.json', text);
    const { code, stderr } = await folder.run(['bench', '--compare', 'results.json', 'other.json']);
    expect(code).toBe(3);
    expect(stderr).toContain('other.json');
  },
);
