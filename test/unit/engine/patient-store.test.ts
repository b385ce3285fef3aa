// Storing is tried again while the bus is away, at longer and longer intervals, and not where it can never succeed.
import { expect, test } from 'vitest';
import { StoreFault } from '#dist/bus/engine.js';
import { PatientStore } from '#dist/bus/patient-store.js';

const message = { subject: 's', id: 'i', bytes: new Uint8Array(1), headers: new Map<string, string>() };
const dead = { ...message, origin: 'message 1' };

test('the pauses between two tries grow, up to some seconds, and differ from worker to worker', async () => {
  const pauses: number[] = [];
  const store = new PatientStore({
    store: async () => {
      if (pauses.length < 12) throw new StoreFault('away', 'away');
      return 'stored';
    },
    ...{ deadPrefix: 'dead', say: () => undefined, signal: new AbortController().signal },
    pause: async (delayMs) => void pauses.push(delayMs),
  });
  expect([await store.store(message), store.faults]).toEqual(['stored', 12]);
  // Half as much again or half as much less.
  for (const [i, delayMs] of pauses.entries()) {
    const meanMs = Math.min(5000, 100 * 2 ** i);
    expect([i, delayMs >= meanMs / 2 && delayMs < meanMs * 1.5]).toEqual([i, true]);
  }
  expect(new Set(pauses.slice(6).map(Math.round)).size).toBeGreaterThan(1);
});

test('a signal ends the waiting', async () => {
  const store = new PatientStore({
    store: async () => {
      throw new StoreFault('full', 'full');
    },
    ...{ deadPrefix: 'dead', say: () => undefined, signal: AbortSignal.abort() },
  });
  expect(await store.store(message)).toBeUndefined();
});

test('a fault that does not pass is given back at once', async () => {
  const fault = new StoreFault('too-large', 'too large');
  const store = new PatientStore({
    store: async () => {
      throw fault;
    },
    ...{ deadPrefix: 'dead', say: () => undefined, signal: new AbortController().signal },
  });
  expect([await store.store(message), store.faults]).toEqual([fault, 0]);
});

test('a dead letter that is too large is stored without its bytes, and says where they are', async () => {
  const stored: number[] = [];
  const said: string[] = [];
  const store = new PatientStore({
    store: async ({ bytes, headers }) => {
      if (bytes.length > 0) throw new StoreFault('too-large', 'too large');
      stored.push(bytes.length);
      expect(headers.get('Hexcodes-Reason')).toMatch(/^x{11}; its bytes are in message 1|^x{500}$/);
      return 'stored';
    },
    ...{ deadPrefix: 'dead', say: (sentence) => said.push(sentence), signal: new AbortController().signal },
  });
  expect(await store.bury(dead, `x${'x'.repeat(10)}`)).toBe(true);
  expect(await store.bury(dead, 'x'.repeat(5000))).toBe(true);
  expect([stored, said.length]).toEqual([[0, 0], 2]);
});
