// `npm run proof -- fleet [--vehicles 4000] [--interval 5s] [--own-ports N] [--k6 FILE]`: vehicles on WebSockets
// through HAProxy with the file that ships and TLS onto two nodes, each of N processes with ports of their own, in a
// network namespace, driven by k6. One node is stopped and started again: how many vehicles were out and for how long,
// and that each position was answered. Beside it the plan's packets and proxy: its CPU of a message and of a
// connection, and its memory of a connection, are measured here.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { cpuMicrosOf, familyOf, memoryOf, Traffic } from '../support/capacity/parts.js';
import { proxyNamed, startBehind, trustAnyCertificate } from '../support/deploy/proxies.js';
import { COMMAND_KEY } from '../support/server-process.js';
import { millisecondsOf, optionsOf, report } from './run-length.js';

const SHORT_HEAD_BYTES = 6;
/** Sockets of one of k6's virtual users. */
const PER_USER = 200;
const OWN_FILES = 200;
const CALM_MS = 15_000;
/** From the stop of the node until vehicles report no more. */
const RESTART_MS = 25_000;
/** Time for vehicles that are out still, and for the frames that they keep: half a minute, and some for each. */
const BACK_MS = 30_000;
const BACK_EACH_MS = 4;

export default async function proveFleet(args: string[]): Promise<void> {
  if (process.env.HEXCODES_FLEET_NAMESPACE === undefined) {
    const env = { ...process.env, HEXCODES_FLEET_NAMESPACE: '1' };
    const command = ['-n', process.execPath, ...process.argv.slice(1)];
    process.exitCode = spawnSync('unshare', command, { env, stdio: 'inherit' }).status ?? 1;
    return;
  }
  const values = optionsOf(args, { vehicles: '4000', interval: '5s', 'own-ports': '0', k6: 'k6' });
  const [vehicles, intervalMs] = [Number(values.vehicles), millisecondsOf(values.interval)];
  const ownPorts = Number(values['own-ports']);
  const most = maxVehicles();
  if (vehicles > most) throw new Error(`descriptors of one process carry ${most} vehicles here (ulimit -n)`);
  trustAnyCertificate();
  const folder = mkdtempSync(join(tmpdir(), 'hexcodes-fleet-'));
  const behind = await startBehind(proxyNamed('HAProxy'), {
    env: { HEXCODES_DRAIN_MS: '2000' },
    ownPorts,
  });
  const faults: string[] = [];
  try {
    const traffic = await Traffic.load();
    const requests = traffic
      .exchangesOf('stream', 1, new URL('http://127.0.0.1'), COMMAND_KEY)
      .map(({ request }) => request.subarray(SHORT_HEAD_BYTES));
    const [frames, summary, script] = ['frames.bin', 'summary.json', 'fleet.js'].map((name) =>
      join(folder, name),
    ) as [string, string, string];
    writeFileSync(frames, Buffer.concat(requests));
    const openMs = 4000 + 4 * vehicles;
    const startMs = Date.now() + openMs;
    const lastMs = startMs + CALM_MS + RESTART_MS;
    const endMs = lastMs + BACK_MS + BACK_EACH_MS * vehicles;
    const url = `${behind.base.replace('http', 'ws')}/v1/hexcodes/stream`;
    const users = Math.ceil(vehicles / PER_USER);
    writeFileSync(
      script,
      fleetScript({
        ...{ url, key: COMMAND_KEY, frames, summary, frameBytes: requests[0]!.length, users },
        ...{ perUser: Math.ceil(vehicles / users), intervalMs, startMs, lastMs, endMs },
        // Anyone who hangs by then is cut off, and its frames count as unanswered.
        allS: Math.ceil((endMs - Date.now()) / 1000) + 10,
        openMs: openMs - 3000,
      }),
    );
    const pids = familyOf(behind.proxyPid);
    const proxyBytes = (): number => pids.reduce((sum, pid) => sum + memoryOf(pid).bytes, 0);
    const [restUs, restBytes] = [cpuMicrosOf(pids), proxyBytes()];
    const k6 = spawn(values.k6, ['run', '--quiet', '--no-usage-report', script], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const ended = once(k6, 'exit');
    await sleep(startMs - Date.now());
    const [openUs, openBytes] = [cpuMicrosOf(pids), proxyBytes()];
    const wireBefore = loopbackNow();
    await sleep(CALM_MS);
    const calmUs = cpuMicrosOf(pids) - openUs;
    const wireAfter = loopbackNow();
    const [node] = behind.nodes;
    const stoppedMs = Date.now();
    node!.child.kill('SIGTERM');
    await node!.exit;
    await behind.startNode('10.0.0.11').then((again) => behind.nodes.push(again));
    const backMs = Date.now() - stoppedMs;
    await ended;
    const seen = JSON.parse(readFileSync(summary, 'utf8')) as Summary;
    const count = users * Math.ceil(vehicles / users);
    const messages = (count * CALM_MS) / intervalMs;
    const [connectUs, bytes] = [(openUs - restUs) / count, (openBytes - restBytes) / count];
    console.log(`${count} vehicles, a frame every ${intervalMs} ms, ${seen.opened} WebSockets opened in all`);
    console.log(
      `HAProxy: ${(calmUs / messages).toFixed(1)} us of CPU a message, ${connectUs.toFixed(0)} us a connection with its handshake, ${(bytes / 1000).toFixed(1)} kB each`,
    );
    const packets = (wireAfter.packets - wireBefore.packets) / (CALM_MS / 1000);
    const wireBytes = (wireAfter.bytes - wireBefore.bytes) / (CALM_MS / 1000);
    const predicted = plannedProxy(count, intervalMs);
    console.log(
      `packets of the proxy: ${predicted.packetsPerS.toFixed(0)}/s predicted, ${packets.toFixed(0)}/s seen, of ${(wireBytes / packets).toFixed(0)} bytes; its CPU: ${(100 * predicted.cores).toFixed(1)} % of a core predicted, ${(calmUs / CALM_MS / 10).toFixed(1)} % seen`,
    );
    console.log(
      `a node restarted (${(backMs / 1000).toFixed(1)} s): ${seen.outs} vehicles were out, for ${seen.outP50Ms.toFixed(0)} ms at the median and ${seen.outMaxMs.toFixed(0)} ms at most; ${seen.sent} positions, ${seen.answered} answered, ${seen.again} sent again; ${seen.cut - seen.outs} vehicles were still out at the end, with ${seen.waited} positions`,
    );
    console.log(
      `handshakes of a node's vehicles at the proxy: ${predicted.reconnectS.toFixed(1)} s of two cores predicted; ${(((seen.opened - count) * connectUs) / 2e6).toFixed(1)} s at the CPU time seen, which clients and nodes want as well`,
    );
    const lost = seen.sent - seen.answered - seen.waited;
    if (lost !== 0) faults.push(`${lost} positions were lost`);
    if (seen.cut !== seen.outs) faults.push(`${seen.cut - seen.outs} vehicles did not come back`);
    if (seen.outs === 0) faults.push('no vehicle was out: the restart was not seen');
  } finally {
    await behind.stop();
    rmSync(folder, { recursive: true, force: true });
  }
  report('fleet', `${vehicles} vehicles`, 1, faults);
}

/** The proxy before two machines of two cores, by `hexcodes plan`. */
function plannedProxy(vehicles: number, intervalMs: number) {
  const flags = `--vehicles ${vehicles} --interval ${intervalMs}ms --peak 1 --proxies 1 --cores-per-machine 2 --json`;
  const { stdout } = spawnSync(process.execPath, ['dist/cli/main.js', 'plan', ...flags.split(' ')]);
  type Plan = { readonly proxy: Record<'packetsPerS' | 'cores' | 'reconnectS', number> };
  return (JSON.parse(stdout.toString()) as Plan).proxy;
}

/** A proxy has two descriptors for each vehicle, and some of its own. */
function maxVehicles(): number {
  const files = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
  return Math.floor((Number(files ?? Number.POSITIVE_INFINITY) - OWN_FILES) / 2);
}

interface Summary {
  readonly sent: number;
  readonly answered: number;
  readonly again: number;
  readonly opened: number;
  /** Vehicles that lost their connection, and positions that those keep which have none at the end. */
  readonly cut: number;
  readonly waited: number;
  readonly outs: number;
  readonly outP50Ms: number;
  readonly outMaxMs: number;
}

/** Traffic of the loopback of this namespace so far: each packet is counted once, as received. */
function loopbackNow(): { readonly packets: number; readonly bytes: number } {
  const line = readFileSync('/proc/net/dev', 'utf8')
    .split('\n')
    .find((each) => each.trim().startsWith('lo:'))!;
  const [bytes, packets] = line.split(':')[1]!.trim().split(/\s+/).map(Number);
  return { packets: packets!, bytes: bytes! };
}

/**
 * A vehicle keeps each frame until it is answered; where its connection ends it opens another within 250 ms, and sends
 * the frames that are left again.
 */
const fleetScript = (settings: Readonly<Record<string, string | number>>): string => `
import { WebSocket } from 'k6/websockets';
import { Counter, Trend } from 'k6/metrics';
const s = ${JSON.stringify(settings)};
const frames = new Uint8Array(open(s.frames, 'b'));
const count = frames.length / s.frameBytes;
const [sent, answered, again, opened, cut, waited] = ['sent', 'answered', 'again', 'opened', 'cut', 'waited'].map(
  (name) => new Counter(name),
);
const out = new Trend('out');
export const options = {
  insecureSkipTLSVerify: true,
  summaryTrendStats: ['med', 'max', 'count'],
  scenarios: {
    fleet: {
      executor: 'per-vu-iterations', vus: s.users, iterations: 1, maxDuration: s.allS + 's', gracefulStop: '5s',
    },
  },
};
function vehicle(number) {
  let waiting = 0;
  let at = number;
  let outSince = 0;
  let timer;
  let socket;
  let isReady = false;
  let isStarted = false;
  let isOver = false;
  const put = () => {
    const from = (at++ % count) * s.frameBytes;
    socket.send(frames.slice(from, from + s.frameBytes).buffer);
  };
  const report = () => {
    waiting++;
    sent.add(1);
    if (isReady) put();
  };
  const start = () => {
    isStarted = true;
    const firstMs = s.startMs + (s.intervalMs * number) / (s.users * s.perUser);
    setTimeout(() => {
      report();
      timer = setInterval(() => {
        if (Date.now() < s.lastMs) report();
      }, s.intervalMs);
    }, Math.max(0, firstMs - Date.now()));
    setTimeout(() => {
      clearInterval(timer);
      isOver = true;
      if (isReady) socket.close();
    }, s.endMs - Date.now());
  };
  const connect = () => {
    if (isOver) return;
    const own = new WebSocket(s.url, ['hexcodes.v1.binary'], { headers: { 'X-API-Key': s.key } });
    let isLost = false;
    // A connection that is refused has an error and no close, one that ends may have both.
    const lost = () => {
      if (isLost || isOver) return;
      isLost = true;
      isReady = false;
      if (isStarted && outSince === 0) {
        outSince = Date.now();
        cut.add(1);
      }
      setTimeout(connect, 250 * Math.random());
    };
    socket = own;
    own.binaryType = 'arraybuffer';
    own.onmessage = ({ data }) => {
      if (typeof data !== 'string') {
        waiting--;
        answered.add(1);
        return;
      }
      opened.add(1);
      isReady = true;
      if (!isStarted) {
        start();
        return;
      }
      out.add(Date.now() - outSince);
      outSince = 0;
      for (let left = waiting; left > 0; left--) {
        again.add(1);
        put();
      }
    };
    own.onclose = lost;
    own.onerror = lost;
  };
  setTimeout(connect, (s.openMs * number) / (s.users * s.perUser));
  setTimeout(() => {
    isOver = true;
    if (!isReady) waited.add(waiting);
  }, s.endMs - Date.now());
}
export default function () {
  for (let at = 0; at < s.perUser; at++) vehicle((__VU - 1) * s.perUser + at);
}
export function handleSummary({ metrics }) {
  const countOf = (name) => (metrics[name] ? metrics[name].values.count : 0);
  const outs = metrics.out ? metrics.out.values : { count: 0, med: 0, max: 0 };
  return {
    [s.summary]: JSON.stringify({
      cut: countOf('cut'), waited: countOf('waited'), sent: countOf('sent'), answered: countOf('answered'), again: countOf('again'), opened: countOf('opened'),
      outs: outs.count, outP50Ms: outs.med, outMaxMs: outs.max,
    }),
  };
}
`;
