// Settings: the sink of Traccar's positions, and the backlog while it is away.
import { accessSync, constants, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { BUS } from './bus.js';
import { Fault, integerOr, isHostAndPort, MAX_BYTES, MIB, requireDatabase, textOr } from './setting.js';

/** A destination that takes positions in batches. */
export type SinkAddress =
  | { readonly kind: 'http'; readonly url: string }
  | { readonly kind: 'file'; readonly path: string; readonly format: 'csv' | 'ndjson' }
  | { readonly kind: 'nats'; readonly server: string; readonly subject: string }
  | { readonly kind: 'postgres'; readonly url: string; readonly table: string };

export const TRACCAR = {
  traccarSink: {
    variable: 'HEXCODES_TRACCAR_SINK',
    argument: '<address>',
    help: 'where positions of Traccar go on to: http(s)://…, file:PATH.csv, file:PATH.ndjson, nats://HOST:PORT/SUBJECT or postgres://USER@HOST/DATABASE (none)',
    shown: withoutPath,
    read: readSink,
  },
  /** Name and value. */
  traccarSinkHeader: {
    variable: 'HEXCODES_TRACCAR_SINK_HEADER',
    isSecret: true,
    help: 'header line of each call of an http sink, as Authorization: Bearer …',
    read: readHeader,
  },
  traccarPostgresPassword: {
    variable: 'HEXCODES_TRACCAR_POSTGRES_PASSWORD',
    isSecret: true,
    help: 'password of a postgres sink',
    read: textOr(undefined),
  },
  traccarBatchMs: {
    variable: 'HEXCODES_TRACCAR_BATCH_MS',
    argument: '<milliseconds>',
    help: 'how long positions are collected for one batch to the sink (1000)',
    read: integerOr(1000, 0, 600_000),
  },
  /** On disk, for each process. Even the minimum exceeds the longest line, some 600 kB. */
  traccarBacklogBytes: {
    variable: 'HEXCODES_TRACCAR_BACKLOG_BYTES',
    argument: '<bytes>',
    help: 'positions that wait on disk while the sink is away, of each process (268435456); beyond it 503',
    read: integerOr(256 * MIB, MIB, MAX_BYTES),
  },
  traccarFileBytes: {
    variable: 'HEXCODES_TRACCAR_FILE_BYTES',
    argument: '<bytes>',
    help: 'size of a file of positions at which it is renamed and another begins (268435456)',
    read: integerOr(256 * MIB, 1024, MAX_BYTES),
  },
  // Credentials of a nats sink. No flags: `--user` of `serve` would look like a user of the service. Files are named
  // here and read where there is such a sink (forwarder.ts): the environment may be that of `hexcodes worker`, run
  // by another user.
  traccarNatsUser: { variable: 'HEXCODES_NATS_USER', help: 'user of a nats sink', read: BUS.natsUser.read },
  traccarNatsPassword: {
    variable: 'HEXCODES_NATS_PASSWORD',
    isSecret: true,
    help: 'its password',
    read: BUS.natsPassword.read,
  },
  traccarNatsToken: {
    variable: 'HEXCODES_NATS_TOKEN',
    isSecret: true,
    help: 'token of a nats sink',
    read: BUS.natsToken.read,
  },
  traccarNatsNkeyFile: {
    variable: 'HEXCODES_NATS_NKEY',
    help: 'file with the seed of an nkey for a nats sink',
    read: textOr(undefined),
  },
  traccarNatsCredsFile: {
    variable: 'HEXCODES_NATS_CREDS',
    help: 'credentials file for a nats sink',
    read: textOr(undefined),
  },
  traccarNatsTlsCaFile: {
    variable: 'HEXCODES_NATS_TLS_CA',
    help: 'file with the certificates that sign that of a nats sink',
    read: textOr(undefined),
  },
  traccarNatsTlsCertFile: {
    variable: 'HEXCODES_NATS_TLS_CERT',
    help: 'file with the certificate of this client, where a nats sink asks for one',
    read: textOr(undefined),
  },
  traccarNatsTlsKeyFile: {
    variable: 'HEXCODES_NATS_TLS_KEY',
    help: 'file with its private key',
    read: textOr(undefined),
  },
};

const FORMS =
  'must be http(s)://…, file:PATH.csv, file:PATH.ndjson, nats://HOST:PORT/SUBJECT or postgres://USER@HOST/DATABASE';

const DEFAULT_TABLE = 'hexcodes_positions';
const TABLE = /^[A-Za-z_][\w$]{0,62}(\.[A-Za-z_][\w$]{0,62})?$/;

/** Ports to which fetch opens no connection (Fetch Standard, port blocking). */
const BLOCKED_PORTS = ` 1 7 9 11 13 15 17 19 20 21 22 23 25 37 42 43 53 69 77 79 87 95 101 102 103 104 109 110 111 113 115 \
117 119 123 135 137 139 143 161 179 389 427 465 512 513 514 515 526 530 531 532 540 548 554 556 563 587 601 636 989 990 \
993 995 1719 1720 1723 2049 3659 4045 4190 5060 5061 6000 6566 6665 6666 6667 6668 6669 6679 6697 10080 `;

function readSink(text: string | undefined): SinkAddress | undefined {
  if (text === undefined) return undefined;
  if (text.startsWith('file:')) return fileSink(text.slice('file:'.length).replace(/^\/\/(?=\/)/, ''));
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined) throw new Fault(FORMS);
  const { protocol, host, port, username, password, pathname, hash } = url;
  if (/^postgres(ql)?:$/.test(protocol)) return postgresSink(url);
  if (username !== '' || password !== '')
    throw new Fault(
      'must not hold a user or password: HEXCODES_TRACCAR_SINK_HEADER, or HEXCODES_NATS_USER and HEXCODES_NATS_PASSWORD do',
    );
  if (host !== '' && !isHostAndPort(host)) throw new Fault(FORMS);
  if (host !== '' && /^https?:$/.test(protocol) && hash === '') {
    if (BLOCKED_PORTS.includes(` ${port || 'none'} `))
      throw new Fault(`must have another port than ${port}, to which fetch sends nothing`);
    return { kind: 'http', url: text };
  }
  if (host === '' || !/^(nats|tls):$/.test(protocol)) throw new Fault(FORMS);
  const subject = pathname.slice(1);
  if (!/^[\w-]+(\.[\w-]+)*$/.test(subject) || url.search !== '')
    throw new Fault('must end with a subject without wildcards, as nats://HOST:4222/fleet.positions');
  return { kind: 'nats', server: `${protocol}//${host}`, subject };
}

