// The proxy files of deploy/, each with its program: whether that is here, how it checks a file, and how it runs.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface ShippedProxy {
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
export function minDivisor(): number {
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
