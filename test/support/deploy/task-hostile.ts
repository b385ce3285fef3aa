// Floods and forged addresses: first calls with a key beside a flood without one, from another address: over a
// connection that was open before the flood, and over new ones. The notes say how many connections of the flood are
// open as a rule, and how soon calls are answered.

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { Agent, request } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { makeKey } from '../keys.js';
import { quantile } from '../metrics.js';
import { COMMAND_KEY } from '../server-process.js';
import type { Behind } from './proxies.js';
import { callOnce, type TaskOptions, type TaskResult } from './task.js';

const KEPT = 'over a kept connection';
const NEW = 'over a new connection';
const CALL = '/v1/hexcodes/encode?lat=21.0288&lng=105.8525';
const PEERS = 'build/test/support/deploy/flood-peers.js';
/** Connections of one process of peers. */
const PER_PROCESS = 5000;
/** A peer comes back after a second, and later where more than two thousand would come in one. */
const backMs = (peers: number): number => Math.max(1000, peers / 2);
/** A flood comes up in this time, before calls over new connections begin. */
const riseMs = (peers: number): number => 1000 + peers;
const PAUSE_MS = 50;
/** Calls over the kept connection that end a flood, of which the first come while it rises. */
const KEPT_CALLS = 80;
const COUNT_MS = 200;
const ANSWER_MS = 10_000;

function startFlood(peers: number, addresses: number): ChildProcess[] {
  const started: ChildProcess[] = [];
  for (let first = 0; first < peers; first += PER_PROCESS) {
    const args = [first, Math.min(PER_PROCESS, peers - first), addresses, backMs(peers)].map(String);
    // Peers stand for other machines, and must not take the cores from the proxy.
    started.push(
      spawn('nice', ['-n', '15', process.execPath, PEERS, ...args], { stdio: ['pipe', 'ignore', 'inherit'] }),
    );
  }
  return started;
}

/** State 1, to port 443, from 127.0.2.1 or above: that is written as 0102007F, after zeros where it is IPv6. */
const COUNT =
  '$4 == "01" && $2 ~ /:01BB$/ { sub(/:.*/, "", $3); if (substr($3, length($3) - 5, 2) >= "02") n++ } END { print n + 0 }';

/** Established connections of the flood at the side of the proxy. Counted by a program, which holds up no call. */
async function floodConnections(): Promise<number> {
  const { stdout } = await promisify(execFile)('awk', [COUNT, '/proc/net/tcp', '/proc/net/tcp6']);
  return Number(stdout);
}

/** Calls of one kind, with what became of them. */
class Calls {
  readonly tookMs: number[] = [];
  readonly faults = new Map<string, number>();
  sent = 0;

  constructor(
    private readonly base: string,
    private readonly what: string,
    private readonly agent: Agent | false,
  ) {}

  async send(): Promise<void> {
    const startMs = performance.now();
    this.sent++;
    const options = {
      agent: this.agent,
      headers: { 'X-API-Key': COMMAND_KEY },
      signal: AbortSignal.timeout(ANSWER_MS),
      rejectUnauthorized: false,
    };
    const fault = await callOnce(this.base + CALL, options).then(
      ({ status }) => (status === 200 ? undefined : String(status)),
      (error) => (error as NodeJS.ErrnoException).code ?? String(error),
    );
    if (fault === undefined) this.tookMs.push(performance.now() - startMs);
    else this.faults.set(fault, (this.faults.get(fault) ?? 0) + 1);
  }

  get words(): string[] {
    return [...this.faults].map(([fault, n]) => `${n} × ${this.what}: ${fault}`);
  }

  get note(): string {
    const { tookMs, what, sent } = this;
    const p = (share: number): string => quantile(tookMs, share).toFixed(0);
    return `${what}: ${tookMs.length} of ${sent} answered, p50 ${p(0.5)}, p99 ${p(0.99)} ms`;
  }
}

/** @param options `times` is how many calls over new connections are answered at least; 0: there are none */
export async function callBesideFlood({ base }: Behind, options: TaskOptions): Promise<TaskResult> {
  const { peers = 500, addresses = 1, times = 0 } = options;
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const kept = new Calls(base, KEPT, agent);
  const fresh = new Calls(base, NEW, false);
  await kept.send();
  const flood = startFlood(peers, addresses);
  const open: number[] = [];
  const isOver = (): boolean =>
    kept.faults.size + fresh.faults.size > 0 || (kept.sent > KEPT_CALLS && fresh.tookMs.length >= times);
  const during = async (step: () => Promise<unknown>, pauseMs = PAUSE_MS): Promise<void> => {
    while (!isOver()) {
      await step();
      await sleep(pauseMs);
    }
  };
  const keptDuring = during(() => kept.send());
  await sleep(riseMs(peers));
  await Promise.all([
    keptDuring,
    ...(times === 0 ? [] : [during(() => fresh.send())]),
    during(async () => open.push(await floodConnections()), COUNT_MS),
  ]);
  for (const each of flood) each.kill();
  agent.destroy();
  return {
    done: kept.tookMs.length + fresh.tookMs.length,
    faults: [...kept.words, ...fresh.words],
    notes: [String(quantile(open, 0.5)), kept.note, fresh.note],
  };
}

