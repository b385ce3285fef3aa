// Small twins of the proofs fair, soak and fuzz: honest requests beside abusers, damaged input on real connections.

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BulkFuzz } from '../../support/fuzz-bulk.js';
import { FramesFuzz } from '../../support/fuzz-frames.js';
import { HttpFuzz } from '../../support/fuzz-http.js';
import { randomFrom } from '../../support/open-world.js';
import { ServerProcess } from '../../support/server-process.js';
import { shippedKernel } from '../../support/shipped.js';

const proof = (...args: string[]) =>
  promisify(execFile)(process.execPath, ['build/test/proof/main.js', ...args], { encoding: 'utf8' });

test.each(['C1 frames', 'H3 csv ,'])(
  'every honest request is answered beside the abuser %s',
  async (name) => {
    // A failed request makes the proof fail, which rejects.
    const { stdout } = await proof('fair', '--only', name, '--for', '2s', '--net', 'here');
    expect(stdout).toContain(`| ${name} |`);
  },
  120_000,
);

test('a few seconds of mixed load with faults leave memory and descriptors where they were', async () => {
  const { stdout } = await proof('soak', '--for', '4s', '--seed', '7');
  expect(stdout).toContain('no fault');
});

describe('fuzz', () => {
  const seed = Number(process.env.SEED ?? Date.now() % 2 ** 31);

  console.log(`fuzz: seed ${seed}`);

  let server: ServerProcess;

  beforeAll(async () => {
    server = await ServerProcess.start({ isQuiet: true });
  });

  afterAll(() => server.kill());

  test('mutated requests and the corpus: no 500, right requests are answered right, the same process', async () => {
    const fuzz = new HttpFuzz(server, randomFrom(seed));
    await fuzz.corpus();
    await fuzz.run((exchanges) => exchanges < 4000);
    expect(fuzz.faults).toEqual([]);
    expect(fuzz.statuses['200']).toBeGreaterThan(10);
    expect(fuzz.statuses['400']).toBeGreaterThan(10);
  });

  test('damaged bulk bodies: the answer that is due, or none that looks whole', async () => {
    const fuzz = new BulkFuzz(server, shippedKernel(), randomFrom(seed));
    await fuzz.run((bodies) => bodies < 1500);
    expect(fuzz.faults).toEqual([]);
    expect(fuzz.rowsChecked).toBeGreaterThan(1000);
    expect(fuzz.refused).toBeGreaterThan(10);
  });

  test('damaged messages and WebSocket frames: one answer each, in order, or the end of that connection', async () => {
    const fuzz = new FramesFuzz(server, shippedKernel(), randomFrom(seed));
    await fuzz.run((messages) => messages < 4000);
    expect(fuzz.faults).toEqual([]);
    expect(fuzz.answered).toBeGreaterThan(2000);
  });
});
