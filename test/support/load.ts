// Load on a running service: singles, batches, uploads and streams at once, as fast as they are answered. It counts
// what was answered in whole; an answer that is cut off or wrong is a fault. Where a call got no answer at all,
// whoever runs the load decides: behind a proxy that is a fault, in front of a service that stops it is not, unless
// the service had read it. Then stops and restarts under load.

import { mkdtempSync, rmSync } from 'node:fs';
import { type ClientRequest, Agent as PlainAgent, request as plainRequest } from 'node:http';
import { Agent as TlsAgent, request as tlsRequest } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import WebSocket from 'ws';
import { readExposition, sumOf } from './metrics.js';
import { Postgres } from './postgres.js';
import { COMMAND_KEY, ServeCommand } from './server-process.js';

// One HTTP call as load sends it: over a kept connection, with what a lost answer looked like.

export interface Called {
  readonly status: number;
  readonly body: Buffer;
}

/** The answer is not whole, or there is none. */
class LostCall extends Error {
  constructor(
    message: string,
    /** A part of the answer had come. */
    readonly hadBegun: boolean,
    /** The connection had answered another call before. */
    readonly wasKept = false,
  ) {
    super(message);
  }
}

export interface Call {
  readonly path: string;
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  /** The body is sent in ten pieces with a pause after each; default: all at once. */
  readonly pauseInBodyMs?: number;
}

/** Keeps connections. Certificates are those of tests. */
function agentFor(base: string): PlainAgent {
  return base.startsWith('https:')
    ? new TlsAgent({ keepAlive: true, rejectUnauthorized: false })
    : new PlainAgent({ keepAlive: true });
}

/** @throws LostCall */
export function call(
  agent: PlainAgent,
  base: string,
  { path, method, headers, body, pauseInBodyMs }: Call,
): Promise<Called> {
  return new Promise((resolve, reject) => {
    let hadBegun = false;
    const lose = (error: Error & { code?: string }): void =>
      reject(
        new LostCall(`${method} ${path}: ${error.code ?? error.message}`, hadBegun, outgoing.reusedSocket),
      );
    const request = base.startsWith('https:') ? tlsRequest : plainRequest;
    const outgoing = request(`${base}${path}`, { agent, method, headers }, (answer) => {
      hadBegun = true;
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('error', lose);
      answer.on('end', () => {
        if (answer.complete) resolve({ status: answer.statusCode ?? 0, body: Buffer.concat(chunks) });
        else lose(new Error('cut off'));
      });
    });
    outgoing.on('error', lose);
    if (body === undefined || pauseInBodyMs === undefined) outgoing.end(body);
    else void sendSlowly(outgoing, body, pauseInBodyMs);
  });
}

async function sendSlowly(to: ClientRequest, body: Uint8Array, pauseMs: number): Promise<void> {
  const pieceBytes = Math.ceil(body.length / 10);
  for (let at = 0; at < body.length && !to.destroyed; at += pieceBytes) {
    to.write(body.subarray(at, at + pieceBytes));
    await sleep(pauseMs);
  }
  to.end();
}

interface LoadOptions {
  /** Without a path: http://127.0.0.1:8080. */
  readonly base: string;
  readonly key: string;
  /** Calls without any answer are faults. */
  readonly mayLoseNothing: boolean;
  /** After each call of a kind, so that the machine is not full; default 0. */
  readonly pauseMs?: number;
  /** How many of each run at once. */
  readonly singles?: number;
  readonly batches?: number;
  readonly uploads?: number;
  readonly streams?: number;
}

const RETRY_MS = 10;
const FRAMES_AT_ONCE = 8;
const FRAME_POINTS = 512;
const BATCH_POINTS = 1000;
const UPLOAD_ROWS = 20_000;
const CODE = 'HN-6GHP4-83RFR';

export class Load {
  /** Requests answered in whole, whatever the status; upgrades included. */
  requests = 0;
  /** Frames answered. */
  frames = 0;
  /** Calls and connections that got no answer at all. */
  unanswered = 0;
  readonly faults: string[] = [];
  /** How often streams were closed, by code. */
  readonly closings = new Map<number, number>();
  readonly #options: LoadOptions;
  readonly #agent;
  readonly #workers: Promise<void>[] = [];
  readonly #sockets = new Set<WebSocket>();
  #isOver = false;

