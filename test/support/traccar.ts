// Traccar and its sinks for tests: bodies in the shape that its JSON forwarding has, as its classes Position and
// Device are written by Jackson, an HTTP server that receives batches, and forwarders over a sink that fails at will.

import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll } from 'vitest';
import { Forwarder } from '#dist/server/traccar/forward/forwarder.js';
import { type Answer, call, postJson } from './http-calls.js';
import type { TestServer } from './server.js';

/** The body of version 6 for the n-th position of a truck that drives north through Hà Nội. */
export function forwardedBody(n: number): {
  position: Record<string, unknown>;
  device: Record<string, unknown>;
} {
  const at = (seconds: number): string =>
    new Date(Date.UTC(2026, 10, 22, 8, 0, 0) + seconds * 1000).toISOString().replace('Z', '+00:00');
  return {
    position: {
      id: 0,
      attributes: { batteryLevel: 87, ignition: true, distance: 12.5, totalDistance: 48211.75, motion: true },
      deviceId: 7,
      protocol: 'teltonika',
      serverTime: at(10 * n + 2),
      deviceTime: at(10 * n),
      fixTime: at(10 * n),
      outdated: false,
      valid: true,
      latitude: Number((21.0288 + n / 1000).toFixed(4)),
      longitude: 105.8525,
      altitude: 14,
      speed: 16.2,
      course: 3,
      address: null,
      accuracy: 0,
      network: null,
      geofenceIds: null,
    },
    device: {
      id: 7,
      attributes: { speedLimit: 43.2 },
      groupId: 2,
      calendarId: 0,
      name: '51C-123.45, "Trường"',
      uniqueId: '860123456789012',
      status: 'online',
      lastUpdate: at(10 * n + 1),
      positionId: 4711,
      phone: null,
      model: 'FMB920',
      contact: null,
      category: 'truck',
      disabled: false,
      expirationTime: null,
    },
  };
}

/** Sends it as Traccar does: the key in a header, and the Accept of its HTTP client. */
export const forwarded = (to: TestServer, key: string, body: unknown, query = ''): Promise<Answer> =>
  call(
    to,
    `/v1/traccar${query}`,
    {
      ...postJson(JSON.stringify(body)),
      headers: {
        'Content-Type': 'application/json',
        Accept: 'text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2',
      },
    },
    key,
  );

type Behaviour = 'takes' | 'refuses' | 'hangs';

/** A real HTTP server that keeps the lines of the batches that it takes. */
export class HttpSinkServer {
  behaviour: Behaviour = 'takes';
  /** Milliseconds before it answers. */
  delayMs = 0;
  /** Lines of each batch that was taken. */
  readonly batches: string[][] = [];
  readonly headers: Record<string, unknown>[] = [];
  refused = 0;
  #server: Server | undefined;

  private constructor(public port: number) {}

  static async start(): Promise<HttpSinkServer> {
    const sink = new HttpSinkServer(0);
    await sink.up();
    return sink;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/positions`;
  }

  /** All rows so far, in order, repetitions included. */
  get rows(): { id: string; fix_time: string; hexcodes: string | null; status: string }[] {
    return this.batches.flat().map((line) => JSON.parse(line));
  }

  async up(): Promise<void> {
    this.#server = createServer((request, response) => {
      let body = '';
      request.setEncoding('utf8');
      request.on('data', (text: string) => {
        body += text;
      });
      request.on('end', async () => {
        const { behaviour } = this;
        if (behaviour === 'hangs') return;
        await sleep(this.delayMs);
        if (behaviour === 'refuses') {
          this.refused++;
          response.writeHead(500).end('out of order');
          return;
        }
        this.headers.push({ method: request.method, ...request.headers });
        this.batches.push(body.split('\n').slice(0, -1));
        response.writeHead(204).end();
      });
    });
    this.#server.listen(this.port, '127.0.0.1');
    await once(this.#server, 'listening');
    this.port = (this.#server.address() as AddressInfo).port;
  }

  async down(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (server === undefined) return;
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }

  /** Resolves when a number of rows have come. */
  async received(rows: number): Promise<void> {
    while (this.rows.length < rows) await sleep(5);
  }
}

// Forwarders over a sink that takes, refuses and hangs as the test wants, with folders below one that goes with the
// tests.

export const root = mkdtempSync(join(tmpdir(), 'hexcodes-forwarder-'));
afterAll(() => rmSync(root, { recursive: true }));
let folders = 0;
/** A path below it that nothing is at. */
export const newFolder = (): string => join(root, String(++folders));

type Sink = Parameters<typeof Forwarder.open>[0]['sink'];

class FakeSink implements Sink {
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
