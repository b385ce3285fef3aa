// Settings of `hexcodes worker`: NATS servers, brokers of Kafka, and their credentials.
import { contentOf, Fault, isHostAndPort, oneOf, textOr } from './setting.js';

export const BUS = {
  natsUrl: {
    variable: 'HEXCODES_NATS_URL',
    flag: '--nats',
    argument: '<urls>',
    help: 'NATS servers, comma-separated (nats://127.0.0.1:4222)',
    read: readServers,
  },
  natsUser: {
    variable: 'HEXCODES_NATS_USER',
    flag: '--user',
    argument: '<name>',
    help: 'user, where the servers ask for one',
    read: textOr(undefined),
  },
  natsPassword: {
    variable: 'HEXCODES_NATS_PASSWORD',
    isSecret: true,
    help: 'password of the user',
    read: textOr(undefined),
  },
  natsToken: {
    variable: 'HEXCODES_NATS_TOKEN',
    isSecret: true,
    help: 'token, where the servers ask for one',
    read: textOr(undefined),
  },
  /** The content of the file. */
  natsNkey: {
    variable: 'HEXCODES_NATS_NKEY',
    flag: '--nkey',
    argument: '<file>',
    help: 'file with the seed of an nkey',
    read: contentOf,
  },
  /** The content of the file. */
  natsCreds: {
    variable: 'HEXCODES_NATS_CREDS',
    flag: '--creds',
    argument: '<file>',
    help: 'credentials file (.creds)',
    read: contentOf,
  },
  /** The content of the file; the same holds for the next two settings. */
  natsTlsCa: {
    variable: 'HEXCODES_NATS_TLS_CA',
    flag: '--tls-ca',
    argument: '<file>',
    help: 'certificates that sign those of the servers (else those of the system); makes TLS a must',
    read: contentOf,
  },
  natsTlsCert: {
    variable: 'HEXCODES_NATS_TLS_CERT',
    flag: '--tls-cert',
    argument: '<file>',
    help: 'certificate of this client, where the servers ask for one',
    read: contentOf,
  },
  natsTlsKey: {
    variable: 'HEXCODES_NATS_TLS_KEY',
    flag: '--tls-key',
    argument: '<file>',
    help: 'its private key',
    read: contentOf,
  },
};

/** The brokers of Kafka are named by `--from`; user, certificates and keys are those above. */
export const KAFKA = {
  kafkaSasl: {
    variable: 'HEXCODES_KAFKA_SASL',
    flag: '--sasl',
    argument: '<mechanism>',
    help: 'how the user of Kafka is known: plain, scram-sha-256 or scram-sha-512 (plain)',
    read: oneOf(['plain', 'scram-sha-256', 'scram-sha-512'] as const, 'plain'),
  },
  kafkaUser: {
    variable: 'HEXCODES_KAFKA_USER',
    help: 'user of Kafka, where --user gives none',
    read: textOr(undefined),
  },
  kafkaPassword: {
    variable: 'HEXCODES_KAFKA_PASSWORD',
    isSecret: true,
    help: 'password of the user of Kafka',
    read: textOr(undefined),
  },
};

/** Servers of NATS. @throws Fault */
export function readServers(text = 'nats://127.0.0.1:4222'): readonly string[] {
  const servers = text.split(',').map((each) => each.trim());
  if (servers.some((server) => server.includes('@')))
    throw new Fault('must not hold a user or password: HEXCODES_NATS_USER and HEXCODES_NATS_PASSWORD do');
  if (!servers.every((server) => isHostAndPort(server.replace(/^(?:nats|tls):\/\//i, ''))))
    throw new Fault('must be addresses like nats://host:4222, separated by commas');
  return servers;
}