  constructor(options: LoadOptions) {
    this.#options = options;
    this.#agent = agentFor(options.base);
    const { singles = 8, batches = 2, uploads = 2, streams = 2 } = options;
    for (let i = 0; i < singles; i++) this.#repeat(SINGLE, isSingle);
    for (let i = 0; i < batches; i++) this.#repeat(BATCH, isBatch);
    for (let i = 0; i < uploads; i++) this.#repeat(UPLOAD, isUpload);
    for (let i = 0; i < streams; i++) this.#workers.push(this.#stream());
  }

  /** Resolves when the given number of requests, and of frames, are answered. */
  async reach(requests: number, frames = 0): Promise<void> {
    while ((this.requests < requests || this.frames < frames) && this.faults.length === 0)
      await sleep(RETRY_MS);
  }

  /** Sends nothing new; resolves when everything under way is answered or lost. */
  async stop(): Promise<void> {
    this.#isOver = true;
    for (const socket of this.#sockets) socket.close(1000);
    await Promise.all(this.#workers);
    this.#agent.destroy();
  }

  #repeat(what: Call, isRight: (answer: Called) => boolean): void {
    const { pauseMs = 0 } = this.#options;
    this.#workers.push(
      (async () => {
        while (!this.#isOver) {
          await this.#once(what, isRight);
          if (pauseMs > 0) await sleep(pauseMs);
        }
      })(),
    );
  }

  /** One upload whose answer begins before the body has come. */
  slowUpload(): Promise<void> {
    const headers = { ...UPLOAD.headers, 'Content-Length': String(UPLOAD.body!.length) };
    return this.#once({ ...UPLOAD, headers, pauseInBodyMs: 50 }, isUpload);
  }

  async #once(what: Call, isRight: (answer: Called) => boolean): Promise<void> {
    const { base, key, mayLoseNothing } = this.#options;
    try {
      const answer = await call(this.#agent, base, {
        ...what,
        headers: { ...what.headers, 'X-API-Key': key },
      });
      this.requests++;
      if (!isRight(answer)) {
        const { status, body } = answer;
        this.#fault(`${what.path}: ${status}, ${body.length} bytes: ${body.subarray(0, 200).toString()}`);
      }
    } catch (error) {
      if (!(error instanceof LostCall)) throw error;
      this.unanswered++;
      if (error.hadBegun || mayLoseNothing) this.#fault(error.message);
      await sleep(RETRY_MS);
    }
  }

  #fault(message: string): void {
    this.faults.push(message);
  }

  /** Connects again whenever the stream is closed. */
  async #stream(): Promise<void> {
    while (!this.#isOver) {
      await this.#connection();
      await sleep(RETRY_MS);
    }
  }

  #connection(): Promise<void> {
    const { base, key } = this.#options;
    const url = `${base.replace('http', 'ws')}/v1/hexcodes/stream`;
    const socket = new WebSocket(url, 'hexcodes.v1.binary', { headers: { 'X-API-Key': key } });
    this.#sockets.add(socket);
    let sent = 0;
    let answered = 0;
    const fill = (): void => {
      while (sent - answered < FRAMES_AT_ONCE && socket.readyState === WebSocket.OPEN && !this.#isOver) {
        socket.send(frameOf(sent++));
      }
    };
    socket.on('open', () => {
      this.requests++;
      fill();
    });
    socket.on('unexpected-response', (_request, answer) => {
      this.requests++;
      if (answer.statusCode !== 503) this.#fault(`stream: ${answer.statusCode}`);
      socket.terminate();
    });
    socket.on('message', (data: Buffer, isBinary) => {
      if (!isBinary) return;
      if (data[2] !== 0 || data.readUInt32LE(4) !== answered || data.readUInt32LE(8) !== FRAME_POINTS) {
        this.#fault(`stream: frame ${answered} was answered by ${data.subarray(0, 16).toString('hex')}`);
      }
      answered++;
      this.frames++;
      fill();
    });
    socket.on('error', () => {});
    return new Promise((resolve) => {
      socket.on('close', (code) => {
        this.#sockets.delete(socket);
        this.closings.set(code, (this.closings.get(code) ?? 0) + 1);
        resolve();
      });
    });
  }
}

const SINGLE: Call = { path: '/v1/hexcodes/encode?lat=21.0288&lng=105.8525', method: 'GET', headers: {} };

