// `hexcodes bench` as a command, in its shortest form: the shape of its results, its faults, and a comparison of two
// runs.
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { type madeResults, samplesOf } from '../../support/capacity/made-results.js';
import type { Ran } from '../../support/cli.js';
import { listening } from '../../support/network.js';
import { sharedCommand, sharedServer } from '../../support/shared.js';
import { shippedFiles } from '../../support/shipped.js';

const folder = sharedCommand();
let ran: Ran;
let results: ReturnType<typeof madeResults>;
beforeAll(async () => {
  ran = await folder.run('bench --tiny --only single,batch,stream,mixed --json results.json');
  if (ran.code !== 0 && ran.code !== 5) throw new Error(`exit ${ran.code}: ${ran.stderr}`);
  results = JSON.parse(folder.read('results.json'));
}, 600_000);

test('it ends with 0, or with 5 where the machine was too noisy', () => {
  expect([ran.code, ran.stderr.includes('too noisy')]).toEqual(
    results.isQuietEnough ? [0, false] : [5, true],
  );
});

test('each part is reported with the time left, which is unknown at first', () => {
  const lines = ran.stderr.split('\n');
  expect(lines[0]).toMatch(/^0:\d\d {2}noise of the machine$/);
  expect(lines.filter((line) => /^\d+:\d\d {2}.+, some \d+:\d\d left$/.test(line)).length).toBeGreaterThan(3);
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
  expect(results.ways.map(({ name }) => name)).toEqual(['single', 'batch', 'stream', 'mixed']);
  for (const { name, costBacklogUs, backlogPerS, curve, services, ...bytes } of results.ways) {
    // On a busy machine most rates are not held.
    expect(curve.length).toBeGreaterThan(0);
    expect(bytes.sentBytesPerUnit).toBeGreaterThan(30);
    expect(bytes.receivedBytesPerUnit).toBeGreaterThan(30);
    if (name === 'mixed') continue;
    expect(costBacklogUs!.median).toBeGreaterThan(0);
    expect(backlogPerS!.median).toBeGreaterThan(0);
    expect(services).not.toBe('');
  }
});

test('sizes, ladder, speed-ups and memory are there', () => {
  expect(results.sizes).toHaveLength(14);
  expect(results.ladder).toHaveLength(7);
  expect(results.speedUps[0]).toMatchObject({ processes: 1 });
  expect(results.memory!.idleBytes).toBeGreaterThan(2 ** 20);
  expect(results.memory!.perConnectionBytes).toBeGreaterThan(0);
  for (const noise of results.noise) expect(Math.min(...Object.values(noise))).toBeGreaterThanOrEqual(0);
});

test('the table has a line for each way', () => {
  for (const line of [/^single +1 /m, /^batch +100 /m, /^stream +1 /m, /^mixed +1\.25 /m])
    expect(ran.stdout).toMatch(line);
});

test('a comparison with itself sees no difference, and nothing in a single slice of backlog', async () => {
  // The shortest form measures the ladder five times; a quick one has enough.
  const ladder = results.ladder.map(({ name, nsPerPoint }) => ({
    name,
    nsPerPoint: samplesOf([...nsPerPoint.samples, ...nsPerPoint.samples]),
  }));
  folder.write('more.json', JSON.stringify({ ...results, ladder }));
  const { code, stdout } = await folder.run('bench --compare more.json more.json');
  expect(code).toBe(0);
  expect(stdout.match(/no difference seen/g)).toHaveLength(7);
  expect(stdout).toMatch(/^single: CPU under backlog .*too few measurements$/m);
  expect(stdout).not.toMatch(/better|worse/);
});

test('two files without a figure in common are not a comparison', async () => {
  folder.write('single.json', JSON.stringify({ ...results, ways: results.ways.slice(0, 1), ladder: [] }));
  folder.write('stream.json', JSON.stringify({ ...results, ways: results.ways.slice(2), ladder: [] }));
  const { code, stdout, stderr } = await folder.run('bench --compare single.json stream.json');
  expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
  expect(stderr).toContain('single.json and stream.json have no figure in common');
});

test('results that cannot be written are found out before anything is measured', async () => {
  const before = folder.names();
  const { code, stdout, stderr } = await folder.run('bench --tiny --json none/x.json');
  expect({ code, stdout }).toEqual({ code: 4, stdout: '' });
  expect(stderr).toBe('hexcodes: cannot write none/x.json: no such file or directory\n');
  expect(folder.names()).toEqual(before);
});

