// Settings: where the service listens, which data and map it serves, in how many processes and threads, and how it
// stops.
import { isIP, isIPv6 } from 'node:net';
import { Fault, integerOr, MAX_PORT, readablePath, textOr, yesOrNo } from './setting.js';

export const CONSOLE = {
  /**
   * Address of raster tiles, with {z}, {x} and {y}, or of a style of MapLibre; undefined: the console has no other map
   * than its own.
   */
  tilesUrl: {
    variable: 'HEXCODES_TILES_URL',
    argument: '<url>',
    help: 'map under the hexagons of the console: raster tiles with {z}, {x} and {y}, or a style',
    read: tilesUrl,
  },
  /** Path of an archive of tiles; undefined: none is served. */
  basemap: {
    variable: 'HEXCODES_BASEMAP',
    argument: '<file>',
    help: 'map under the hexagons of the console from this machine: a PMTiles archive',
    read: readablePath,
  },
  tilesAttribution: {
    variable: 'HEXCODES_TILES_ATTRIBUTION',
    argument: '<text>',
    help: 'who made that map, as the console shows it (of an archive: what it says itself)',
    read: textOr(''),
  },
  /** Whether links of the console have the code in their path; false: after `#`, which reaches no server. */
  pathLinks: {
    variable: 'HEXCODES_PATH_LINKS',
    flag: '--path-links',
    help: 'links of the console have the code in their path, so that chats show a preview and the service learns it',
    read: yesOrNo,
  },
};

const PLACEHOLDERS = ['{z}', '{x}', '{y}'];

function tilesUrl(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw new Fault('must be an address that begins with https:// or http://');
  if (/[{}%]/.test(url.host)) throw new Fault('must name one host: only its path may have {z}, {x} and {y}');
  const found = PLACEHOLDERS.filter((placeholder) => text.includes(placeholder));
  if (found.length > 0 && found.length < PLACEHOLDERS.length)
    throw new Fault('has some of {z}, {x} and {y}: raster tiles need all three, a style none');
  if (found.length > 0 && /\.(?:pbf|mvt)(?:\?|$)/.test(text))
    throw new Fault(
      'names vector tiles, which look like nothing without a style: give the address of the style',
    );
  return text;
}

function publicUrl(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.pathname !== '/' || url.search || url.hash)
    throw new Fault('must be an address like https://codes.example.com, without a path');
  if (url.username || url.password) throw new Fault('must not hold a user or password');
  return url.origin;
}

function securityContact(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const isAddress = /^(mailto:[^\s@]+@[^\s@]+|https:\/\/\S+)$/.test(text);
  if (!isAddress) throw new Fault('must begin with mailto: or https://, as mailto:security@example.com');
  return text;
}

const MAX_PROCESSES = 256;
const MAX_THREADS = 1024;

export const LIFE_CYCLE = {
  /** Processes under a supervisor; undefined: the service runs in the process of the command itself. */
  processes: {
    variable: 'HEXCODES_PROCESSES',
    argument: '<number>',
    help: 'processes that share the port, under a supervisor (none: the command itself serves)',
    read: readProcesses,
  },
  /** Whether each process also listens on `port` + its number, from 1. */
  ownPorts: {
    variable: 'HEXCODES_OWN_PORTS',
    flag: '--own-ports',
    help: 'each process listens on a port of its own, too: port + 1, port + 2, …',
    read: yesOrNo,
  },
  /** Threads of each process; undefined: one a core that it may use, up to four. */
  poolThreads: {
    variable: 'HEXCODES_POOL_THREADS',
    argument: '<number>',
    help: 'most worker threads of a process for large work, made when needed (one a core, up to 4)',
    read: integerOr(undefined, 1, MAX_THREADS),
  },
  /** Time between the order to stop and the close of the port, in which only /readyz changes. */
  drainMs: {
    variable: 'HEXCODES_DRAIN_MS',
    argument: '<milliseconds>',
    help: 'how long /readyz is 503 before a stop closes the port (2000)',
    read: integerOr(2000, 0, 600_000),
  },
  /** How long a stop waits for answers under way. */
  graceMs: {
    variable: 'HEXCODES_GRACE_MS',
    argument: '<milliseconds>',
    help: 'how long a stop waits for answers under way (10000)',
    read: integerOr(10_000, 0, 600_000),
  },
};

function readProcesses(text: string | undefined): number | undefined {
  const count = integerOr(undefined, 1, MAX_PROCESSES)(text);
  if (count !== undefined && process.platform !== 'linux') {
    throw new Fault('works on Linux only, where processes can share a port');
  }
  return count;
}