const points = Array.from({ length: BATCH_POINTS }, (_, i) => [21.0288, 105.8525 + (i % 10) / 1e7]);
const BATCH: Call = {
  path: '/v1/hexcodes/encode/batch',
  method: 'POST',
  headers: { 'Content-Type': 'application/json' },
  body: Buffer.from(JSON.stringify({ points })),
};

const UPLOAD: Call = {
  path: '/v1/hexcodes/encode/bulk',
  method: 'POST',
  headers: { 'Content-Type': 'text/csv' },
  body: Buffer.from(`lat,lng\n${'21.0288,105.8525\n'.repeat(UPLOAD_ROWS)}`),
};

const isSingle = ({ status, body }: Called): boolean => status === 200 && body.includes(CODE);
const isBatch = ({ status, body }: Called): boolean =>
  status === 200 && body.includes(`"summary":{"total":${BATCH_POINTS},"ok":${BATCH_POINTS},"failed":0}`);
const isUpload = ({ status, body }: Called): boolean =>
  status === 200 && body.toString('latin1').split(CODE).length === UPLOAD_ROWS + 1;

function frameOf(seq: number): Buffer {
  const frame = Buffer.alloc(16 + FRAME_POINTS * 16);
  frame.set([1, 1, 13, 0]);
  frame.writeUInt32LE(seq, 4);
  frame.writeUInt32LE(FRAME_POINTS, 8);
  for (let i = 0; i < FRAME_POINTS; i++) {
    frame.writeDoubleLE(21.0288, 16 + 16 * i);
    frame.writeDoubleLE(105.8525, 24 + 16 * i);
  }
  return frame;
}

// Stops of a service and of its database, under load. First a stop with its default times under clients that know
// nothing of it: they keep their connections, ask on, and connect again where they are told that a connection closes.
// A call on a kept connection that gets no answer is lost; one that finds nobody who listens is not.

const CLIENTS = 12;
const PATH = '/v1/hexcodes/encode?lat=21.0288&lng=105.8525';

interface PlainStop {
  readonly answered: number;
  readonly lost: readonly string[];
}

/** @param drain value of HEXCODES_DRAIN_MS */
export async function stopUnderPlainClients(afterMs: number, drain = '2000'): Promise<PlainStop> {
  const service = new ServeCommand([], {
    HEXCODES_LOG_LEVEL: 'info',
    HEXCODES_DRAIN_MS: drain,
  });
  const base = await service.base();
  let isOver = false;
  let answered = 0;
  const lost: string[] = [];
  const client = async (number: number): Promise<void> => {
    const agent = agentFor(base);
    while (!isOver) {
      try {
        const { status } = await call(agent, base, {
          ...{ path: PATH, method: 'GET' },
          headers: { 'X-API-Key': COMMAND_KEY },
        });
        if (status === 200) answered++;
        else lost.push(`${status}`);
      } catch (error) {
        if (!(error instanceof LostCall)) throw error;
        // Nobody listens any more: a connection is refused, or reset where it came in the moment in which the port
        // closed.
        if (!error.wasKept && !error.hadBegun) break;
        lost.push(error.message);
      }
      // Some ask soon again, some rest.
      await sleep(10 + (number % 4) * 60);
    }
    agent.destroy();
  };
  try {
    const clients = Array.from({ length: CLIENTS }, (_, i) => client(i));
    await sleep(afterMs);
    await service.stop();
    isOver = true;
    await Promise.all(clients);
    return { answered, lost };
  } finally {
    isOver = true;
    service.remove();
  }
}

// A stop in the middle of load: every request whose head was read, and every frame taken, must be answered. The service
// counts what it has read, the load counts what was answered in whole, and the two must be equal.
interface StopResult {
  readonly requests: number;
  readonly frames: number;
  readonly stopMs: number;
  readonly faults: readonly string[];
}

