// The proxy files of deploy/, each with its program: whether that is here, how it checks a file, and how it runs with
// nodes of the service behind it.

import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { SMALL_RMEM } from '../network.js';
import { COMMAND_KEY, ServeCommand } from '../server-process.js';

interface ShippedProxy {
  readonly name: string;
  readonly file: string;
  readonly program: string;
  /** Whether its file offers HTTP/2. */
  readonly hasHttp2: boolean;
  /** Lines of the file for TLS, and the line that replaces them without it. */
  readonly plain: readonly (readonly [tls: RegExp, plain: string])[];
  /** The line of the file that says how long idle clients are kept, in seconds. */
  readonly idle: RegExp;
  /** The lines that bound connections, of the file or of the firewall in front of it. */
  readonly bounds: RegExp;
  /** The file of the firewall that the proxy needs, as it cannot bound connections itself. */
  readonly firewall?: string;
  check(path: string): string[];
  run(path: string): string[];
}

const FIREWALL = 'deploy/firewall/hexcodes.nft';

export const PROXIES: readonly ShippedProxy[] = [
  {
    name: 'HAProxy',
    file: 'deploy/haproxy/haproxy.cfg',
    program: 'haproxy',
    // From 3.0 on.
    get hasHttp2() {
      const said = spawnSync(this.program, ['-v'], { env: PROXY_ENV, encoding: 'utf8' }).stdout ?? '';
      return !/version [12]\./.test(said);
    },
    plain: [[/bind :443 ssl .*/g, 'bind :80']],
    idle: /^ *(?:timeout http-keep-alive .*|http-after-response set-header Keep-Alive .*)$/gm,
    bounds: /^ *(?:maxconn \d|tcp-request connection reject|http-after-response .*fe_conn).*$/gm,
    check: (path) => ['-c', '-f', path],
    run: (path) => ['-db', '-f', path],
  },
  {
    name: 'nginx',
    file: 'deploy/nginx/nginx.conf',
    program: 'nginx',
    hasHttp2: false,
    plain: [
      [/listen 443 ssl;/, 'listen 80;'],
      [/^ *ssl_.*\n/gm, ''],
    ],
    idle: /^ {2}keepalive_timeout .*$/gm,
    bounds: /^ *(?:worker_connections|limit_conn) .*$|ct count over.*$/gm,
    firewall: FIREWALL,
    check: (path) => ['-t', '-q', '-c', path],
    run: (path) => ['-g', 'daemon off;', '-c', path],
  },
  {
    name: 'Caddy',
    file: 'deploy/caddy/Caddyfile',
    program: 'caddy',
    hasHttp2: true,
    plain: [
      [/^:443 \{/m, ':80 {'],
      [/^\ttls .*\n/m, ''],
    ],
    idle: /^\s*(?:idle \d.*|header @kept Keep-Alive .*)$/gm,
    bounds: /ct count over.*$/gm,
    firewall: FIREWALL,
    check: (path) => ['validate', '--adapter', 'caddyfile', '--config', path],
    run: (path) => ['run', '--adapter', 'caddyfile', '--config', path],
  },
];

/** Whether a program is installed; those of administrators are not in everyone's PATH. */
export function hasProgram(name: string): boolean {
  return spawnSync('sh', ['-c', `command -v ${name}`], { env: PROXY_ENV, stdio: 'ignore' }).status === 0;
}

export const PROXY_ENV: NodeJS.ProcessEnv = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin:/sbin` };

const CERTIFICATE = '/etc/hexcodes/tls/hexcodes.pem';
const PID_FILE = '/run/hexcodes-nginx.pid';

export interface Installed {
  /** false: the same file without TLS, on port 80. */
  readonly isTls?: boolean;
  /** Processes of a node with ports of their own: HAProxy has a server for each, as docs/operations.md says. */
  readonly ownPorts?: number;
  /** Timers of idle clients are shorter by this factor. */
  readonly speedUp?: number;
  /** Bounds of connections are smaller by this factor. Default: as this machine's limit of open files needs it. */
  readonly boundsDownBy?: number;
}

/** Open files that the bounds of the proxy files need as they ship. */
const FILES_NEEDED = 50_000;

/** Divides the bounds, so that a proxy starts with this machine's limit of open files. */
function minDivisor(): number {
  const limit = Number(spawnSync('sh', ['-c', 'ulimit -Hn'], { encoding: 'utf8' }).stdout);
  return Number.isNaN(limit) ? 1 : Math.ceil(FILES_NEEDED / limit);
}

const divided = (text: string, lines: RegExp, by: number): string =>
  text.replace(lines, (line) => line.replace(/\d{3,}/g, (n) => String(Math.ceil(Number(n) / by))));

/** Sets the firewall of a proxy in the network namespace of this process. */
export function raiseFirewall({ firewall, bounds }: ShippedProxy, boundsDownBy = 1): void {
  if (firewall === undefined) return;
  const rules = divided(readFileSync(firewall, 'utf8'), bounds, boundsDownBy);
  const { status, stderr } = spawnSync('nft', ['-f', '-'], {
    env: PROXY_ENV,
    input: `flush ruleset\n${rules}`,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`nft: ${stderr}`);
}

/**
 * A copy of the file in which the certificate, and what the proxy writes, lie in the folder; all else is as it ships,
 * but for what the options say.
 */
export function installProxy(
  { file, plain, idle, bounds }: ShippedProxy,
  folder: string,
  options: Installed = {},
): string {
  const { isTls = true, ownPorts = 0, speedUp = 1, boundsDownBy = minDivisor() } = options;
  const certificate = join(folder, 'hexcodes.pem');
  const made = spawnSync(
    'openssl',
    [
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'],
      ...[
        '-subj',
        '/CN=hexcodes.test',
        '-addext',
        'subjectAltName=IP:127.0.0.1',
        '-keyout',
        '-',
        '-out',
        '-',
      ],
    ],
    { encoding: 'utf8' },
  );
  if (made.status !== 0) throw new Error(made.stderr);
  writeFileSync(certificate, made.stdout);
  const text = divided(readFileSync(file, 'utf8'), bounds, boundsDownBy)
    .replaceAll(CERTIFICATE, certificate)
    .replace(PID_FILE, join(folder, 'nginx.pid'))
    .replaceAll('/var/log/nginx', folder)
    .replace(/^( *server node-\w+)( [\d.]+):8080$/gm, (line, name: string, host: string) =>
      ownPorts === 0 ? line : serversOf(name, host, ownPorts),
    );
  const path = join(folder, 'config');
  const timed =
    speedUp === 1
      ? text
      : text.replace(idle, (line) => line.replace(/\d+/g, (n) => String(Math.ceil(Number(n) / speedUp))));
  writeFileSync(path, isTls ? timed : withoutTls(timed, plain));
  return path;
}

const serversOf = (name: string, host: string, processes: number): string =>
  Array.from({ length: processes }, (_, at) => `${name}-${at + 1}${host}:${8081 + at}`).join('\n');

function withoutTls(text: string, plain: ShippedProxy['plain']): string {
  return plain.reduce((changed, [tls, without]) => {
    const next = changed.replace(tls, without);
    if (next === changed) throw new Error(`the file has no line ${tls}`);
    return next;
  }, text);
}

// Nodes of the service behind a proxy with the file that ships, in the network namespace of this process, where the
// addresses that the file names are made its own. To be used by programs that run under `unshare -n`.

export const NODE_ADDRESSES = ['10.0.0.11', '10.0.0.12'] as const;
/** A proxy has seen by then that a node is there again. */
export const SEEN_AGAIN_MS = 1500;
const TRIES = 200;
const TRY_MS = 50;

interface BehindOptions extends Installed {
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
