// `npm run proof -- fair [--only C1] [--for 8s] [--net here|small|both]`: each abuser of the catalogue, in a process of
// its own, beside honest single requests. Server and pool have one core, all load has the other. Runs in a network
// namespace where no peer can fill the transport's receive buffer (tcp_rmem), and in one as the system makes it.
import { type ChildProcess, fork, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { abusersOf } from '../support/abusers.js';
import { runInNamespace, SMALL_RMEM } from '../support/network.js';
import { ServerProcess } from '../support/server-process.js';
import { millisecondsOf, optionsOf } from './run-length.js';

const LOAD_CORE = '1';
const SERVER_CORE = '0';
/** The aim for the slowest hundredth of the honest answers: a multiple of that of the quiet server, or ms. */
const AIM_TIMES_QUIET = 10;
const AIM_MS = 50;

interface Told {
  sentBytes: number;
  receivedBytes: number;
  cuts: number;
}

export default async function proveFair(args: string[]): Promise<void> {
  const values = optionsOf(args, { only: '', for: '8s', net: 'both' });
  if (values.net !== 'here') {
    for (const net of values.net === 'both' ? ['small', 'system'] : [values.net]) inNamespace(net, args);
    return;
  }
  spawnSync('taskset', ['-a', '-cp', LOAD_CORE, String(process.pid)]);
  const names = Object.keys(abusersOf('')).filter((name) => name.startsWith(values.only));
  console.log(
    '| abuser | its MB out, in | cut | singles | failed | p50 ms | p99 | most | quiet p99 | MiB quiet, most | |',
  );
  console.log('|---|---|---|---|---|---|---|---|---|---|---|');
  for (const name of names) console.log(await rowOf(name, millisecondsOf(values.for)));
}

/** Runs this proof again inside a network namespace of its own. */
function inNamespace(net: string, args: string[]): void {
  console.log(`\nnet.ipv4.tcp_rmem ${net === 'small' ? SMALL_RMEM : 'as the system has it'}\n`);
  const inner = [process.execPath, process.argv[1] as string, 'fair', ...args, '--net', 'here'];
  if (runInNamespace(net, inner) !== 0) process.exitCode = 1;
}

async function rowOf(name: string, lengthMs: number): Promise<string> {
  const server = await ServerProcess.start({ core: SERVER_CORE, isQuiet: true });
  try {
    // Warm first: compiled code and caches are not part of either figure.
    await during(server, 2000);
    const quiet = await during(server, lengthMs / 2);
    const quietMb = server.memoryMb().now;
    server.resetPeak();
    const abuser = fork(new URL('./fair-abuser.js', import.meta.url), [
      name,
      String(server.port),
      server.otherKey,
    ]);
    await once(abuser, 'message');
    const beside = await during(server, lengthMs);
    const { sentBytes, receivedBytes, cuts } = await told(abuser);
    const maxMb = server.memoryMb().peak;
    const failed = Object.entries(beside.failures);
    const aimMs = Math.max(AIM_MS, AIM_TIMES_QUIET * share(quiet, 0.99));
    const p99 = share(beside, 0.99);
    if (failed.length > 0) process.exitCode = 1;
    const verdict = failed.length > 0 ? 'FAILED' : p99 > aimMs ? 'slow' : 'fair';
    const cells = [
      name,
      `${mb(sentBytes)}, ${mb(receivedBytes)}`,
      cuts,
      beside.latenciesMs.length,
      failed.map(([kind, count]) => `${count} ${kind}`).join(', ') || 0,
      share(beside, 0.5).toFixed(1),
      p99.toFixed(0),
      share(beside, 1).toFixed(0),
      share(quiet, 0.99).toFixed(0),
      `${quietMb.toFixed(0)}, ${maxMb.toFixed(0)}`,
      verdict,
    ];
    return `| ${cells.join(' | ')} |`;
  } finally {
    await server.kill();
  }
}

async function during(server: ServerProcess, lengthMs: number): Promise<HonestTally> {
  const over = new AbortController();
  const tally = sendHonestSingles(server.port, server.key, over.signal);
  await sleep(lengthMs);
  over.abort();
  return tally;
}

/** Asks the abuser for its counts, and ends it. */
async function told(abuser: ChildProcess): Promise<Told> {
  abuser.send('stop');
  const [counts] = (await once(abuser, 'message')) as [Told];
  abuser.kill('SIGKILL');
  return counts;
}

/** The latency below which this share of the answers stayed; 0 where there were none. */
function share({ latenciesMs }: HonestTally, part: number): number {
  const sorted = latenciesMs.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? 0;
}

const mb = (bytes: number): string => (bytes / 1e6).toFixed(0);

// Honest clients beside an abuser: each sends one position at a time, on a connection that it keeps or on a new one
// for every request, and reads the answer. An answer that is late, cut or not 200 is a failure.
const ANSWER_TIMEOUT_MS = 5000;
const CLIENTS = 8;
/** Between an answer and the next request of the same client. */
const PAUSE_MS = 15;

interface HonestTally {
  /** Latencies of the answers that came, in the order in which they came. */
  readonly latenciesMs: number[];
  /** How often each kind of failure happened. */
  readonly failures: Readonly<Record<string, number>>;
}

/** Sends singles from eight clients until the signal is given; half of them connect again for each request. */
async function sendHonestSingles(port: number, key: string, signal: AbortSignal): Promise<HonestTally> {
  const latenciesMs: number[] = [];
  const failures: Record<string, number> = {};
  const request = `GET /v1/hexcodes/encode?lat=21.0288&lng=105.8525 HTTP/1.1\r\nHost: a\r\nX-API-Key: ${key}\r\n\r\n`;
  const client = async (keepsConnection: boolean): Promise<void> => {
    let socket: Socket | undefined;
    while (!signal.aborted) {
      const startMs = performance.now();
      socket ??= connect({ port, host: '127.0.0.1', noDelay: true }).on('error', () => {});
      const failure = await oneAnswer(socket, request);
      if (failure === undefined) latenciesMs.push(performance.now() - startMs);
      else failures[failure] = (failures[failure] ?? 0) + 1;
      if (failure !== undefined || !keepsConnection) {
        socket.destroy();
        socket = undefined;
      }
      await sleep(PAUSE_MS);
    }
    socket?.destroy();
  };
  await Promise.all(Array.from({ length: CLIENTS }, (_, i) => client(i % 2 === 0)));
  return { latenciesMs, failures };
}

/** Sends one request; resolves with the kind of failure, undefined for a whole answer with status 200. */
function oneAnswer(socket: Socket, request: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    let received = '';
    const done = (failure?: string): void => {
      clearTimeout(timer);
      socket.off('data', onData);
      socket.off('close', onClose);
      resolve(failure);
    };
    const onData = (bytes: Buffer): void => {
      received += bytes.toString('latin1');
      const head = received.indexOf('\r\n\r\n');
      if (head < 0) return;
      const sizeBytes = Number(/content-length: (\d+)/i.exec(received)?.[1] ?? 0);
      if (received.length < head + 4 + sizeBytes) return;
      done(received.startsWith('HTTP/1.1 200 ') ? undefined : received.slice(9, 12));
    };
    const onClose = (): void => done('closed');
    const timer = setTimeout(() => done('no answer'), ANSWER_TIMEOUT_MS);
    socket.on('data', onData);
    socket.on('close', onClose);
    socket.write(request);
  });
}
