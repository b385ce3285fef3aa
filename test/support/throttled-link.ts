// A link that carries a number of bytes a second in each direction, which all connections through it share: a TCP proxy
// on loopback in a thread of its own, so that nothing a test does holds it up.
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { resolve } from 'node:path';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

const TICK_MS = 5;
/** One connection's turn, about a packet. */
const SLICE_BYTES = 1500;
/** Bytes of a connection that wait at most; then its sender is held. */
const WAITING_BYTES = 64 * 1024;

interface Ends {
  readonly from: number;
  readonly to: number;
  readonly bytesPerSecond: number;
}

export interface Carried {
  /** Bytes to and from the server. */
  readonly up: number;
  readonly down: number;
}

export class ThrottledLink {
  readonly #thread: Worker;

  private constructor(thread: Worker) {
    this.#thread = thread;
  }

  /** Connections to port `from` go to port `to`, both on 127.0.0.1. */
  static async open(ends: Ends): Promise<ThrottledLink> {
    const thread = new Worker(resolve('build/test/support/throttled-link.js'), { workerData: ends });
    await once(thread, 'message');
    return new ThrottledLink(thread);
  }

  async carried(): Promise<Carried> {
    this.#thread.postMessage('carried');
    const [carried] = (await once(this.#thread, 'message')) as [Carried];
    return carried;
  }

  async close(): Promise<void> {
    await this.#thread.terminate();
  }
}

/** One direction: what waits goes out in slices of one connection after the other. */
class Direction {
  carriedBytes = 0;
  #budgetBytes = 0;
  readonly #waiting = new Map<Socket, { readonly to: Socket; chunks: Buffer[]; sizeBytes: number }>();

  add(from: Socket, to: Socket, chunk: Buffer): void {
    const own = this.#waiting.get(from) ?? { to, chunks: [], sizeBytes: 0 };
    this.#waiting.set(from, own);
    own.chunks.push(chunk);
    own.sizeBytes += chunk.length;
    if (own.sizeBytes > WAITING_BYTES) from.pause();
  }

  drop(from: Socket): void {
    this.#waiting.delete(from);
  }

  grant(bytes: number): void {
    // Nothing is saved up while the link is idle.
    this.#budgetBytes = this.#waiting.size === 0 ? 0 : this.#budgetBytes + bytes;
    while (this.#budgetBytes > 0 && this.#waiting.size > 0)
      for (const [from, own] of this.#waiting) {
        const [chunk] = own.chunks;
        const slice = chunk!.subarray(0, SLICE_BYTES);
        if (slice.length === chunk!.length) own.chunks.shift();
        else own.chunks[0] = chunk!.subarray(slice.length);
        own.sizeBytes -= slice.length;
        own.to.write(slice);
        this.carriedBytes += slice.length;
        this.#budgetBytes -= slice.length;
        if (own.sizeBytes < WAITING_BYTES) from.resume();
        if (own.chunks.length === 0) this.#waiting.delete(from);
        if (this.#budgetBytes <= 0) break;
      }
  }
}

async function carry({ from, to, bytesPerSecond }: Ends): Promise<void> {
  const [up, down] = [new Direction(), new Direction()];
  const server = createServer({ noDelay: true }, (near) => {
    const far = connect({ port: to, host: '127.0.0.1', noDelay: true });
    for (const [one, other, direction] of [
      [near, far, up],
      [far, near, down],
    ] as const) {
      one.on('data', (chunk) => direction.add(one, other, chunk));
      one.on('error', () => {});
      one.on('close', () => {
        direction.drop(one);
        other.destroy();
      });
    }
  });
  server.listen(from, '127.0.0.1');
  await once(server, 'listening');
  let lastMs = performance.now();
  setInterval(() => {
    const nowMs = performance.now();
    const bytes = (bytesPerSecond * Math.min(100, nowMs - lastMs)) / 1000;
    lastMs = nowMs;
    up.grant(bytes);
    down.grant(bytes);
  }, TICK_MS);
  parentPort!.on('message', () =>
    parentPort!.postMessage({ up: up.carriedBytes, down: down.carriedBytes } satisfies Carried),
  );
  parentPort!.postMessage('open');
}

if (!isMainThread && parentPort !== null && typeof workerData?.bytesPerSecond === 'number')
  await carry(workerData as Ends);