export const LISTENING = {
  host: {
    variable: 'HEXCODES_HOST',
    argument: '<address>',
    help: 'address to listen on (127.0.0.1)',
    read: readHost,
  },
  port: {
    variable: 'HEXCODES_PORT',
    standardVariable: 'PORT',
    argument: '<number>',
    help: 'port to listen on (PORT, else 8080; 0: any free one)',
    read: integerOr(8080, 0, MAX_PORT),
  },
  /** Origin by which clients reach the service, without a slash at its end; undefined: host and port. */
  publicUrl: {
    variable: 'HEXCODES_PUBLIC_URL',
    argument: '<url>',
    help: 'address by which clients reach the service, as /openapi.json and /asyncapi.json name it (http://HOST:PORT)',
    read: publicUrl,
  },
  /** Contact in /.well-known/security.txt; undefined: there is no such file. */
  securityContact: {
    variable: 'HEXCODES_SECURITY_CONTACT',
    help: 'where faults that an attacker could use are reported: mailto: or https:, for /.well-known/security.txt (none)',
    read: securityContact,
  },
  adminHost: {
    variable: 'HEXCODES_ADMIN_HOST',
    argument: '<address>',
    help: 'address of /livez and /readyz (127.0.0.1)',
    read: readHost,
  },
  adminPort: {
    variable: 'HEXCODES_ADMIN_PORT',
    argument: '<number>',
    help: 'port of /livez and /readyz (9090; 0: any free one)',
    read: integerOr(9090, 0, MAX_PORT),
  },
  /** Public DNS names of the admin port, in lower case. */
  adminNames: {
    variable: 'HEXCODES_ADMIN_NAMES',
    argument: '<names>',
    help: 'public host names that requests to the admin port may name, as metrics.example.com (none)',
    read: readNames,
  },
  /** Path of a boundary index of the user's own; undefined: the shipped one. */
  index: {
    variable: 'HEXCODES_INDEX',
    argument: '<file>',
    help: 'boundary index to use instead of the shipped one',
    read: readablePath,
  },
  /** Path of the boundary index before a change of borders, for requests that ask for it; undefined: none. */
  previousIndex: {
    variable: 'HEXCODES_PREVIOUS_INDEX',
    argument: '<file>',
    help: 'boundary index before a change of borders, for requests whose header Hexcodes-Data names it (none)',
    read: readablePath,
  },
  /** Path of a list of the provinces that codes may name; undefined: the shipped one. */
  reach: {
    variable: 'HEXCODES_REACH',
    argument: '<file>',
    help: 'reach file to use instead of the shipped one',
    read: readablePath,
  },
  /** The package of uWebSockets.js that serves; undefined: the newest that loads. */
  uws: {
    variable: 'HEXCODES_UWS',
    help: 'the package that serves (else the newest that loads: docs/transport.md)',
    read: (text: string | undefined) => text || undefined,
  },
};

/** Rejects hosts that are invalid whatever a name service says. */
function readHost(text: string | undefined): string {
  const host = textOr('127.0.0.1')(text);
  const isNamed = isIP(host) !== 0 || /^[\w.-]+$/.test(host);
  if (!isNamed || !URL.canParse(`http://${isIPv6(host) ? `[${host}]` : host}/`))
    throw new Fault('must be an address or the name of a host, without brackets and port');
  return host;
}

function readNames(text: string | undefined): string[] {
  if (text === undefined || text.trim() === '') return [];
  const names = text.split(',').map((name) => name.trim().toLowerCase());
  const wrong = names.find((name) => !/^[a-z0-9_.-]+$/.test(name));
  if (wrong !== undefined) throw new Fault(`has ${JSON.stringify(wrong)}, which is not a name of a host`);
  return names;
}

/** Settings that determine the ports; those of the admin port are absent where it is not requested. */
interface Ports {
  readonly host?: string;
  readonly port?: number;
  readonly adminHost?: string;
  readonly adminPort?: number;
  readonly processes?: number | undefined;
  readonly ownPorts?: boolean;
}

const isEveryAddress = (host: string): boolean => host === '0.0.0.0' || host === '::';

/**
 * The fault of settings that give one port to the service, or to a process with its own port, and to the admin port,
 * or leave no port for one.
 */
export function sharedPort({ host, port, adminHost, adminPort, processes, ownPorts }: Ports): string[] {
  if (host === undefined || port === undefined || adminHost === undefined || adminPort === undefined)
    return [];
  const last = port + (ownPorts === true ? (processes ?? 0) : 0);
  if (port !== 0 && last > MAX_PORT)
    return [
      `--own-ports needs the ports ${port + 1} to ${last}, of which ${MAX_PORT} is the last: --port names another`,
    ];
  if (port === 0 || adminPort === 0) return [];
  if (host !== adminHost && !isEveryAddress(host) && !isEveryAddress(adminHost)) return [];
  if (adminPort < port || adminPort > last) return [];
  const both =
    adminPort === port
      ? `both are ${port}`
      : `${adminPort} is of the ports ${port + 1} to ${last} of the processes`;
  return [`the service and the admin port need two ports, and ${both}: --admin-port names another`];
}
