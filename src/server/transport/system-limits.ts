// How many connections the process can have open: each is a file descriptor, and once none is left uWS accepts nobody
// and spins. So the limit of connections stays below that of the system, and those without a key make way in time.
import { readFileSync } from 'node:fs';

// The largest receive buffer that the system gives a connection. uWS reads up to 512 KiB at a time and reads the same
// socket again while the peer fills that (README U28), so a smaller maximum makes sure that every peer gets its turn.

const UWS_RECEIVE_BUFFER_BYTES = 512 * 1024;
const SETTING = '/proc/sys/net/ipv4/tcp_rmem';

/** The value that docs/http.md recommends. */
const RECOMMENDED = '4096 131072 400000';

/**
 * @param read gives the setting's text: least, default and greatest size in bytes
 * @returns a sentence for the log where a peer can fill the buffer; undefined where none can, or where the system has
 *   no such setting
 */
export function receiveBufferWarning(
  read = (): string => readFileSync(SETTING, 'latin1'),
): string | undefined {
  let greatestBytes: number;
  try {
    greatestBytes = Number(read().trim().split(/\s+/)[2]);
  } catch {
    return undefined;
  }
  if (!(greatestBytes >= UWS_RECEIVE_BUFFER_BYTES)) return undefined;
  return `for a service on the open internet: net.ipv4.tcp_rmem="${RECOMMENDED}" keeps a fast peer from making others wait (now ${greatestBytes} bytes; docs/operations.md)`;
}

const LIMITS = '/proc/self/limits';
/** Descriptors kept for files, threads, databases, the admin port and spooled answers. */
const OTHERS = 128;
const MIN_CONNECTIONS = 64;
const WAY_OUT = 'raise the limit (ulimit -n, LimitNOFILE= of systemd), or lower --max-connections';

/** The greatest number of open files of this process; infinite where the system does not say. */
function openFilesLimit(): number {
  try {
    return Number(
      /^Max open files\s+(\d+)/m.exec(readFileSync(LIMITS, 'latin1'))?.[1] ?? Number.POSITIVE_INFINITY,
    );
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/**
 * @param wanted connections
 * @returns as many of them as there are descriptors for, and a sentence for the log if they are fewer
 * @throws Error with a sentence where there are too few for any service
 */
export function connectionsWithin(
  wanted: number,
  filesLimit = openFilesLimit(),
): { maxConnections: number; warning: string | undefined } {
  if (wanted + OTHERS <= filesLimit) return { maxConnections: wanted, warning: undefined };
  const maxConnections = filesLimit - OTHERS;
  if (maxConnections < Math.min(wanted, MIN_CONNECTIONS)) {
    const least = OTHERS + MIN_CONNECTIONS;
    throw new Error(
      `the process may have ${filesLimit} open files, and the service needs ${least}: ${WAY_OUT}`,
    );
  }
  const warning = `the process may have ${filesLimit} open files, so at most ${maxConnections} connections instead of ${wanted}: ${WAY_OUT}`;
  return { maxConnections, warning };
}

/** Descriptors that are left for everything but connections and answers on disk. */
const KEPT = 64;

/** How many files may be open for answers that wait on disk, beside as many connections as `connectionsWithin` says. */
export function filesBeside(wanted: number, filesLimit = openFilesLimit()): number {
  return filesLimit - Math.min(wanted, filesLimit - OTHERS) - KEPT;
}
