// Load on a running service: singles, batches, uploads and streams at once, as fast as they are answered. It counts
// what was answered in whole; an answer that is cut off or wrong is a fault. Where a call got no answer at all, whoever
// runs the load decides: behind a proxy that is a fault, in front of a service that stops it is not, unless the service
// had read it.

import { type ClientRequest, Agent as PlainAgent, request as plainRequest } from 'node:http';
import { Agent as TlsAgent, request as tlsRequest } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import WebSocket from 'ws';

// One HTTP call as load sends it: over a kept connection, with what a lost answer looked like.

export interface Called {
  readonly status: number;
  readonly body: Buffer;
}

/** The answer is not whole, or there is none. */
export class LostCall extends Error {
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
export function agentFor(base: string): PlainAgent {
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
