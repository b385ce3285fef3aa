// Forwarders over a sink that takes, refuses and hangs as the test wants, with folders below one that goes with the
// tests.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll } from 'vitest';
import { Forwarder } from '#dist/server/traccar/forward/forwarder.js';

export const root = mkdtempSync(join(tmpdir(), 'hexcodes-forwarder-'));
afterAll(() => rmSync(root, { recursive: true }));
let folders = 0;
/** A path below it that nothing is at. */
export const newFolder = (): string => join(root, String(++folders));

type Sink = Parameters<typeof Forwarder.open>[0]['sink'];

export class FakeSink implements Sink {
  readonly name = 'fake';
  readonly batches: string[][] = [];
  /** Why it takes nothing. */
  fault: string | undefined;
  tries = 0;
  hangs = false;
  /** Hangs even when the delivery is given up. */
  isDeaf = false;
  closeFault: string | undefined;

  get lines(): string[] {
    return this.batches.flat();
  }

  async deliver(lines: Buffer, signal: AbortSignal): Promise<void> {
    this.tries++;
    if (this.isDeaf) await new Promise(() => {});
    if (this.hangs)
      await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    if (this.fault !== undefined) throw new Error(this.fault);
    this.batches.push(lines.toString().trimEnd().split('\n'));
  }

  async close(): Promise<void> {
    if (this.closeFault !== undefined) throw new Error(this.closeFault);
  }
}

interface Opening {
  readonly batchMs?: number;
  readonly maxBytes?: number;
  readonly folder?: string;
  readonly touchMs?: number;
}

export async function opened(options: Opening = {}) {
  const said: string[] = [];
  const say = (fields: object, message: string): void => {
    said.push(`${message} ${JSON.stringify(fields)}`);
  };
  const sink = new FakeSink();
  const folder = options.folder ?? newFolder();
  const forwarder = await Forwarder.open({
    sink,
    folder,
    maxBytes: options.maxBytes ?? 1e6,
    batchMs: options.batchMs ?? 0,
    log: { info: say, warn: say, error: say },
    ...(options.touchMs === undefined ? {} : { touchMs: options.touchMs }),
  });
  return { forwarder, sink, said, folder };
}

/** Waits for it, for as long as the test may run. */
export async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await sleep(2);
}

/** With its line end. */
export const line = (n: number): string => `{"n":${n}}\n`;
/** Texts of `count` lines, without their ends. */
export const texts = (count: number): string[] => Array.from({ length: count }, (_, n) => `{"n":${n}}`);
