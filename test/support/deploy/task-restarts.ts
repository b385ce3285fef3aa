// Nodes behind a proxy that restart in turn under load, or are killed. A stream that does not connect again by itself
// is told by 1012 that it may.

import { once } from 'node:events';
import { type ClientHttp2Stream, connect } from 'node:http2';
import { request } from 'node:https';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { HexcodesClient } from '#hexcodes/client';
import { Load } from '../load.js';
import { COMMAND_KEY } from '../server-process.js';
import { type Behind, NODE_ADDRESSES, SEEN_AGAIN_MS } from './proxies.js';
import { callOnce, faultsOfProxy, type TaskOptions, type TaskResult } from './task.js';
import { RepeatedBody } from './task-bodies.js';

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

// Nodes that are killed in the midst of answers through a proxy, over each version of HTTP, to clients that have sent
// everything: no answer may look whole. Without nodes the proxy answers in the form of the service.

const PATH = '/v1/hexcodes/encode/bulk';
const HEADERS = { 'X-API-Key': COMMAND_KEY, 'Content-Type': 'text/csv' };

interface Call {
  readonly body: Writable;
  /** The status, and the body of the answer, which nobody reads yet. */
  readonly answer: Promise<readonly [status: number, body: Readable]>;
}

type Sender = (base: string) => Call;

const overHttp1: Sender = (base) => {
  const body = request(base + PATH, { method: 'POST', headers: HEADERS, rejectUnauthorized: false });
  return { body, answer: once(body, 'response').then(([it]) => [it.statusCode, it] as const) };
};

const overHttp2: Sender = (base) => {
  const session = connect(base, { rejectUnauthorized: false });
  session.on('error', () => {});
  const body = session.request({ ...HEADERS, ':method': 'POST', ':path': PATH });
  body.on('close', () => session.destroy());
  return { body, answer: once(body, 'response').then(([it]) => [it[':status'], body] as const) };
};

/** Reads half of an answer; the end of it is in the node then. */
async function readHalf(send: Sender, base: string, sent: RepeatedBody): Promise<Readable> {
  const { body, answer } = send(base);
  for (const chunk of sent.chunks()) if (!body.write(chunk)) await once(body, 'drain');
  body.end();
  await once(body, 'finish');
  const [status, answered] = await answer;
  // The loss of the connection is said of the answer, too.
  body.on('error', () => {});
  if (status !== 200) throw new Error(`a bulk body is answered with ${status}`);
  let bytes = 0;
  for await (const chunk of answered.iterator({ destroyOnReturn: false })) {
    bytes += (chunk as Buffer).length;
    if (bytes > sent.answerBytes / 2) return answered;
  }
  throw new Error(`the answer ended after ${bytes} bytes`);
}

/** How an answer ends whose node was killed: an error, or 'whole'. */
async function endOf(answer: Readable): Promise<string> {
  try {
    for await (const _ of answer);
    // Node tells of a stream that was cancelled in no other way.
    const { rstCode = 0 } = answer as Partial<ClientHttp2Stream>;
    return rstCode === 0 ? 'whole' : `reset with ${rstCode}`;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error);
  }
}

export async function killNodes(behind: Behind, options: TaskOptions): Promise<TaskResult> {
  const { isHttp1 = false, megabytes = 20 } = options;
  const sent = new RepeatedBody(megabytes);
  await sent.learnAnswer(await behind.nodes[0]!.base(), COMMAND_KEY);
  const senders = isHttp1 ? [overHttp1] : [overHttp1, overHttp2];
  const answers = await Promise.all(senders.map((send) => readHalf(send, behind.base, sent)));
  for (const node of behind.nodes) node.child.kill('SIGKILL');
  await Promise.all(behind.nodes.map(({ exit }) => exit));
  const ends = await Promise.all(answers.map(endOf));
  const faults = ends.flatMap((end, at) =>
    end === 'whole' ? [`an answer over HTTP/${at + 1} looks whole`] : [],
  );
  const away = await callOnce(`${behind.base}/v1/meta`, { headers: HEADERS });
  if (away.status < 500) faults.push(`without nodes: ${away.status}`);
  faults.push(...faultsOfProxy(away));
  return { done: answers.length, faults, notes: ends };
}
