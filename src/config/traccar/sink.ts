// Settings: where positions of Traccar go on to, and how they wait while that is away.
import { accessSync, constants } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { BUS } from '../bus.js';
import { integerOr, MIB, MOST_BYTES } from '../readers.js';
import { Fault } from '../setting.js';

/** A place that takes positions in batches. */
export type SinkAddress =
  | { readonly kind: 'http'; readonly url: string }
  | { readonly kind: 'file'; readonly path: string; readonly format: 'csv' | 'ndjson' }
  | { readonly kind: 'nats'; readonly server: string; readonly subject: string };

export const TRACCAR = {
  traccarSink: {
    variable: 'HEXCODES_TRACCAR_SINK',
    flag: '--traccar-sink',
    argument: '<address>',
    help: 'where positions of Traccar go on to: http(s)://…, file:PATH.csv, file:PATH.ndjson or nats://HOST:PORT/SUBJECT (none)',
    read: readSink,
  },
  /** Name and value. */
  traccarSinkHeader: {
    variable: 'HEXCODES_TRACCAR_SINK_HEADER',
    isSecret: true,
    help: 'header line of each call of an http sink, as Authorization: Bearer …',
    read: readHeader,
  },
  traccarBatchMs: {
    variable: 'HEXCODES_TRACCAR_BATCH_MS',
    flag: '--traccar-batch-ms',
    argument: '<milliseconds>',
    help: 'how long positions are collected for one batch to the sink (1000)',
    read: integerOr(1000, 0, 600_000),
  },
  /** On disk, of each process. */
  traccarBacklogBytes: {
    variable: 'HEXCODES_TRACCAR_BACKLOG_BYTES',
    flag: '--traccar-backlog-bytes',
    argument: '<bytes>',
    help: 'positions that wait on disk while the sink is away, of each process (268435456); beyond it 503',
    read: integerOr(256 * MIB, 65_536, MOST_BYTES),
  },
  traccarFileBytes: {
    variable: 'HEXCODES_TRACCAR_FILE_BYTES',
    flag: '--traccar-file-bytes',
    argument: '<bytes>',
    help: 'size of a file of positions at which it is renamed and another begins (268435456)',
    read: integerOr(256 * MIB, 1024, MOST_BYTES),
  },
  // How a sink on NATS is entered: as by `hexcodes worker`, without flags, which would say nothing of what they are for here.
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
  traccarNatsNkey: {
    variable: 'HEXCODES_NATS_NKEY',
    help: 'file with the seed of an nkey for a nats sink',
    read: BUS.natsNkey.read,
  },
  traccarNatsCreds: {
    variable: 'HEXCODES_NATS_CREDS',
    help: 'credentials file for a nats sink',
    read: BUS.natsCreds.read,
  },
  traccarNatsTlsCa: {
    variable: 'HEXCODES_NATS_TLS_CA',
    help: 'file with the certificates that sign that of a nats sink',
    read: BUS.natsTlsCa.read,
  },
  traccarNatsTlsCert: {
    variable: 'HEXCODES_NATS_TLS_CERT',
    help: 'file with the certificate of this client, where a nats sink asks for one',
    read: BUS.natsTlsCert.read,
  },
  traccarNatsTlsKey: {
    variable: 'HEXCODES_NATS_TLS_KEY',
    help: 'file with its private key',
    read: BUS.natsTlsKey.read,
  },
};

const FORMS = 'must be http(s)://…, file:PATH.csv, file:PATH.ndjson or nats://HOST:PORT/SUBJECT';

function readSink(text: string | undefined): SinkAddress | undefined {
  if (text === undefined) return undefined;
  if (text.startsWith('file:')) return fileSink(text.slice('file:'.length).replace(/^\/\/(?=\/)/, ''));
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined) throw new Fault(FORMS);
  const { protocol, host, username, password, pathname, hash } = url;
  if (username !== '' || password !== '')
    throw new Fault(
      'must not hold a user or password: HEXCODES_TRACCAR_SINK_HEADER, or HEXCODES_NATS_USER and HEXCODES_NATS_PASSWORD do',
    );
  if (host !== '' && /^https?:$/.test(protocol) && hash === '') return { kind: 'http', url: text };
  if (host === '' || !/^(nats|tls):$/.test(protocol)) throw new Fault(FORMS);
  const subject = pathname.slice(1);
  if (!/^[\w-]+(\.[\w-]+)*$/.test(subject) || url.search !== '')
    throw new Fault('must end with a subject without wildcards, as nats://HOST:4222/fleet.positions');
  return { kind: 'nats', server: `${protocol}//${host}`, subject };
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
  return { kind: 'file', path, format };
}

function readHeader(text: string | undefined): readonly [name: string, value: string] | undefined {
  if (text === undefined) return undefined;
  const [, name, value] = /^([\w!#$%&'*+.^`|~-]+):[ \t]*([\t\x20-\x7e]*)$/.exec(text) ?? [];
  if (name === undefined || value === undefined) throw new Fault('must be a header line: Name: value');
  return [name, value.trim()];
}
