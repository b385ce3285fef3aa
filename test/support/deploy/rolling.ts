// Rolling restarts of two nodes behind a proxy, under load: node build/test/support/deploy/rolling.js PROXY ROUNDS RESULT. To be
// run in a network namespace of its own (unshare -n), where the addresses that the shipped files name are its own. Writes
// what happened to the file RESULT, as JSON.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { HexcodesClient } from '#dist/client/node.js';
import { Load } from '../load/load.js';
import { COMMAND_KEY, ServeCommand } from '../serve-command.js';
import { installProxy, PROXIES, PROXY_ENV } from './proxies.js';

export interface RollingResult {
  readonly restarts: number;
  readonly requests: number;
  readonly points: number;
  readonly reconnections: number;
  readonly faults: readonly string[];
}

const NODES = ['10.0.0.11', '10.0.0.12'];
const BASE = 'https://127.0.0.1';
/** Long enough for health checks every half second. */
const DRAIN_MS = 1500;
const SEEN_AGAIN_MS = 1500;
const CODE = 'HN-6GHP4-83RFR';

async function startNode(address: string): Promise<ServeCommand> {
  const node = new ServeCommand(
    ['--host', address, '--admin-host', address, '--drain-ms', String(DRAIN_MS)],
    {
      HEXCODES_PORT: '8080',
      HEXCODES_ADMIN_PORT: '9090',
      HEXCODES_LOG_LEVEL: 'info',
    },
  );
  await node.base();
  return node;
}

async function whenServed(): Promise<void> {
  for (let tries = 0; ; tries++) {
    const answer = await fetch(`${BASE}/v1/meta`, { headers: { 'X-API-Key': COMMAND_KEY } }).catch(
      () => undefined,
    );
    if (answer?.status === 200) return;
    if (tries > 200) throw new Error(`the proxy does not serve: ${proxySays}`);
    await sleep(50);
  }
}

async function roll(count: number): Promise<RollingResult> {
  const faults: string[] = [];
  const load = new Load({
    ...{ base: BASE, key: COMMAND_KEY, mayLoseNothing: true, pauseMs: 5 },
    ...{ singles: 4, batches: 1, uploads: 1, streams: 0 },
  });
  const streams = [new StreamOfClient(), new StreamOfClient()];
  await load.slowUpload();
  let restarts = 0;
  for (let round = 0; round < count; round++) {
    for (const [i, address] of NODES.entries()) {
      const ending = await nodes[i]!.stop();
      if (ending !== 0) faults.push(`node ${address} ended with ${ending}`);
      nodes[i] = await startNode(address);
      restarts++;
      await sleep(SEEN_AGAIN_MS);
    }
  }
  await load.stop();
  for (const stream of streams) await stream.stop();
  faults.push(...load.faults, ...streams.flatMap((stream) => stream.faults));
  const sum = (of: (stream: StreamOfClient) => number): number =>
    streams.reduce((all, each) => all + of(each), 0);
  return {
    restarts,
    requests: load.requests,
    points: sum((stream) => stream.answered),
    reconnections: sum((stream) => stream.reconnections),
    faults,
  };
}

/** The client's stream, which connects again by itself; every point that was written must be answered, once. */
class StreamOfClient {
  answered = 0;
  #written = 0;
  #isOver = false;
  readonly faults: string[] = [];
  readonly #done: Promise<void>;
  reconnections = 0;

  constructor() {
    this.#done = this.#run().catch((error: Error) => void this.faults.push(`stream: ${error.message}`));
  }

  async #run(): Promise<void> {
    const client = new HexcodesClient({ baseUrl: `${BASE}/v1`, apiKey: COMMAND_KEY });
    const stream = client.stream({ operation: 'encode', source: this.#chunks(), framePoints: 100 });
    for await (const answer of stream) {
      for (const code of answer.hexcodes()) if (code !== CODE) this.faults.push(`stream: ${code}`);
      this.answered += answer.count;
      this.reconnections = stream.reconnections;
    }
    if (this.answered !== this.#written)
      this.faults.push(`stream: ${this.#written} points, ${this.answered} answers`);
  }

  async *#chunks(): AsyncGenerator<Float64Array> {
    const chunk = Float64Array.from({ length: 200 }, (_, i) => (i % 2 === 0 ? 21.0288 : 105.8525));
    while (!this.#isOver) {
      this.#written += 100;
      yield chunk;
      await sleep(10);
    }
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#done;
  }
}

const [name = '', rounds = '1', resultFile = ''] = process.argv.slice(2);
const proxy = PROXIES.find((each) => each.name === name);
if (proxy === undefined || resultFile === '') throw new Error('usage: rolling.js PROXY ROUNDS RESULT');
// The client's WebSocket and fetch, which know no other way to take the certificate of a test.
process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';

const folder = mkdtempSync(join(tmpdir(), 'hexcodes-rolling-'));
const ip = (...args: string[]): Buffer => execFileSync('ip', args, { env: PROXY_ENV });
ip('link', 'set', 'lo', 'up');
for (const address of NODES) ip('addr', 'add', `${address}/32`, 'dev', 'lo');

const nodes = await Promise.all(NODES.map((address) => startNode(address)));
const running = spawn(proxy.program, proxy.run(installProxy(proxy, folder)), {
  env: { ...PROXY_ENV, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
  stdio: ['ignore', 'ignore', 'pipe'],
});
let proxySays = '';
running.stderr?.on('data', (bytes) => (proxySays = (proxySays + bytes).slice(-2000)));
try {
  await whenServed();
  writeFileSync(resultFile, JSON.stringify(await roll(Number(rounds))));
} finally {
  // SIGTERM, as nginx leaves its workers behind when it is killed.
  const ended = once(running, 'exit');
  running.kill('SIGTERM');
  await Promise.race([ended, sleep(3000)]);
  running.kill('SIGKILL');
  for (const node of nodes) node.remove();
  rmSync(folder, { recursive: true, force: true });
}
process.exit(0);
