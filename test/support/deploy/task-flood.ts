// Calls with a key beside a flood without one, from another address: over a connection that was open before the flood,
// and over new ones. The notes say how many connections of the flood are open as a rule, and how soon calls are
// answered.
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { Agent } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { quantile } from '../quantile.js';
import { COMMAND_KEY } from '../serve-command.js';
import type { Behind } from './behind-proxy.js';
import { callOnce } from './call-once.js';
import type { TaskOptions, TaskResult } from './task.js';

/** Name of the calls over a connection that was open before the flood. */
export const KEPT = 'over a kept connection';
const NEW = 'over a new connection';
const CALL = '/v1/hexcodes/encode?lat=21.0288&lng=105.8525';
const PEERS = 'build/test/support/deploy/flood-peers.js';
/** Connections of one process of peers. */
const PER_PROCESS = 5000;
/** A peer comes back after a second, and later where more than two thousand would come in one. */
const backMs = (peers: number): number => Math.max(1000, peers / 2);
/** A flood comes up in this time, before calls over new connections begin. */
const riseMs = (peers: number): number => 2000 + peers;
const PAUSE_MS = 50;
const ANSWER_MS = 10_000;
const ESTABLISHED = '01';
const PORT_IN_HEX = ':01BB';

function startFlood(peers: number, addresses: number): ChildProcess[] {
  const started: ChildProcess[] = [];
  for (let first = 0; first < peers; first += PER_PROCESS) {
    const args = [first, Math.min(PER_PROCESS, peers - first), addresses, backMs(peers)].map(String);
    started.push(spawn(process.execPath, [PEERS, ...args], { stdio: ['pipe', 'ignore', 'inherit'] }));
  }
  return started;
}

/** Established connections of the flood at the side of the proxy, by /proc/net. */
function floodConnections(): number {
  const lines = ['/proc/net/tcp', '/proc/net/tcp6'].flatMap((path) => readFileSync(path, 'utf8').split('\n'));
  return lines.filter((line) => {
    const [, local = '', remote = '', state] = line.trim().split(/\s+/);
    // 127.0.2.1 is written as 0102007F, after the zeros of an address of IPv6.
    const third = remote.split(':')[0]!.slice(-6, -4);
    return state === ESTABLISHED && local.endsWith(PORT_IN_HEX) && third >= '02';
  }).length;
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

export async function callBesideFlood({ base }: Behind, options: TaskOptions): Promise<TaskResult> {
  const { peers = 1000, addresses = 1, seconds = 10 } = options;
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const kept = new Calls(base, KEPT, agent);
  const fresh = new Calls(base, NEW, false);
  await kept.send();
  const flood = startFlood(peers, addresses);
  const open: number[] = [];
  const endMs = performance.now() + riseMs(peers) + seconds * 1000;
  const during = async (step: () => unknown): Promise<void> => {
    while (performance.now() < endMs) {
      await step();
      await sleep(PAUSE_MS);
    }
  };
  const keptDuring = during(() => kept.send());
  await sleep(riseMs(peers));
  await Promise.all([keptDuring, during(() => fresh.send()), during(() => open.push(floodConnections()))]);
  for (const each of flood) each.kill();
  agent.destroy();
  return {
    done: kept.tookMs.length + fresh.tookMs.length,
    faults: [...kept.words, ...fresh.words],
    notes: [String(quantile(open, 0.5)), kept.note, fresh.note],
  };
}
