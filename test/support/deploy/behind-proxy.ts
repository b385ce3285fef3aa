// Nodes of the service behind a proxy with the file that ships, in the network namespace of this process, where the
// addresses that the file names are made its own. To be used by programs that run under `unshare -n`.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { SMALL_RMEM } from '../network-namespace.js';
import { COMMAND_KEY, ServeCommand } from '../serve-command.js';
import { type Installed, installProxy, PROXIES, PROXY_ENV, type ShippedProxy } from './proxies.js';

export const NODE_ADDRESSES = ['10.0.0.11', '10.0.0.12'] as const;
const TRIES = 200;
const TRY_MS = 50;

export interface BehindOptions extends Installed {
  /** Arguments of `serve` for every node. */
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

export interface Behind {
  /** Address of the proxy, without a path. */
  readonly base: string;
  readonly nodes: ServeCommand[];
  readonly proxyPid: number;
  /** The last words of the proxy. */
  readonly proxyWords: () => string;
  startNode(address: string): Promise<ServeCommand>;
  stop(): Promise<void>;
}

export function proxyNamed(name: string): ShippedProxy {
  const proxy = PROXIES.find((each) => each.name === name);
  if (proxy === undefined) throw new Error(`there is no proxy ${name}`);
  return proxy;
}

/** Takes the certificate of a test: for fetch and WebSocket of this process, which know no other way. */
export function trustAnyCertificate(): void {
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
}

/** With the receive buffers that docs/operations.md asks for: a proxy on the same machine fills any larger one. */
export function makeAddresses(): void {
  const ip = (...args: string[]): Buffer => execFileSync('ip', args, { env: PROXY_ENV });
  ip('link', 'set', 'lo', 'up');
  execFileSync('sysctl', ['-qw', `net.ipv4.tcp_rmem=${SMALL_RMEM}`], { env: PROXY_ENV });
  for (const address of NODE_ADDRESSES) ip('addr', 'replace', `${address}/32`, 'dev', 'lo');
}

/** Starts two nodes and the proxy; resolves when a call through it is answered. */
export async function startBehind(proxy: ShippedProxy, options: BehindOptions = {}): Promise<Behind> {
  const { isTls = true, ownPorts = 0, env = {} } = options;
  const perNode = ownPorts === 0 ? [] : ['--processes', String(ownPorts), '--own-ports'];
  const args = [...perNode, ...(options.args ?? [])];
  const folder = mkdtempSync(join(tmpdir(), 'hexcodes-behind-'));
  makeAddresses();
  const startNode = async (address: string): Promise<ServeCommand> => {
    const node = new ServeCommand(['--host', address, '--admin-host', address, ...args], {
      HEXCODES_PORT: '8080',
      HEXCODES_ADMIN_PORT: '9090',
      HEXCODES_LOG_LEVEL: 'info',
      ...env,
    });
    await node.base();
    return node;
  };
  const nodes = await Promise.all(NODE_ADDRESSES.map((address) => startNode(address)));
  const running = spawn(proxy.program, proxy.run(installProxy(proxy, folder, options)), {
    env: { ...PROXY_ENV, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let words = '';
  running.stderr?.on('data', (bytes) => (words = (words + bytes).slice(-4000)));
  const base = isTls ? 'https://127.0.0.1' : 'http://127.0.0.1';
  const behind: Behind = {
    ...{ base, nodes, startNode, proxyPid: running.pid! },
    proxyWords: () => words,
    stop: async () => {
      // SIGTERM, as nginx leaves its workers behind when it is killed.
      const ended = once(running, 'exit');
      running.kill('SIGTERM');
      await Promise.race([ended, sleep(3000)]);
      running.kill('SIGKILL');
      for (const node of nodes) node.remove();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  try {
    await whenServed(behind);
  } catch (error) {
    await behind.stop();
    throw error;
  }
  return behind;
}

async function whenServed({ base, proxyWords }: Behind): Promise<void> {
  for (let tries = 0; tries < TRIES; tries++) {
    const answer = await fetch(`${base}/v1/meta`, { headers: { 'X-API-Key': COMMAND_KEY } }).catch(
      () => undefined,
    );
    await answer?.arrayBuffer();
    if (answer?.status === 200) return;
    await sleep(TRY_MS);
  }
  throw new Error(`the proxy does not serve: ${proxyWords()}`);
}
