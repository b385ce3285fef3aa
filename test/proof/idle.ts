// `npm run proof -- idle [--size 10000] [--clients 4] [--for 10s]`: WebSockets of one key that send nothing, from
// several client processes with an address of the loopback network each: resident memory of the service for each, and
// the latency of singles beside them, in turns with none.
import { type ChildProcess, fork, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { type HonestTally, sendHonestSingles } from '../support/honest-singles.js';
import { quantile } from '../support/quantile.js';
import { ServerProcess } from '../support/server-process.js';
import { millisecondsOf, report } from './run-length.js';

/** Bytes of resident memory that an idle WebSocket may cost. */
const MAX_BYTES = 16 * 1024;
const SERVER_CORE = '0';
const LOAD_CORE = '1';
/** Time after which the service has freed the memory of opening the connections. */
const SETTLE_MS = 15_000;

export default async function proveIdle(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      size: { type: 'string', default: '10000' },
      clients: { type: 'string', default: '4' },
      for: { type: 'string', default: '10s' },
    },
  });
  const lengthMs = millisecondsOf(values.for);
  const clientCount = Number(values.clients);
  const perClient = Math.ceil(Number(values.size) / clientCount);
  spawnSync('taskset', ['-a', '-cp', LOAD_CORE, String(process.pid)]);
  const server = await ServerProcess.start({ core: SERVER_CORE });
  const clients: ChildProcess[] = [];
  try {
    await during(server, 3000);
    const quiet = await during(server, lengthMs);
    const quietMb = server.memoryMb().now;
    for (let i = 0; i < clientCount; i++) {
      const entry = new URL('../support/load/idle-sockets.js', import.meta.url);
      const client = fork(entry, [String(server.port), server.key, String(perClient), `127.0.0.${10 + i}`]);
      clients.push(client);
      await once(client, 'message');
    }
    await sleep(SETTLE_MS);
    const idleMb = server.memoryMb().now;
    const beside = await during(server, lengthMs);
    const open = await openOf(clients);
    for (const client of clients.splice(0)) {
      client.disconnect();
      await once(client, 'exit');
    }
    await sleep(SETTLE_MS);
    const after = await during(server, lengthMs);
    const afterMb = server.memoryMb().now;
    const bytesEach = ((idleMb - quietMb) * 1024 * 1024) / open;
    const faults: string[] = [];
    if (open < perClient * clientCount) faults.push(`${open} are open of ${perClient * clientCount}`);
    if (bytesEach > MAX_BYTES) faults.push(`${Math.round(bytesEach)} bytes of resident memory each`);
    for (const [name, tally] of Object.entries({ quiet, beside, after }))
      if (Object.keys(tally.failures).length > 0)
        faults.push(`${name}: failed ${JSON.stringify(tally.failures)}`);
    const figures = [
      `${open} WebSockets`,
      `${(bytesEach / 1024).toFixed(1)} KiB each`,
      `${quietMb.toFixed(0)} MiB quiet, ${idleMb.toFixed(0)} with them, ${afterMb.toFixed(0)} after`,
      `singles, median and p99: ${shown(quiet)} quiet, ${shown(beside)} beside them, ${shown(after)} after`,
    ];
    report('idle', figures.join('; '), 0, faults);
  } finally {
    for (const client of clients) client.kill('SIGKILL');
    await server.kill();
  }
}

async function during(server: ServerProcess, lengthMs: number): Promise<HonestTally> {
  const stop = new AbortController();
  const sent = sendHonestSingles(server.port, server.key, { signal: stop.signal });
  await sleep(lengthMs);
  stop.abort();
  return sent;
}

async function openOf(clients: readonly ChildProcess[]): Promise<number> {
  const counts = clients.map(async (client) => {
    const answered = once(client, 'message') as Promise<[{ open: number }]>;
    client.send('count');
    return (await answered)[0].open;
  });
  return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
}

const shown = ({ latenciesMs }: HonestTally): string =>
  `${quantile(latenciesMs, 0.5).toFixed(2)} and ${quantile(latenciesMs, 0.99).toFixed(1)} ms`;
