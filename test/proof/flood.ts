// `npm run proof -- flood [--calls 300] [--behind PROXY]`: single calls with a key, each over a connection of its own,
// beside connections without one that ask now and then and come back when they are closed: of the address of the
// caller, or of others. The service must answer every call beside a flood of one other address. It prints how many are
// answered, and how soon. With `--behind HAProxy` (or nginx, Caddy) the calls go to two nodes behind that file of
// deploy/, over kept and new connections; its bounds are divided by what the limit of open files makes necessary.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { leastDivisor } from '../support/deploy/proxies.js';
import { runProxied } from '../support/deploy/run-in-namespace.js';
import { KEPT } from '../support/deploy/task-flood.js';
import { askRaw, rawClient } from '../support/raw-client.js';
import { ServeCommand } from '../support/serve-command.js';
import { optionsOf, report } from './run-length.js';

const KEY = 'one_key_0123456789abcdef';
const CALL = `GET /v1/hexcodes/encode?lat=21.0288&lng=105.8525 HTTP/1.1\r\nHost: a\r\nX-API-Key: ${KEY}\r\n\r\n`;
const PEERS = 'build/test/support/peers/keyless.js';
/** Connections of one process of peers, which has descriptors for no more. */
const PER_PROCESS = 5000;
const ASK_MS = 5000;
const CALLER = '127.0.0.1';
const FLOODS: readonly { readonly count: number; readonly from: readonly string[] }[] = [
  { count: 0, from: [] },
  ...[2000, 20_000].flatMap((count) => [
    { count, from: [CALLER] },
    { count, from: ['127.0.0.2'] },
    { count, from: Array.from({ length: 16 }, (_, n) => `127.0.1.${n}`) },
  ]),
];

async function startFlood(port: number, count: number, from: readonly string[]): Promise<ChildProcess[]> {
  const processes: ChildProcess[] = [];
  const starting: Promise<unknown>[] = [];
  const each = Math.min(PER_PROCESS, Math.ceil(count / Math.max(1, from.length)));
  for (let left = count, n = 0; left > 0; left -= each, n++) {
    const args = [
      PEERS,
      String(port),
      from[n % from.length] as string,
      String(Math.min(each, left)),
      String(ASK_MS),
    ];
    const peers = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    processes.push(peers);
    starting.push(once(peers.stdout, 'data'));
  }
  await Promise.race([Promise.all(starting), sleep(60_000)]);
  return processes;
}

export default async function proveFlood(args: string[]): Promise<void> {
  const values = optionsOf(args, { calls: '300', behind: undefined });
  if (values.behind !== undefined) return floodProxy(values.behind);
  const calls = Number(values.calls);
  const faults: string[] = [];
  for (const { count, from } of FLOODS) {
    const command = new ServeCommand(['--log-level', 'error'], { HEXCODES_API_KEYS: `one:${KEY}` });
    const port = Number(new URL(await command.base()).port);
    const flood = await startFlood(port, count, from);
    const tookMs: number[] = [];
    for (let call = 0; call < calls; call++) {
      const startMs = performance.now();
      const client = await rawClient(port, CALLER);
      const answer = await Promise.race([askRaw(client, [CALL]), sleep(5000, '')]);
      if (answer.startsWith('HTTP/1.1 200 ')) tookMs.push(performance.now() - startMs);
      client.socket.destroy();
      await sleep(20);
    }
    tookMs.sort((a, b) => a - b);
    const p = (share: number): string => (tookMs[Math.floor(tookMs.length * share)] ?? Number.NaN).toFixed(1);
    const where = from.includes(CALLER) ? 'the same address' : `${from.length} other addresses`;
    console.log(
      `${count} of ${where}: ${tookMs.length} of ${calls} answered, p50 ${p(0.5)}, p99 ${p(0.99)} ms`,
    );
    if (command.hasEnded) faults.push(`the service ended: ${command.child.signalCode}`);
    if (from.length < 2 && !from.includes(CALLER) && tookMs.length < calls)
      faults.push(`${calls - tookMs.length} calls beside ${count} connections of ${where} were not answered`);
    for (const peers of flood) peers.kill();
    await command.stop('SIGKILL');
  }
  report('flood', `${FLOODS.length} floods, ${calls} calls each`, 0, faults);
}

async function floodProxy(proxy: string): Promise<void> {
  const faults: string[] = [];
  for (const [peers, addresses] of [
    [0, 1],
    ...[2000, 20_000].flatMap((count) => [
      [count, 1],
      [count, 250],
    ]),
  ]) {
    const options = { peers: peers!, addresses: addresses!, seconds: 30, boundsDownBy: leastDivisor() };
    const result = await runProxied(proxy, 'flood', options);
    console.log(
      `${peers} of ${addresses} addresses: ${result.notes[0]} open; ${result.notes.slice(1).join('; ')}`,
    );
    faults.push(...result.faults.filter((fault) => fault.includes(KEPT)));
  }
  report('flood', `five floods behind ${proxy}, bounds divided by ${leastDivisor()}`, 0, faults);
}
