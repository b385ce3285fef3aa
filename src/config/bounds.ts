// Settings: what peers may hold and have under way. A limit "for all" is one for each process.
import { integerOr, MIB, MOST_BYTES, MOST_CONNECTIONS } from './readers.js';

const GIB = 1024 * MIB;

export const BOUNDS = {
  /** Bytes of an upload that may come after its reading was stopped; more, and the connection is closed. */
  maxPastStopBytes: {
    variable: 'HEXCODES_MAX_PAST_STOP',
    flag: '--max-past-stop',
    argument: '<bytes>',
    help: 'bytes an upload may bring while its reading is stopped (268435456)',
    read: integerOr(256 * MIB, MIB, 999_999_999),
  },
  /** Bytes held in memory for one connection, for one key, for all: more is refused. */
  maxConnectionBytes: {
    variable: 'HEXCODES_MAX_CONNECTION_BYTES',
    flag: '--max-connection-bytes',
    argument: '<bytes>',
    help: 'bytes held in memory for one connection (402653184)',
    read: integerOr(384 * MIB, 8 * MIB, MOST_BYTES),
  },
  maxKeyBytes: {
    variable: 'HEXCODES_MAX_KEY_BYTES',
    flag: '--max-key-bytes',
    argument: '<bytes>',
    help: 'bytes held in memory for all connections of one key (536870912)',
    read: integerOr(512 * MIB, 8 * MIB, MOST_BYTES),
  },
  maxHeldBytes: {
    variable: 'HEXCODES_MAX_HELD_BYTES',
    flag: '--max-held-bytes',
    argument: '<bytes>',
    help: 'bytes held in memory for all connections (1073741824)',
    read: integerOr(1024 * MIB, 8 * MIB, MOST_BYTES),
  },
  /** Bytes of answers on disk that their readers have not taken yet, of one request and of all. */
  spoolRequestBytes: {
    variable: 'HEXCODES_SPOOL_REQUEST_BYTES',
    flag: '--spool-request-bytes',
    argument: '<bytes>',
    help: 'bytes of one bulk answer that wait on disk for their reader (3221225472)',
    read: integerOr(3 * GIB, MIB, MOST_BYTES),
  },
  spoolBytes: {
    variable: 'HEXCODES_SPOOL_BYTES',
    flag: '--spool-bytes',
    argument: '<bytes>',
    help: 'bytes of all bulk answers that wait on disk (8589934592)',
    read: integerOr(8 * GIB, MIB, MOST_BYTES),
  },
  maxRequestsPerKey: {
    variable: 'HEXCODES_MAX_REQUESTS_PER_KEY',
    flag: '--max-requests-per-key',
    argument: '<number>',
    help: 'requests of one key that are under way at a time (1000)',
    read: integerOr(1000, 1, MOST_CONNECTIONS),
  },
  maxSocketsPerKey: {
    variable: 'HEXCODES_MAX_SOCKETS_PER_KEY',
    flag: '--max-sockets-per-key',
    argument: '<number>',
    help: 'open WebSockets of one key (20000)',
    read: integerOr(20_000, 1, MOST_CONNECTIONS),
  },
  /** WebSockets included. */
  maxConnections: {
    variable: 'HEXCODES_MAX_CONNECTIONS',
    flag: '--max-connections',
    argument: '<number>',
    help: 'open connections, WebSockets included (50000)',
    read: integerOr(50_000, 1, MOST_CONNECTIONS),
  },
  /** Addresses of trusted proxies have no such bound. */
  maxKeylessPerAddress: {
    variable: 'HEXCODES_MAX_KEYLESS_PER_ADDRESS',
    flag: '--max-keyless-per-address',
    argument: '<number>',
    help: 'open connections of one address, or one /64 of IPv6, that have not shown a valid key (5000)',
    read: integerOr(5000, 1, MOST_CONNECTIONS),
  },
};