/** `?table=` is ours, and other parameters are those of libpq, as sslmode. */
function postgresSink(url: URL): SinkAddress {
  const { username, password, host, pathname, searchParams } = url;
  if (password !== '' || searchParams.has('password'))
    throw new Fault('must not hold a password: HEXCODES_TRACCAR_POSTGRES_PASSWORD does');
  if (username === '' || host === '' || !/^\/[^/]+$/.test(pathname)) throw new Fault(FORMS);
  requireDatabase(url.href);
  const table = searchParams.get('table') ?? DEFAULT_TABLE;
  if (!TABLE.test(table))
    throw new Fault('must have a table as positions or fleet.positions: letters, digits, _');
  searchParams.delete('table');
  return { kind: 'postgres', url: url.href, table };
}

/** The secret of a webhook is in the path or the query. */
function withoutPath(text: string): string {
  if (!/^https?:/i.test(text) || !URL.canParse(text)) return text;
  const { origin, pathname, search } = new URL(text);
  return pathname === '/' && search === '' ? origin : `${origin}/…`;
}

function fileSink(given: string): SinkAddress {
  const format = /\.csv$/i.test(given) ? 'csv' : /\.(ndjson|jsonl)$/i.test(given) ? 'ndjson' : undefined;
  if (format === undefined) throw new Fault('names a file that ends neither in .csv nor in .ndjson');
  const path = resolve(given);
  try {
    accessSync(dirname(path), constants.W_OK);
  } catch {
    throw new Fault(`names a file in a folder that cannot be written: ${dirname(path)}`);
  }
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory())
    throw new Fault(`names a folder, not a file: ${path}`);
  return { kind: 'file', path, format };
}

/** Headers that say what a call holds and how it is sent. */
const OF_CALL =
  /^(?:host|content-(?:type|length|encoding)|transfer-encoding|connection|keep-alive|upgrade|expect|te|trailer)$/i;

function readHeader(text: string | undefined): readonly [name: string, value: string] | undefined {
  if (text === undefined) return undefined;
  const [, name, value] = /^([\w!#$%&'*+.^`|~-]+):[ \t]*([\t\x20-\x7e]*)$/.exec(text) ?? [];
  if (name === undefined || value === undefined) throw new Fault('must be a header line: Name: value');
  if (OF_CALL.test(name)) throw new Fault(`cannot be ${name}, which each call of the sink has by itself`);
  return [name, value.trim()];
}
