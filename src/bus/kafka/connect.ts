// The connection to Kafka's brokers: the client, an optional package, its options by the settings, and the faults
// that do not pass by waiting.

import { isIP } from 'node:net';
import * as zlib from 'node:zlib';
import type { Admin, BaseOptions, ClusterMetadata } from '@platformatic/kafka';
import { definedOf, isHostAndPort } from '../../config/setting.js';
import type { BusSettings } from '../bus.js';
import { EngineFault } from '../engine.js';

// Decompression of the batches of producers. The client, the last version for Node 20, reads Snappy as one block,
// whereas Java producers write a stream of blocks (github.com/platformatic/kafka/issues/282), and limits no size.

type Decompress = (packed: Buffer) => Buffer;

/** Brokers accept a batch of 1 MiB by default. */
const MAX_BATCH_BYTES = 128 * 1024 * 1024;
/** Magic bytes of a stream of Snappy blocks; two version numbers of 4 bytes follow. */
const SNAPPY_STREAM = Buffer.from('\x82SNAPPY\0', 'latin1');
const SNAPPY_HEAD_BYTES = 16;

/** Node 20 has no Zstandard, and its types do not declare it. */
const unzstd = (zlib as unknown as { zstdDecompressSync?: typeof zlib.gunzipSync }).zstdDecompressSync;
const bounds = { maxOutputLength: MAX_BATCH_BYTES };

let isSet = false;

/**
 * Sets bounded decompressors in the client. They throw an EngineFault, because no later attempt can read the batch.
 */
function setDecompression({
  compressionsAlgorithms: { gzip, snappy, lz4, zstd },
}: typeof import('@platformatic/kafka')): void {
  if (isSet) return;
  isSet = true;
  const own = (algorithm: { decompressSync: unknown }, name: string, decompress: Decompress): void => {
    algorithm.decompressSync = (packed: Buffer) => {
      try {
        return decompress(packed);
      } catch (cause) {
        if (cause instanceof EngineFault) throw cause;
        const { code, message } = cause as NodeJS.ErrnoException;
        throw code === 'ERR_BUFFER_TOO_LARGE' ? tooLarge() : unreadable(`${name}: ${message}`);
      }
    };
  };
  const block = snappy.decompressSync as Decompress;
  own(gzip, 'gzip', (packed) => zlib.gunzipSync(packed, bounds));
  own(snappy, 'Snappy', (packed) => unsnappy(packed, block));
  own(lz4, 'LZ4', lz4.decompressSync as Decompress);
  own(zstd, 'Zstandard', (packed) => {
    if (unzstd === undefined)
      throw new EngineFault('a batch of messages is in Zstandard', 'Use Node 22.15 or later');
    return unzstd(packed, bounds);
  });
}

/** Unpacks one block, or a stream of blocks, each preceded by its length. */
function unsnappy(packed: Buffer, decompress: Decompress): Buffer {
  if (!packed.subarray(0, SNAPPY_STREAM.length).equals(SNAPPY_STREAM)) {
    if (sizeOfBlock(packed) > MAX_BATCH_BYTES) throw tooLarge();
    return decompress(packed);
  }
  const blocks: Buffer[] = [];
  let sizeBytes = 0;
  for (let at = SNAPPY_HEAD_BYTES; at < packed.length; ) {
    const end = at + 4 + packed.readUInt32BE(at);
    if (end > packed.length) throw unreadable('Snappy: a block ends after the batch');
    const block = packed.subarray(at + 4, end);
    sizeBytes += sizeOfBlock(block);
    if (sizeBytes > MAX_BATCH_BYTES) throw tooLarge();
    blocks.push(decompress(block));
    at = end;
  }
  return Buffer.concat(blocks);
}

/** The length of the content, a varint at the start of a Snappy block. */
function sizeOfBlock(block: Buffer): number {
  let size = 0;
  for (let i = 0; i < 5; i++) {
    const byte = block[i] ?? 0;
    size += (byte & 127) * 2 ** (7 * i);
    if (byte < 128) break;
  }
  return size;
}