test('a signal to stop also ends the measured service and removes its files', async () => {
  const temporary = folder.file('temporary');
  mkdirSync(temporary);
  const begun: { readonly services: string[] } = { services: [] };
  const { code } = await folder.run('bench --tiny --only single', {
    env: { TMPDIR: temporary },
    started: (child) =>
      child.stderr!.on('data', (bytes: Buffer) => {
        if (!bytes.includes('backlog')) return;
        begun.services.push(...processesWith(temporary));
        child.kill('SIGTERM');
      }),
  });
  expect([code, begun.services.length]).toEqual([143, expect.toSatisfy((count: number) => count > 2)]);
  await vi.waitUntil(() => processesWith(temporary).length === 0, { timeout: 60_000 });
  expect(readdirSync(temporary)).toEqual([]);
}, 600_000);

/** Processes whose environment has a text. */
const processesWith = (text: string): string[] =>
  readdirSync('/proc').filter((name) => {
    try {
      return /^\d+$/.test(name) && readFileSync(`/proc/${name}/environ`).includes(text);
    } catch {
      return false;
    }
  });

describe('a server elsewhere', () => {
  const server = sharedServer({ logLevel: 'warn' }, shippedFiles());
  const target = (base: string, key: string, ...more: string[]) => {
    folder.write('key', key);
    const flags = ['--tiny', '--only', 'single', '--target', base, '--key-file', 'key', ...more];
    return folder.run(['bench', ...flags]);
  };

  test('it is measured without costs; on a full disk the summary is still printed', async () => {
    const { code, stdout, stderr } = await target(server.base, server.key, '--json', '/dev/full');
    expect(code).toBe(4);
    expect(stderr).toContain('cannot write /dev/full: the disk is full');
    expect(stdout).toMatch(/^single +1 +[\d,.]+\/s /m);
    expect(stdout).not.toMatch(/µs|^memory:|^speed-up/m);
  }, 600_000);

  test('a key that is not valid and a server that is not there end the run', async () => {
    expect((await target(server.base, 'nobody')).stderr).toMatch(/answers 40[13]/);
    const { code, stderr } = await target('http://127.0.0.1:1', 'nobody');
    expect([code, stderr]).toEqual([1, expect.stringContaining('127.0.0.1:1 cannot be reached')]);
  });

  test('a wrong answer ends the run', async () => {
    // The true answer for one position, whatever is asked.
    const headers = { 'x-api-key': server.key };
    const url = `${server.base}/v1/hexcodes/encode?lat=21.0288&lng=105.8525`;
    const answer = await (await fetch(url, { headers })).text();
    const wrong = await listening((_, response) => response.end(answer));
    const { code, stdout, stderr } = await target(wrong.base, server.key);
    await wrong.close();
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/a wrong answer: .*, and \S+ is right\n$/);
  });
});

test.each([
  [['--only', 'nothing'], 2, 'there is no such way'],
  [['--target', 'x'], 2, 'not an address'],
  [['--target', 'http://127.0.0.1:1'], 2, '--key-file'],
  [['--target', 'http://127.0.0.1:1', '--key-file', 'none'], 3, 'no such file'],
  [['--compare', 'results.json'], 2, 'two files'],
  [['--compare', 'results.json', 'key.none'], 3, 'no such file'],
  [['--compare', 'results.json', 'results.json', '--json', 'x'], 2, '--json is for measuring'],
  [['--compare', 'results.json', 'results.json', '--only', 'single'], 2, '--only is for measuring'],
  [['--compare', 'results.json', 'results.json', '--p99', '50ms'], 2, '--p99 is for measuring'],
  [['--p99', 'soon'], 2, 'Write a time'],
  [['results.json'], 2, 'files are for --compare'],
])('%j ends with %d', async (args, code, message) => {
  const answer = await folder.run(['bench', ...args]);
  expect(answer.stderr).toContain(message);
  expect(answer.code).toBe(code);
});

test.each([
  ...['{}', '[1', '{"tool":"hexcodes bench","format":2}'],
  // Fields that are not there.
  '{"tool":"hexcodes bench","format":1,"ways":[]}',
  '{"tool":"hexcodes bench","format":1,"ways":[{"name":"single"}]}',
])('a file that is not a result is refused: %s', async (text) => {
  folder.write('other.json', text);
  const { code, stderr } = await folder.run('bench --compare results.json other.json');
  expect(code).toBe(3);
  expect(stderr).toContain('other.json');
});
