// Vehicles that report at a fixed interval over one kept connection each, by four clients: Node's agent, undici over
// HTTP/2, and Go's net/http over HTTP/1.1 and HTTP/2. None of them sends a POST again, so a request that meets the end
// of its connection is lost. Every fourth vehicle is outside of the country: its 404 is an answer. How many reports are
// sent depends on the options alone, never on the speed of the machine.
import { execFile, spawnSync } from 'node:child_process';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { promisify } from 'node:util';
import { Agent as UndiciAgent, request as undiciRequest } from 'undici';
import { COMMAND_KEY } from '../server-process.js';
import type { Behind } from './proxies.js';
import type { TaskOptions, TaskResult } from './task.js';

/** Seconds between two reports of one vehicle, as trackers are set to. */
export const INTERVALS_SEC = [5, 9, 10, 11, 15, 30, 60];

/** Reports of one vehicle that drives for this long: two at least, between which its connection rested. */
export const reportsOf = (intervalSec: number, drivenSec: number): number =>
  Math.max(2, Math.ceil(drivenSec / intervalSec));

const PATH = '/v1/hexcodes/encode';
const INSIDE = '{"lat":21.0288,"lng":105.8525}';
const OUTSIDE = '{"lat":0,"lng":0}';

interface Run {
  readonly base: string;
  readonly intervalMs: number;
  readonly vehicles: number;
  readonly rounds: number;
}

interface Outcome {
  readonly answered: number;
  readonly failures: readonly string[];
}

/** One vehicle's connection: sends a report and resolves with the status of its answer. */
type Reporter = { readonly post: (body: string) => Promise<number>; readonly end: () => void };

function nodeReporter(base: string): Reporter {
  const agent = new HttpsAgent({ keepAlive: true, maxSockets: 1, rejectUnauthorized: false });
  const headers = { 'X-API-Key': COMMAND_KEY, 'Content-Type': 'application/json' };
  const post = (body: string): Promise<number> =>
    new Promise((resolve, reject) => {
      const call = httpsRequest(base + PATH, { agent, method: 'POST', headers }, (answer) => {
        answer.resume();
        answer.on('end', () => resolve(answer.statusCode ?? 0));
        answer.on('error', reject);
      });
      call.on('error', reject);
      call.end(body);
    });
  return { post, end: () => agent.destroy() };
}

/** Keeps its connection as long as the server does. */
function undiciReporter(base: string): Reporter {
  const dispatcher = new UndiciAgent({
    allowH2: true,
    connections: 1,
    keepAliveTimeout: 600_000,
    keepAliveMaxTimeout: 600_000,
    keepAliveTimeoutThreshold: 0,
    connect: { rejectUnauthorized: false },
  });
  const headers = { 'X-API-Key': COMMAND_KEY, 'Content-Type': 'application/json' };
  const post = async (body: string): Promise<number> => {
    const answer = await undiciRequest(base + PATH, { dispatcher, method: 'POST', headers, body });
    await answer.body.dump();
    return answer.statusCode;
  };
  return { post, end: () => void dispatcher.destroy() };
}

async function drive(reporterOf: (base: string) => Reporter, run: Run): Promise<Outcome> {
  const { base, intervalMs, vehicles, rounds } = run;
  const failures: string[] = [];
  let answered = 0;
  await Promise.all(
    Array.from({ length: vehicles }, async (_, i) => {
      const reporter = reporterOf(base);
      const [body, want] = i % 4 === 3 ? [OUTSIDE, 404] : [INSIDE, 200];
      await sleep((intervalMs * i) / vehicles);
      let nextMs = performance.now();
      let endedMs = nextMs;
      for (let round = 0; round < rounds; round++) {
        const sentMs = performance.now();
        const fail = (what: unknown): void => {
          const now = performance.now();
          failures.push(
            `report ${round + 1}: ${what}, ${seconds(sentMs - endedMs)} after the one before, ended after ${seconds(now - sentMs)}`,
          );
        };
        try {
          const status = await reporter.post(body);
          answered++;
          if (status !== want) fail(`status ${status}`);
        } catch (error) {
          fail((error as NodeJS.ErrnoException).code ?? (error as Error).message);
        }
        endedMs = performance.now();
        nextMs += intervalMs;
        await sleep(Math.max(0, nextMs - performance.now()));
      }
      reporter.end();
    }),
  );
  return { answered, failures };
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(2)} s`;

async function driveGo(program: string, protocol: 1 | 2, run: Run): Promise<Outcome> {
  const { base, intervalMs, vehicles, rounds } = run;
  const args = [base, COMMAND_KEY, intervalMs, vehicles, rounds, protocol].map(String);
  const { stdout } = await promisify(execFile)(program, args, { maxBuffer: 1 << 26 });
  const lines = stdout.trimEnd().split('\n');
  return { answered: Number(lines.pop()), failures: lines };
}

interface Line {
  readonly base: string;
  readonly server: Server;
  /** How many connections were opened through it. */
  readonly opened: () => number;
}

/** A line to the proxy that takes a while each way, as a mobile network does. */
async function delayedLine(base: string, delayMs: number): Promise<Line> {
  const port = Number(new URL(base).port || (base.startsWith('https') ? 443 : 80));
  const forward = (from: Socket, to: Socket): void => {
    from.on('data', (bytes) => setTimeout(() => to.writable && to.write(bytes), delayMs));
    from.on('end', () => setTimeout(() => to.end(), delayMs));
    from.on('error', () => setTimeout(() => to.destroy(), delayMs));
    from.on('close', (hadError) => setTimeout(() => (hadError ? to.resetAndDestroy() : to.end()), delayMs));
  };
  let opened = 0;
  const server = createServer((client) => {
    opened++;
    const upstream = connect(port, '127.0.0.1');
    forward(client, upstream);
    forward(upstream, client);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port: own } = server.address() as { port: number };
  return { base: `${base.slice(0, base.indexOf(':'))}://127.0.0.1:${own}`, server, opened: () => opened };
}

