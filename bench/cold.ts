// `npm run bench -- cold [--rounds 9] [--beside FOLDER]`: a node that has just started, as it is shipped: CPU of the
// process and all of its threads until /readyz says ready and until the first answer, and CPU of each thousand calls
// from then on. Each start is a process of its own, of both checkouts in turns. Needs Linux, whose /proc says what a
// running process has used.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { get } from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Hexcodes } from '#dist/hexcodes/library/hexcodes.js';
import { BESIDE_OPTION, commandIn } from './beside.js';
import { makeCorpora } from './corpora.js';
import { batchRequests, encodeRequests, sendAll } from './http/requests.js';
import { BENCH_KEY } from './service.js';
import { BenchTable, head, spread, spreadText } from './table.js';

/** Calls of a window. */
const WINDOW = 1000;
/** Windows after the start. The later ones are those from LATER on. */
const WINDOWS = 12;
const LATER = 6;
const CONNECTIONS = 8;

const CALLS = ['encode', 'batches of ten'] as const;

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}

const isAnswered = (port: number, path: string): Promise<boolean> =>
  new Promise((done) => {
    const request = get({ port, host: '127.0.0.1', path }, (answer) => {
      answer.resume();
      done(answer.statusCode !== 503);
    });
    request.on('error', () => done(false));
  });

/** CPU of a process and its threads that live, in milliseconds. */
function cpuMs(pid: number): number {
  let nanos = 0;
  for (const thread of readdirSync(`/proc/${pid}/task`))
    nanos += Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]);
  return nanos / 1e6;
}

/** CPU of one start, in milliseconds. */
interface Started {
  readonly readyMs: number;
  readonly answerMs: number;
  /** CPU of each window, by the call. */
  readonly windows: Readonly<Record<string, readonly number[]>>;
}

/** A service of its own process that is ready, with the key of the benches. */
interface ReadyService {
  readonly pid: number;
  readonly port: number;
  end(): Promise<void>;
}

/** @param command the file of the command, of this or another checkout */
export async function startService(command: string, dataDir: string): Promise<ReadyService> {
  const [port, adminPort] = [await freePort(), await freePort()];
  const args = ['serve', '--port', String(port), '--admin-port', String(adminPort), '--data-dir', dataDir];
  const child: ChildProcess = spawn(process.execPath, [command, ...args], {
    stdio: 'ignore',
    env: { ...process.env, HEXCODES_API_KEYS: `bench:${BENCH_KEY}` },
  });
  while (!(await isAnswered(adminPort, '/readyz'))) {
    if (child.exitCode !== null) throw new Error(`${command} serve ended with ${child.exitCode}`);
    await sleep(2);
  }
  const end = async (): Promise<void> => {
    child.kill('SIGKILL');
    await once(child, 'exit');
  };
  return { pid: child.pid!, port, end };
}

async function startOnce(
  command: string,
  dataDir: string,
  requests: Readonly<Record<string, readonly Buffer[]>>,
): Promise<Started> {
  const { pid, port, end } = await startService(command, dataDir);
  try {
    const readyMs = cpuMs(pid);
    await isAnswered(port, '/v1/hexcodes/encode?lat=21&lng=105.8');
    const answerMs = cpuMs(pid);
    const windows: Record<string, number[]> = {};
    for (const call of CALLS) {
      windows[call] = [];
      for (let window = 0; window < WINDOWS; window++) {
        const before = cpuMs(pid);
        await sendAll(port, requests[call]!, WINDOW, CONNECTIONS, 1);
        windows[call].push(cpuMs(pid) - before);
      }
    }
    return { readyMs, answerMs, windows };
  } finally {
    await end();
  }
}

export default async function benchCold(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: { rounds: { type: 'string', default: '9' }, ...BESIDE_OPTION },
  });
  const rounds = Number(values.rounds);
  const commands = ['.', ...(values.beside === '' ? [] : [values.beside])].map((each) =>
    commandIn(resolve(each)),
  );
  const { kernel } = await Hexcodes.load();
  const positions = makeCorpora(kernel, readFileSync('data/index.bin'), 10 * WINDOW).cities;
  const requests = { encode: encodeRequests(positions), 'batches of ten': batchRequests(positions) };
  const notes = `CPU of all threads, medians and quartiles of ${rounds} starts in turns; ${CONNECTIONS} connections, 1 in flight.`;
  const table = new BenchTable('cold', head([]), ['checkout', 'what', 'ms', '÷ later'], notes, { rounds });
  const folder = mkdtempSync(join(tmpdir(), 'hexcodes-bench-'));
  const starts = commands.map((): Started[] => []);
  try {
    for (let round = -1; round < rounds; round++) {
      for (let k = 0; k < commands.length; k++) {
        const which = (k + Math.max(0, round)) % commands.length;
        const started = await startOnce(commands[which]!, join(folder, `var${which}`), requests);
        // The first of each makes its stores.
        if (round >= 0) starts[which]!.push(started);
      }
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  for (const [which, all] of starts.entries()) {
    const row = (what: string, ms: readonly number[], ratio = ''): string =>
      table.row([which === 0 ? 'here' : values.beside, what, spreadText(spread(ms)), ratio], { ms });
    row(
      'serve, until ready',
      all.map(({ readyMs }) => readyMs),
    );
    row(
      'serve, until the first answer',
      all.map(({ answerMs }) => answerMs),
    );
    for (const call of CALLS) {
      const later = all.map(({ windows }) => spread(windows[call]!.slice(LATER)).median);
      for (const window of [0, 1, 2]) {
        const taken = all.map(({ windows }) => windows[call]![window]!);
        const ratios = taken.map((ms, round) => ms / later[round]!);
        const calls = `${window * WINDOW + 1} to ${(window + 1) * WINDOW}`;
        row(`${call}, calls ${calls}`, taken, spreadText(spread(ratios), 2));
      }
      row(`${call}, a thousand calls later on`, later);
    }
  }
  table.end();
}