const unreadable = (what: string): EngineFault =>
  new EngineFault(
    `a batch of messages cannot be unpacked (${what})`,
    'Move the group past it by kafka-consumer-groups.sh --reset-offsets',
  );

const tooLarge = (): EngineFault => unreadable(`it holds more than ${MAX_BATCH_BYTES >> 20} MiB`);

export type Client = typeof import('@platformatic/kafka');

/** Brokers of an address: `kafka://host:9092,other:9092`, or `kafka+tls://`. */
interface KafkaAddress {
  readonly brokers: readonly string[];
  readonly isTls: boolean;
}

const CLIENT = '@platformatic/kafka';
const CLIENT_VERSION = '1.35.0';
const DEFAULT_PORT = 9092;
/** Timeout of a request, and of a transaction, after which the brokers abort it. */
export const TIMEOUT_MS = 10_000;
const CONNECT_TIMEOUT_MS = 5000;
const MAX_RETRY_DELAY_MS = 250;
const SASL_WORDS = {
  plain: 'PLAIN',
  'scram-sha-256': 'SCRAM-SHA-256',
  'scram-sha-512': 'SCRAM-SHA-512',
} as const;

/** @throws EngineFault */
export function readKafkaAddress(text: string): KafkaAddress {
  const [, tls, rest = ''] = /^kafka(\+tls)?:\/\/([^/]+)\/?$/i.exec(text) ?? [];
  const brokers = rest.split(',').map((each) => each.trim().replace(/^kafka(\+tls)?:\/\//i, ''));
  if (rest.includes('@'))
    throw new EngineFault('--from must not hold a user or password: --user and HEXCODES_KAFKA_PASSWORD do');
  if (!brokers.every(isHostAndPort))
    throw new EngineFault(`--from ${text}: must be addresses as kafka://host:9092, separated by commas`);
  return {
    brokers: brokers.map((broker) => (/:\d+$/.test(broker) ? broker : `${broker}:${DEFAULT_PORT}`)),
    isTls: tls !== undefined,
  };
}

const hostOf = (broker: string): string => broker.replace(/:\d+$/, '').replace(/^\[|\]$/g, '');

/** @throws EngineFault with the line that installs the client, if it is missing */
export async function loadClient(): Promise<Client> {
  try {
    const client = await import('@platformatic/kafka');
    setDecompression(client);
    return client;
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code !== 'ERR_MODULE_NOT_FOUND' || !message.includes(`'${CLIENT}'`)) throw cause;
    throw new EngineFault(
      `kafka:// needs the package ${CLIENT}: npm install ${CLIENT}@${CLIENT_VERSION}`,
      undefined,
      {
        cause,
      },
    );
  }
}

/** @throws EngineFault for settings that contradict one another */
export function optionsOf(settings: BusSettings, { brokers, isTls }: KafkaAddress): BaseOptions {
  const { kafkaSasl, natsTlsCa: ca, natsTlsCert: cert, natsTlsKey: key } = settings;
  const user = settings.kafkaUser ?? settings.natsUser;
  const password = settings.kafkaPassword ?? settings.natsPassword;
  if (user !== undefined && password === undefined)
    throw new EngineFault('a user needs a password', 'Give HEXCODES_KAFKA_PASSWORD');
  const hasTls = isTls || ca !== undefined || cert !== undefined;
  const tls = definedOf({ ca, cert, key });
  return {
    clientId: 'hexcodes',
    bootstrapBrokers: [...brokers],
    timeout: TIMEOUT_MS,
    connectTimeout: CONNECT_TIMEOUT_MS,
    // Short, because a transaction that begins right after another meets its markers.
    retryDelay: (_client, _operation, attempt) => Math.min(MAX_RETRY_DELAY_MS, 10 * attempt),
    // An IP address is not a server name for TLS.
    ...(hasTls ? { tls, tlsServerName: !brokers.some((broker) => isIP(hostOf(broker)) !== 0) } : {}),
    ...(user === undefined
      ? {}
      : { sasl: { mechanism: SASL_WORDS[kafkaSasl ?? 'plain'], username: user, password: password! } }),
  };
}

/** Errors by which brokers reject a request, each with its remedy. */
const REFUSALS: Readonly<Record<string, string>> = {
  TOPIC_AUTHORIZATION_FAILED: 'may not read or write a topic',
  GROUP_AUTHORIZATION_FAILED: 'may not use the consumer group',
  TRANSACTIONAL_ID_AUTHORIZATION_FAILED: 'may not use transactions',
  CLUSTER_AUTHORIZATION_FAILED: 'may not do that',
  INVALID_TRANSACTION_TIMEOUT: 'may not hold a transaction for 10 s (transaction.max.timeout.ms)',
};

/** All errors of a chain of causes and of aggregates. */
function* errorsIn(error: unknown): Generator<Error & { readonly apiId?: string; readonly code?: string }> {
  if (!(error instanceof Error)) return;
  for (const each of (error as { errors?: unknown[] }).errors ?? []) yield* errorsIn(each);
  yield* errorsIn(error.cause);
  yield error;
}

export const hasCode = (error: unknown, apiId: string): boolean =>
  [...errorsIn(error)].some((each) => each.apiId === apiId);

/** The innermost message, in one line. */
export function causeOf(error: unknown): string {
  for (const { message, apiId } of errorsIn(error))
    if (message !== '') return apiId === undefined ? message.replace(/\s+/g, ' ') : `${apiId}: ${message}`;
  return 'unknown';
}

/** A fault that does not pass by waiting; undefined for all others. */
export function lastingFault(error: unknown, where: string): EngineFault | undefined {
  for (const each of errorsIn(error)) {
    if (each instanceof EngineFault)
      return new EngineFault(`${where}: ${each.message}`, each.hint, { cause: error });
    const refusal = REFUSALS[each.apiId ?? ''];
    if (refusal !== undefined)
      return new EngineFault(`${where}: this user ${refusal} (${each.apiId})`, undefined, { cause: error });
    if (each.code === 'PLT_KFK_AUTHENTICATION' || /sasl|authentication/i.test(each.message))
      return new EngineFault(
        `${where} refuses these credentials: ${each.message}`,
        'Give --user and --sasl with HEXCODES_KAFKA_PASSWORD',
        { cause: error },
      );
    if (/certificate|self.signed|unable to verify|wrong version number|\bssl\b/i.test(each.message))
      return new EngineFault(
        `${where}: no TLS connection: ${each.message}`,
        'Give the signers of its certificate with --tls-ca',
        { cause: error },
      );
  }
  return undefined;
}

const unknownTopic = (error: unknown): string | undefined =>
  /^Unknown topic (.+)\.$/.exec(causeOf(error))?.[1];

/** A topic that is not there. */
export class MissingTopic extends Error {
  constructor(readonly topic: string) {
    super(`there is no topic ${topic}`);
  }
}

/** @throws MissingTopic. If there are several topics, the client may name one that is not missing. */
export async function metadataOf(admin: Admin, topics: readonly string[]): Promise<ClusterMetadata> {
  try {
    return await admin.metadata({ topics: [...topics], forceUpdate: true });
  } catch (error) {
    if (unknownTopic(error) === undefined) throw error;
    for (const topic of topics)
      await admin.metadata({ topics: [topic], forceUpdate: true }).catch((cause: unknown) => {
        if (unknownTopic(cause) !== undefined) throw new MissingTopic(topic);
      });
    throw error;
  }
}

/** Default limit of brokers for a batch of records, in bytes. */
export const DEFAULT_BATCH_BYTES = 1_048_588;

/** Bytes of the largest batch that all these topics accept. */
export async function maxBatchBytes(
  client: Client,
  admin: Admin,
  topics: readonly string[],
): Promise<number> {
  const described = await admin
    .describeConfigs({
      resources: topics.map((resourceName) => ({
        resourceType: client.ConfigResourceTypes.TOPIC,
        resourceName,
        configurationKeys: ['max.message.bytes'],
      })),
    })
    // A user may be allowed to write but not to describe topics.
    .catch(() => []);
  const sizes = described.flatMap(({ configs }) => configs.map(({ value }) => Number(value)));
  return Math.min(DEFAULT_BATCH_BYTES * 64, ...(sizes.length === 0 ? [DEFAULT_BATCH_BYTES] : sizes));
}