/** Sends one call and then nothing. @returns ms from its answer until the proxy closes the connection */
async function idleUntilClosed(base: string): Promise<number> {
  const socket = connectTls({
    host: '127.0.0.1',
    port: Number(new URL(base).port || 443),
    rejectUnauthorized: false,
  });
  socket.write(`GET /v1/meta HTTP/1.1\r\nHost: hexcodes.test\r\nX-API-Key: ${COMMAND_KEY}\r\n\r\n`);
  let answeredMs = performance.now();
  socket.on('data', () => (answeredMs = performance.now()));
  socket.on('error', () => {});
  await new Promise((resolve) => socket.on('close', resolve));
  return performance.now() - answeredMs;
}

/** The Go clients, which the test builds once; undefined where Go is not installed. */
export function buildGo(folder: string): string | undefined {
  const program = join(folder, 'paced');
  const { status } = spawnSync('go', ['build', '-o', program, 'test/support/deploy/paced/main.go']);
  return status === 0 ? program : undefined;
}

/**
 * `done` is how many reports were answered. It is a fault where fewer than half of them went over a connection that had
 * rested, as the rest would then say nothing about idle times.
 * @param options `speedUp` shortens every interval; the proxy's timers are to be shortened by the same factor.
 * `seconds` is how long each vehicle drives at least, before it is shortened; `vehicles` are for each interval, shared
 * by the clients.
 */
export async function reportPaced({ base }: Behind, options: TaskOptions): Promise<TaskResult> {
  const { speedUp = 1, seconds: drivenSec = 180, vehicles = 60, delayMs = 50, go } = options;
  const line = await delayedLine(base, delayMs);
  const clients: [string, (run: Run) => Promise<Outcome>][] = [
    ['Node', (run) => drive(nodeReporter, run)],
    ['undici, HTTP/2', (run) => drive(undiciReporter, run)],
  ];
  if (go !== undefined) {
    clients.push(['Go', (run) => driveGo(go, 1, run)]);
    clients.push(['Go, HTTP/2', (run) => driveGo(go, 2, run)]);
  }
  const stalls = monitorEventLoopDelay({ resolution: 20 });
  stalls.enable();
  const faults: string[] = [];
  const notes: string[] = go === undefined ? ['go is not installed'] : [];
  let done = 0;
  // The timer of the proxy's file is in force.
  const closing = idleUntilClosed(base);
  try {
    await Promise.all(
      INTERVALS_SEC.flatMap((intervalSec) =>
        clients.map(async ([name, run]) => {
          const intervalMs = (intervalSec * 1000) / speedUp;
          const rounds = reportsOf(intervalSec, drivenSec);
          const own = Math.ceil(vehicles / clients.length);
          const { answered, failures } = await run({ base: line.base, intervalMs, vehicles: own, rounds });
          done += answered;
          const of = own * rounds;
          notes.push(`${name} every ${intervalSec} s: ${failures.length} of ${of}`);
          if (failures.length > 0)
            faults.push(
              `${name} every ${intervalSec} s: ${failures.length} of ${of} failed, ${failures.slice(0, 3).join(', ')}`,
            );
        }),
      ),
    );
    notes.push(`an idle connection was closed after ${seconds(await closing)}`);
  } finally {
    line.server.close();
  }
  const opened = line.opened();
  notes.push(`${opened} connections for ${done} reports`);
  if (opened > done / 2) faults.push(`${done} reports needed ${opened} connections: they were not kept`);
  notes.push(`the longest stall of this process: ${(stalls.max / 1e9).toFixed(1)} s`);
  return { done, faults, notes };
}
