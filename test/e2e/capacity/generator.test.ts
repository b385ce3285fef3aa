// The generator against the real service: every way in, every answer compared; and against a server that answers
// wrongly.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startControlServer } from '#dist/capacity/control/control-server.js';
import type { Job, Load } from '#dist/capacity/generator/job.js';
import { Latencies } from '#dist/capacity/generator/latencies.js';
import { runJob } from '#dist/capacity/generator/run-job.js';
import { Traffic } from '#dist/capacity/traffic/traffic.js';
import { startServer, type TestServer } from '../../support/server.js';

let server: TestServer;
let traffic: Traffic;
beforeAll(async () => {
  const files = {
    kernel: readFileSync('dist/kernel.wasm'),
    index: readFileSync('data/index.bin'),
    reach: readFileSync('data/reach.bin'),
  };
  server = await startServer({ logLevel: 'warn' }, files);
  traffic = await Traffic.load();
});
afterAll(() => server.stop());

const LOAD: Load = {
  ...{ kind: 'single', points: 1, connections: 4, depth: 2 },
  ...{ ratePerS: 200, arrivals: 'poisson', startTogether: 1 },
};
const jobOf = (loads: Partial<Load>[], job: Partial<Job> = {}): Job => ({
  ...{
    mode: 'open',
    base: server.base,
    key: server.key,
    seed: 1,
    warmUpMs: 50,
    durationMs: 400,
    serverPids: [],
  },
  loads: loads.map((load) => ({ ...LOAD, ...load })),
  sampleEvery: 1,
  ...job,
});

const WAYS: Partial<Load>[] = [
  { kind: 'single' },
  { kind: 'batch', points: 100 },
  { kind: 'csv', points: 1000 },
  { kind: 'stream', points: 1 },
  { kind: 'stream', points: 4096 },
  { kind: 'stream', points: 16_384 },
];

test.each(WAYS)('at a rate: %j', async (way) => {
  const { loads } = await runJob(jobOf([{ ...way, ratePerS: 50 }]), traffic, () => {});
  const { due, answered, refused, skipped, unanswered, sampled, intended } = loads[0]!;
  expect(due).toBeGreaterThan(0);
  expect({ answered: answered + skipped, refused, unanswered }).toEqual({
    answered: due,
    refused: 0,
    unanswered: 0,
  });
  expect(sampled).toBe(answered);
  expect(Latencies.decode(intended).count).toBe(answered);
});

test.each(WAYS)('under backlog: %j', async (way) => {
  const report = await runJob(jobOf([way], { mode: 'closed', serverPids: [process.pid] }), traffic, () => {});
  expect(report.loads[0]!.sampled).toBeGreaterThan(0);
  expect(report.loads[0]!.refused).toBe(0);
  expect(report.serverCpuUs).toBeGreaterThan(0);
  expect(Latencies.decode(report.services!).count).toBeGreaterThan(0);
});

test('several loads at once, each with its own figures', async () => {
  const job = jobOf([
    { kind: 'stream', points: 1, ratePerS: 300 },
    { kind: 'csv', points: 500, ratePerS: 30, arrivals: 'constant' },
  ]);
  const { loads } = await runJob(job, traffic, () => {});
  expect(loads[0]!.due).toBeGreaterThan(loads[1]!.due);
  expect(loads[1]!.due).toBe(12);
  expect(loads[1]!.receivedBytesPerUnit).toBeGreaterThan(20_000);
});

test('connections that are held', async () => {
  const connected: number[] = [];
  const job = jobOf([{ kind: 'stream', connections: 50 }], { mode: 'hold', durationMs: 10 });
  await runJob(job, traffic, () => connected.push(1));
  expect(connected).toEqual([1]);
});

test('a wrong answer ends the run', async () => {
  const control = await startControlServer({ kind: 'echo' });
  const job = jobOf([{}], { base: `http://127.0.0.1:${control.port}` });
  await expect(runJob(job, traffic, () => {})).rejects.toThrow();
  control.stop();
});

test('a key that is not valid ends the run, with the answer of the service', async () => {
  await expect(runJob(jobOf([{}], { key: 'nobody' }), traffic, () => {})).rejects.toThrow(
    /answers 401|answers 403/,
  );
  await expect(runJob(jobOf([{ kind: 'stream' }], { key: 'nobody' }), traffic, () => {})).rejects.toThrow(
    'refused',
  );
});

test('a server that is not there is named', async () => {
  const job = jobOf([{}], { base: 'http://127.0.0.1:1' });
  await expect(runJob(job, traffic, () => {})).rejects.toThrow('127.0.0.1:1 cannot be reached');
});