/** @param after requests and frames that are answered before SIGTERM comes */
export async function stopUnderLoad(args: readonly string[], after = 200): Promise<StopResult> {
  const service = new ServeCommand(args, { HEXCODES_LOG_LEVEL: 'info' });
  try {
    const load = new Load({ base: await service.base(), key: COMMAND_KEY, mayLoseNothing: false });
    await load.reach(after, after);
    const startMs = performance.now();
    const ending = await service.stop();
    const stopMs = performance.now() - startMs;
    await load.stop();
    const { counts } = service;
    const faults = [...load.faults];
    if (ending !== 0) faults.push(`the service ended with ${ending}: ${service.err}`);
    if (counts.requests !== load.requests)
      faults.push(`${counts.requests} requests were read, ${load.requests} were answered`);
    if (counts.frames !== load.frames)
      faults.push(`${counts.frames} frames were taken, ${load.frames} were answered`);
    // 1006: a connection that was never opened, as nobody listens any more.
    for (const code of load.closings.keys())
      if (![1000, 1006, 1012].includes(code)) faults.push(`a stream was closed with ${code}`);
    if (!load.closings.has(1012)) faults.push('no stream was closed with 1012');
    return { requests: load.requests, frames: load.frames, stopMs, faults };
  } finally {
    service.remove();
  }
}

// Two nodes on one PostgreSQL under load, while the database is stopped and comes back: no call may fail, readiness and
// log have to tell, and what the nodes have converted has to be stored in the end, once.

interface AwayResult {
  readonly requests: number;
  readonly frames: number;
  readonly points: number;
  readonly storedPoints: number;
  readonly faults: readonly string[];
}

const NODES = 2;

/**
 * @param awayMs how long the database is stopped; as long there is load before and after, 10 s at most
 * @param shared a database that is stopped, and started again; default: one of its own
 */
export async function databaseAway(
  awayMs: number,
  { shared, pauseMs = 5 }: { readonly shared?: Postgres; readonly pauseMs?: number } = {},
): Promise<AwayResult> {
  const postgres = shared ?? (await Postgres.start());
  const folder = mkdtempSync(join(tmpdir(), 'hexcodes-away-'));
  const store = postgres.newDatabase();
  const nodes: ServeCommand[] = [];
  const loads: Load[] = [];
  const faults: string[] = [];
  try {
    const settings = ['--usage-flush-ms', '500', '--default-points-per-second', '50000000'];
    for (let i = 0; i < NODES; i++) {
      nodes.push(
        new ServeCommand(settings, {
          HEXCODES_STORE: store,
          HEXCODES_KEY_PEPPER: 'a pepper that all nodes have in common',
          HEXCODES_DATA_DIR: mkdtempSync(join(folder, 'node-')),
        }),
      );
      await nodes[i]!.base();
    }
    for (const node of nodes) {
      const options = { mayLoseNothing: true, pauseMs, singles: 2, batches: 1, uploads: 1, streams: 1 };
      loads.push(new Load({ base: await node.base(), key: COMMAND_KEY, ...options }));
    }
    const besideMs = Math.min(awayMs, 10_000);
    await sleep(besideMs);
    await postgres.halt();
    await sleep(awayMs);
    for (const [i, node] of nodes.entries()) {
      const page = await fetch(`${await node.adminBase()}/readyz`);
      const text = await page.text();
      if (page.status !== 200 || !text.includes('warning: the database of HEXCODES_STORE'))
        faults.push(`node ${i + 1} says ${page.status} ${text}`);
    }
    await postgres.resume();
    await sleep(besideMs);
    for (const load of loads) {
      await load.stop();
      faults.push(...load.faults);
      if (load.unanswered > 0) faults.push(`${load.unanswered} calls were not answered`);
    }
    let points = 0;
    for (const node of nodes) {
      for (const text of [
        'usage cannot be stored; it is kept in memory until it can',
        'usage can be stored again',
      ])
        await node.line(text);
      const metrics = readExposition(await (await fetch(`${await node.adminBase()}/metrics`)).text());
      points += sumOf(metrics, 'hexcodes_points_total');
      if ((await node.stop()) !== 0) faults.push(`a node did not end well: ${node.err}`);
    }
    const storedPoints = Number(
      postgres.sql("SELECT sum(points) FROM hexcodes_usage WHERE outcome <> 'refused'", store),
    );
    if (storedPoints !== points) faults.push(`${points} points were converted, ${storedPoints} are stored`);
    const sum = (of: (load: Load) => number): number => loads.reduce((total, load) => total + of(load), 0);
    return {
      requests: sum((load) => load.requests),
      frames: sum((load) => load.frames),
      points,
      storedPoints,
      faults,
    };
  } finally {
    for (const node of nodes) node.remove();
    if (shared === undefined) await postgres.remove();
    rmSync(folder, { recursive: true, force: true });
  }
}
