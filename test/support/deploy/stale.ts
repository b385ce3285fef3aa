// Reports behind a proxy whose kept connections to both nodes end at once, as on a machine that stood still: node
// build/test/support/deploy/stale.js PROXY, in a network namespace of its own (unshare -n), with a channel to its
// parent. The nodes are stand-ins that answer a call on a connection from before that moment by a reset, which no node
// of the service can be made to do on demand.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { Agent, request } from 'node:https';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { installProxy, makeAddresses, NODE_ADDRESSES, PROXY_ENV, proxyNamed } from './proxies.js';
import type { TaskResult } from './task.js';

const VEHICLES = 60;
const ROUNDS = 5;
const BODY = '{"lat":21.0288,"lng":105.8525}';
const ANSWER = 'HTTP/1.1 200 OK\r\nKeep-Alive: timeout=7\r\nContent-Length: 2\r\n\r\nok';

const proxy = proxyNamed(process.argv[2] ?? '');
makeAddresses();

let era = 0;
let resets = 0;
function answerCalls(socket: Socket): void {
  const born = era;
  let heard = '';
  socket.on('error', () => {});
  socket.on('data', (bytes) => {
    heard += bytes.toString('latin1');
    if (!heard.endsWith(BODY)) return;
    heard = '';
    if (born === era) return socket.write(ANSWER);
    resets++;
    return socket.resetAndDestroy();
  });
}
for (const address of NODE_ADDRESSES) {
  createServer(answerCalls).listen(8080, address);
  createHttpServer((_, answer) => answer.end('ready')).listen(9090, address);
}

const folder = mkdtempSync(join(tmpdir(), 'hexcodes-stale-'));
const running = spawn(proxy.program, proxy.run(installProxy(proxy, folder)), {
  env: { ...PROXY_ENV, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
  stdio: 'ignore',
});

function post(agent: Agent): Promise<string> {
  return new Promise((resolve) => {
    const options = { agent, method: 'POST', headers: { 'Content-Type': 'application/json' } };
    const call = request('https://127.0.0.1/v1/hexcodes/encode', options, (answer) => {
      answer.resume();
      answer.on('end', () => resolve(String(answer.statusCode)));
    });
    call.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    call.end(BODY);
  });
}

const agents = Array.from(
  { length: VEHICLES },
  () => new Agent({ keepAlive: true, maxSockets: 1, rejectUnauthorized: false }),
);
const report = (): Promise<string[]> => Promise.all(agents.map(post));
try {
  while ((await post(agents[0] as Agent)) !== '200') await sleep(50);
  const faults: string[] = [];
  let done = 0;
  for (let round = 0; round < ROUNDS; round++) {
    await report();
    era++;
    const answers = await report();
    done += answers.length;
    faults.push(...answers.filter((answer) => answer !== '200'));
  }
  const result: TaskResult = { done, faults, notes: [String(resets)] };
  process.send?.(result);
} finally {
  const ended = once(running, 'exit');
  running.kill('SIGTERM');
  await Promise.race([ended, sleep(3000)]);
  running.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
}
process.on('disconnect', () => process.exit(0));
if (!process.connected) process.exit(0);
