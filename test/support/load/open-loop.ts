// Batches at a given rate, whatever the answers take: each is sent when its time has come, on a connection of its own
// as long as no other is free. As a process of its own: port, key, points of a batch, and by messages the rate and how
// long. Latencies count from the time at which a batch was due.
import { connect, type Socket } from 'node:net';

export interface OpenLoopOrder {
  /** Batches a second; undefined: as fast as `connections` batches at a time are answered. */
  readonly perSecond: number | undefined;
  readonly lengthMs: number;
  readonly connections: number;
}

export interface OpenLoopTally {
  readonly lengthMs: number;
  readonly sent: number;
  /** Due while every connection was in use. */
  readonly unsent: number;
  readonly byStatus: Record<string, number>;
  /** Refusals without Retry-After, and answers that are cut or not whole. */
  readonly wrong: readonly string[];
  readonly okLatenciesMs: number[];
  /** Answered with 200 in each second from the beginning. */
  readonly okBySecond: number[];
}

const [port = '', key = '', points = ''] = process.argv.slice(2);
const list = Array.from({ length: Number(points) }, (_, i) => [21.0288, 105.8525 + (i % 100) / 1e4]);
const body = Buffer.from(JSON.stringify({ points: list }));
const head = `POST /v1/hexcodes/encode/batch HTTP/1.1\r\nHost: a\r\nX-API-Key: ${key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
const request = Buffer.concat([Buffer.from(head), body]);
/** The service closes connections that are idle for longer. */
const MAX_IDLE_MS = 4000;
const HEAD_END = Buffer.from('\r\n\r\n');

class Connection {
  readonly #socket: Socket;
  #dueMs = 0;
  #head = '';
  #missing = 0;
  isBusy = false;
  #idleSinceMs = 0;

  constructor(private readonly done: (connection: Connection, head: string, dueMs: number) => void) {
    this.#socket = connect({ port: Number(port), host: '127.0.0.1', noDelay: true });
    this.#socket.on('data', (bytes: Buffer) => this.#received(bytes));
    this.#socket.on('error', () => {});
    this.#socket.on('close', () => {
      if (this.isBusy) this.#end('');
    });
  }

  get isOpen(): boolean {
    return !this.#socket.destroyed && performance.now() - this.#idleSinceMs < MAX_IDLE_MS;
  }

  send(dueMs: number): void {
    this.isBusy = true;
    this.#dueMs = dueMs;
    this.#head = '';
    this.#socket.write(request);
  }

  close(): void {
    this.isBusy = false;
    this.#socket.destroy();
  }

  #received(bytes: Buffer): void {
    let rest = bytes;
    if (this.#missing === 0) {
      const end = rest.indexOf(HEAD_END);
      // The head of an answer fits into one segment here.
      if (end < 0) return;
      this.#head = rest.toString('latin1', 0, end);
      this.#missing = Number(/content-length: (\d+)/i.exec(this.#head)?.[1] ?? 0);
      rest = rest.subarray(end + 4);
    }
    this.#missing -= rest.length;
    if (this.#missing === 0) this.#end(this.#head);
  }

  #end(answer: string): void {
    this.isBusy = false;
    this.#idleSinceMs = performance.now();
    this.done(this, answer, this.#dueMs);
  }
}

async function run({ perSecond, lengthMs, connections }: OpenLoopOrder): Promise<OpenLoopTally> {
  const startMs = performance.now();
  const tally = { sent: 0, unsent: 0, byStatus: {} as Record<string, number>, wrong: [] as string[] };
  const okLatenciesMs: number[] = [];
  const okBySecond: number[] = [];
  const free: Connection[] = [];
  const all = new Set<Connection>();
  let isOver = false;
  const done = (connection: Connection, answer: string, dueMs: number): void => {
    const status = answer.slice(9, 12) || 'none';
    if (!isOver || status !== 'none') tally.byStatus[status] = (tally.byStatus[status] ?? 0) + 1;
    const nowMs = performance.now();
    if (status === '200') {
      okLatenciesMs.push(nowMs - dueMs);
      const second = Math.floor((nowMs - startMs) / 1000);
      okBySecond[second] = (okBySecond[second] ?? 0) + 1;
    } else if (tally.wrong.length < 20 && !/\r\nretry-after: \d/i.test(answer)) {
      if (!isOver) tally.wrong.push(answer.split('\r\n')[0] || 'closed without an answer');
    }
    if (!connection.isOpen || /\r\nconnection: close/i.test(answer)) {
      all.delete(connection);
      connection.close();
    } else if (perSecond === undefined && !isOver) {
      tally.sent++;
      connection.send(nowMs);
      return;
    } else free.push(connection);
  };
  const send = (dueMs: number): void => {
    let connection = free.pop();
    while (connection !== undefined && !connection.isOpen) {
      all.delete(connection);
      connection.close();
      connection = free.pop();
    }
    if (connection === undefined) {
      if (all.size >= connections) {
        tally.unsent++;
        return;
      }
      connection = new Connection(done);
      all.add(connection);
    }
    tally.sent++;
    connection.send(dueMs);
  };
  if (perSecond === undefined) for (let i = 0; i < connections; i++) send(startMs);
  let due = 0;
  while (performance.now() - startMs < lengthMs) {
    await new Promise((resolve) => setTimeout(resolve, 1));
    if (perSecond === undefined) continue;
    const until = Math.floor(((performance.now() - startMs) * perSecond) / 1000);
    for (; due < until; due++) send(startMs + (1000 * due) / perSecond);
  }
  const ranMs = performance.now() - startMs;
  isOver = true;
  for (const connection of all) connection.close();
  return { lengthMs: ranMs, ...tally, okLatenciesMs, okBySecond };
}

process.on('message', (order: OpenLoopOrder) => {
  void run(order).then((tally) => process.send?.(tally));
});
process.on('disconnect', () => process.exit());
process.send?.('runs');
