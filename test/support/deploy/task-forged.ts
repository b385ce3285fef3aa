// Calls through a proxy with an X-Forwarded-For of the client's own, with a key that is bound to the network that they
// claim: each must be refused. Without the header and with a key bound to the client's real network, it is admitted.
import { request } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeKey } from '../keys.js';
import type { Behind } from './behind-proxy.js';
import type { TaskOptions, TaskResult } from './task.js';

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
