// Nodes of the service behind a proxy with the file that ships, in the network namespace of this process, where the
// addresses that the file names are made its own. To be used by programs that run under `unshare -n`.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { SMALL_RMEM } from '../network-namespace.js';
import { COMMAND_KEY, ServeCommand } from '../serve-command.js';
import { type Installed, installProxy, PROXIES, PROXY_ENV, type ShippedProxy } from './proxies.js';

export const NODE_ADDRESSES = ['10.0.0.11', '10.0.0.12'] as const;
/** A proxy has seen by then that a node is there again. */
export const SEEN_AGAIN_MS = 1500;
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
  startNode(address: string): Promise<ServeCommand>;
  /** Starts the proxy with another file. */
  reconfigure(installed: Installed): Promise<void>;
  /** Starts the nodes again that a task has ended. */
  restore(): Promise<void>;
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

/** A proxy as a process, with what it has said last. */
class RunningProxy {
  readonly child: ChildProcess;
  words = '';

  constructor(proxy: ShippedProxy, folder: string, installed: Installed) {
    this.child = spawn(proxy.program, proxy.run(installProxy(proxy, folder, installed)), {
      env: { ...PROXY_ENV, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    this.child.stderr?.on('data', (bytes) => (this.words = (this.words + bytes).slice(-4000)));
  }

  /** Ends it by SIGTERM, as nginx leaves its workers behind when it is killed. */
  async stop(): Promise<void> {
    const ended = once(this.child, 'exit');
    this.child.kill('SIGTERM');
    await Promise.race([ended, sleep(3000)]);
    this.child.kill('SIGKILL');
  }

  async whenServed(base: string): Promise<void> {
    for (let tries = 0; tries < TRIES; tries++) {
      const answer = await fetch(`${base}/v1/meta`, { headers: { 'X-API-Key': COMMAND_KEY } }).catch(
        () => undefined,
      );
      await answer?.arrayBuffer();
      if (answer?.status === 200) return;
      await sleep(TRY_MS);
    }
    throw new Error(`the proxy does not serve: ${this.words}`);
  }
}

const baseOf = ({ isTls = true }: Installed): string => `${isTls ? 'https' : 'http'}://127.0.0.1`;

/** Starts two nodes and the proxy; resolves when a call through it is answered. */
export async function startBehind(proxy: ShippedProxy, options: BehindOptions = {}): Promise<Behind> {
  const { ownPorts = 0, env = {} } = options;
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
  let base = baseOf(options);
  let running = new RunningProxy(proxy, folder, options);
  const stop = async (): Promise<void> => {
    await running.stop();
    for (const node of nodes) node.remove();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await running.whenServed(base);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    ...{ nodes, startNode, stop },
    get base() {
      return base;
    },
    get proxyPid() {
      return running.child.pid!;
    },
    reconfigure: async (installed) => {
      await running.stop();
      base = baseOf(installed);
      running = new RunningProxy(proxy, folder, installed);
      await running.whenServed(base);
    },
    restore: async () => {
      const ended = nodes.flatMap((node, at) => (node.hasEnded ? [at] : []));
      if (ended.length === 0) return;
      const again = async (at: number): Promise<void> => {
        nodes[at]!.remove();
        nodes[at] = await startNode(NODE_ADDRESSES[at]!);
      };
      await Promise.all(ended.map(again));
      await sleep(SEEN_AGAIN_MS);
      await running.whenServed(base);
    },
  };
}
