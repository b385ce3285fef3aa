// Small twins of the proofs fair, soak and fuzz: honest requests beside abusers, damaged input on real connections.

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import { BulkFuzz } from '../../support/fuzz-bulk.js';
import { FramesFuzz, HttpFuzz } from '../../support/fuzz-service.js';
import { randomFrom } from '../../support/open-world.js';
import { ServerProcess } from '../../support/server-process.js';
import { sharedOf } from '../../support/shared.js';
import { shippedKernel } from '../../support/shipped.js';

const proof = (...args: string[]) =>
  promisify(execFile)(process.execPath, ['build/test/proof/main.js', ...args], { encoding: 'utf8' });

/** Beside all other tests, as it waits for connections to end most of its time. */
let soaking: ReturnType<typeof proof>;
beforeAll(() => {
  soaking = proof('soak', '--for', '2s', '--seed', '7');
  soaking.catch(() => {});
});

test.each(['C1 frames', 'H3 csv ,'])(
  'every honest request is answered beside the abuser %s',
  async (name) => {
    // A failed request makes the proof fail, which rejects.
    const { stdout } = await proof('fair', '--only', name, '--for', '2s', '--net', 'here');
    expect(stdout).toContain(`| ${name} |`);
  },
  120_000,
);

describe('fuzz', () => {
  const seed = Number(process.env.SEED ?? Date.now() % 2 ** 31);

  console.log(`fuzz: seed ${seed}`);

  const server = sharedOf(
    () => ServerProcess.start({ isQuiet: true }),
    (made) => made.kill(),
  );

  test('mutated requests and the corpus: no 500, right requests are answered right, the same process', async () => {
    const fuzz = new HttpFuzz(server, randomFrom(seed));
    await fuzz.corpus();
    await fuzz.run((exchanges) => exchanges < 2000);
    expect(fuzz.faults).toEqual([]);
    expect(fuzz.statuses['200']).toBeGreaterThan(10);
    expect(fuzz.statuses['400']).toBeGreaterThan(10);
  });

  test('damaged bulk bodies: the answer that is due, or none that looks whole', async () => {
    const fuzz = new BulkFuzz(server, shippedKernel(), randomFrom(seed));
    await fuzz.run((bodies) => bodies < 600);
    expect(fuzz.faults).toEqual([]);
    expect(fuzz.whole).toBeGreaterThan(100);
    expect(fuzz.refused).toBeGreaterThan(10);
  });

  test('damaged messages and WebSocket frames: one answer each, in order, or the end of that connection', async () => {
    const fuzz = new FramesFuzz(server, shippedKernel(), randomFrom(seed));
    await fuzz.run((messages) => messages < 2000);
    expect(fuzz.faults).toEqual([]);
    expect(fuzz.answered).toBeGreaterThan(1000);
  });
});

test('seconds of mixed load with faults leave memory and descriptors where they were', async () => {
  expect((await soaking).stdout).toContain('no fault');
});