// Calls through a proxy with an X-Forwarded-For of the client's own, with a key that is bound to the network that they
// claim: each must be refused. Without the header and with a key bound to the client's real network, it is admitted.

const CLAIMED = '203.0.113.9';
const NETWORK = '203.0.113.0/24';
const STREAM = '/v1/hexcodes/stream';
const PATHS = ['/v1/hexcodes/encode?lat=21.0288&lng=105.8525', '/v1/hexcodes/encode/bulk', STREAM];
const FORGED: readonly (readonly string[])[] = [
  ['X-Forwarded-For', CLAIMED],
  ['x-forwarded-for', CLAIMED],
  ['X-Forwarded-For', `${CLAIMED}, 127.0.0.1`],
  ['X-Forwarded-For', CLAIMED, 'X-Forwarded-For', CLAIMED],
  ['X-Forwarded-For', `,${CLAIMED},`],
  ['Forwarded', `for=${CLAIMED}`],
  ['X-Real-IP', CLAIMED],
];

/** Calls until one reaches the node that knows its key. */
const TRIES = 40;

export async function forgeAddresses({ base, nodes }: Behind, _: TaskOptions): Promise<TaskResult> {
  const faults: string[] = [];
  let done = 0;
  // Each node has a store of its own, and the proxy chooses between them: the key of each is tried at both.
  const keysOf = (network: string): Promise<string[]> =>
    Promise.all(nodes.map(async ({ dataDir }) => (await makeKey(dataDir!, { cidrs: [network] })).text));
  const [bound, own] = [await keysOf(NETWORK), await keysOf('127.0.0.0/8')];
  for (const [at, node] of nodes.entries()) {
    // The last key that a node reads.
    const url = `${await node.base()}${PATHS[0]}`;
    while ((await fetch(url, { headers: { 'X-API-Key': own[at]! } })).status === 401) await sleep(20);
  }
  const statuses = async (
    path: string,
    keys: readonly string[],
    headers: readonly string[],
  ): Promise<number[]> => {
    const found: number[] = [];
    for (const key of keys) {
      // 401: the key of the other node.
      for (let i = 0; i < TRIES; i++) {
        const status = await statusOf(base + path, key, headers);
        found.push(status);
        if (status !== 401) break;
      }
    }
    return found;
  };
  for (const path of PATHS) {
    for (const headers of FORGED) {
      const found = await statuses(path, bound, headers);
      done += found.filter((status) => status === 403).length;
      if (!found.includes(403) || found.some((status) => status !== 403 && status !== 401))
        faults.push(`${path} with ${headers.join(': ')}: ${found.join(' ')}`);
    }
    const found = await statuses(path, own, []);
    if (!found.includes(path === STREAM ? 101 : 200))
      faults.push(`${path} from the network of the key: ${found.join(' ')}`);
  }
  return { done, faults, notes: [] };
}

function statusOf(url: string, key: string, headers: readonly string[]): Promise<number> {
  const body = 'lat,lng\n21.0288,105.8525\n';
  const isBulk = url.endsWith('/bulk');
  const handshake = ['Connection', 'Upgrade', 'Upgrade', 'websocket', 'Sec-WebSocket-Version', '13'];
  const upgrade = url.endsWith(STREAM) ? [...handshake, 'Sec-WebSocket-Key', 'dGhlIHNhbXBsZSBub25jZQ=='] : [];
  const content = isBulk ? ['Content-Type', 'text/csv', 'Content-Length', String(body.length)] : [];
  return new Promise((resolve, reject) => {
    const call = request(url, {
      method: isBulk ? 'POST' : 'GET',
      // As one list: a header may be there twice.
      headers: ['Host', '127.0.0.1', 'X-API-Key', key, ...content, ...upgrade, ...headers],
    });
    call.on('response', (answer) => {
      answer.resume();
      answer.on('end', () => resolve(answer.statusCode ?? 0));
      answer.on('error', reject);
    });
    call.on('upgrade', (_answer, socket) => {
      socket.destroy();
      resolve(101);
    });
    call.on('error', reject);
    call.end(isBulk ? body : undefined);
  });
}
