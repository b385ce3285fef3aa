// Rolling restarts of two nodes behind a proxy, under load. A stream that does not connect again by itself is told by
// 1012 that it may.
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { HexcodesClient } from '#hexcodes/client';
import { Load } from '../load/load.js';
import { COMMAND_KEY } from '../serve-command.js';
import { type Behind, NODE_ADDRESSES, SEEN_AGAIN_MS } from './behind-proxy.js';
import type { TaskOptions, TaskResult } from './task.js';

const CODE = 'HN-6GHP4-83RFR';
const STREAMS = 20;

/** `done` is the number of restarts; the notes are those of requests, points on streams and reconnections. */
export async function roll(behind: Behind, { times = 1, pauseMs = 5 }: TaskOptions): Promise<TaskResult> {
  const { base, nodes, startNode } = behind;
  const faults: string[] = [];
  const load = new Load({
    ...{ base, key: COMMAND_KEY, mayLoseNothing: true, pauseMs },
    ...{ singles: 4, batches: 1, uploads: 1, streams: 0 },
  });
  const streams = [new StreamOfClient(base), new StreamOfClient(base)];
  const closings = await openStreams(base);
  await load.slowUpload();
  let restarts = 0;
  for (let round = 0; round < times; round++) {
    for (const [i, address] of NODE_ADDRESSES.entries()) {
      const ending = await nodes[i]!.stop();
      if (ending !== 0) faults.push(`node ${address} ended with ${ending}`);
      nodes[i] = await startNode(address);
      restarts++;
      await sleep(SEEN_AGAIN_MS);
    }
  }
  await load.stop();
  for (const stream of streams) await stream.stop();
  for (const code of await closings.codes()) if (code !== 1012) faults.push(`closed with ${code}`);
  faults.push(...load.faults, ...streams.flatMap((stream) => stream.faults));
  const sum = (of: (stream: StreamOfClient) => number): number =>
    streams.reduce((all, each) => all + of(each), 0);
  const counts = [load.requests, sum((stream) => stream.answered), sum((stream) => stream.reconnections)];
  return { done: restarts, faults, notes: counts.map(String) };
}

/** Opens streams. @returns the codes that close them */
async function openStreams(base: string): Promise<{ readonly codes: () => Promise<number[]> }> {
  const url = `${base.replace('http', 'ws')}/v1/hexcodes/stream`;
  const headers = { 'X-API-Key': COMMAND_KEY };
  const sockets = Array.from(
    { length: STREAMS },
    () => new WebSocket(url, 'hexcodes.v1.json', { headers, rejectUnauthorized: false }),
  );
  const closed = sockets.map((socket) => once(socket, 'close') as Promise<[code: number]>);
  await Promise.all(sockets.map((socket) => once(socket, 'message')));
  return { codes: async () => (await Promise.all(closed)).map(([code]) => code) };
}

/** The client's stream, which connects again by itself; every point that was written must be answered, once. */
class StreamOfClient {
  answered = 0;
  #written = 0;
  #isOver = false;
  readonly faults: string[] = [];
  readonly #done: Promise<void>;
  reconnections = 0;

  constructor(private readonly base: string) {
    this.#done = this.#run().catch((error: Error) => void this.faults.push(`stream: ${error.message}`));
  }

  async #run(): Promise<void> {
    const client = new HexcodesClient({ baseUrl: `${this.base}/v1`, apiKey: COMMAND_KEY });
    const stream = client.stream({ operation: 'encode', source: this.#chunks(), framePoints: 100 });
    for await (const answer of stream) {
      for (const code of answer.hexcodes()) if (code !== CODE) this.faults.push(`stream: ${code}`);
      this.answered += answer.count;
      this.reconnections = stream.reconnections;
    }
    if (this.answered !== this.#written)
      this.faults.push(`stream: ${this.#written} points, ${this.answered} answers`);
  }

  async *#chunks(): AsyncGenerator<Float64Array> {
    const chunk = Float64Array.from({ length: 200 }, (_, i) => (i % 2 === 0 ? 21.0288 : 105.8525));
    while (!this.#isOver) {
      this.#written += 100;
      yield chunk;
      await sleep(10);
    }
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#done;
  }
}
