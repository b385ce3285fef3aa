// NATS as a bus: JetStream for all that is stored, micro services for requests.

import { setTimeout as sleep } from 'node:timers/promises';
import { JetStreamApiError, type JetStreamManager, jetstream, jetstreamManager } from '@nats-io/jetstream';
import { type Service, type ServiceMsg, Svcm } from '@nats-io/services';
import {
  AuthorizationError,
  connect,
  credsAuthenticator,
  type NatsConnection,
  type NodeConnectionOptions,
  nkeyAuthenticator,
  type ServerInfo,
} from '@nats-io/transport-node';
import { definedOf } from '../../config/setting.js';
import type { Operation } from '../../hexcodes/wire/job.js';
import {
  type Bus,
  type BusSettings,
  type Collecting,
  type CollectorOptions,
  opened,
  type Publisher,
  type ServiceOptions,
  type Serving,
  type SetUp,
  type StreamPlan,
  type Waiting,
  type Work,
  type WorkPlan,
} from '../bus.js';
import { EngineFault } from '../engine.js';
import { BadRequest, type RequestAnswerer } from '../messages/message-shape.js';
import { Collector, firstOf, giveBack, Marks } from './collector.js';
import { NatsEngine } from './nats-engine.js';
import {
  checkStreams,
  fillOf,
  infoOf,
  lookAt,
  setUpPositions,
  setUpStreams,
  syncWarnings,
} from './streams.js';

// Opens the connection to the NATS servers. Long-running programs wait for servers that cannot be reached; a fault
// that waiting does not cure ends in one sentence.

const CONNECT_TIMEOUT_MS = 5000;
const RECONNECT_WAIT_MS = 500;
/** A peer that answers no ping for two of these intervals counts as lost: a cut network shows no other sign. */
const PING_INTERVAL_MS = 4000;
const RETRY_MS = 1000;
/** Longest time that JetStream may take to start, on a server that has it. */
const JETSTREAM_START_MS = 15_000;

/**
 * Opens a connection without JetStream.
 * @throws EngineFault
 */
export async function connection(settings: BusSettings, waiting: Waiting): Promise<NatsConnection> {
  const options = optionsOf(settings);
  const where = addressesOf(settings);
  const nc = await opened(
    () => connect(options),
    where,
    waiting,
    (error) => causeOf(error as Error),
    (error) => lastingFault(error as Error, where),
  );
  const warning = openWarning(nc.info, nc.getServer());
  if (warning !== undefined) waiting.say(warning);
  return nc;
}

/**
 * A warning about a server that other machines can reach and that requires no credentials.
 * @param address of the server, with its port
 */
export function openWarning(info: ServerInfo | undefined, address: string): string | undefined {
  const asks = info?.auth_required === true || info?.tls_verify === true;
  const isNear = isLoopback(info?.host ?? '') && isLoopback(address.replace(/:\d+$/, ''));
  if (info === undefined || asks || isNear) return undefined;
  return `warning: ${address} listens beyond this machine and asks for no credentials: whoever reaches it may read, forge and remove all messages; deploy/nats/hexcodes.conf has users with permissions`;
}

const isLoopback = (host: string): boolean =>
  /^(?:localhost|127(?:\.\d{1,3}){3}|\[?(?:::1|(?:0+:){7}0*1|::ffff:127(?:\.\d{1,3}){3})\]?)$/i.test(host);

function optionsOf(settings: BusSettings): NodeConnectionOptions {
  const { natsUser, natsPassword, natsToken, natsNkey, natsCreds } = settings;
  const { natsTlsCa, natsTlsCert, natsTlsKey } = settings;
  const hasTls = natsTlsCa !== undefined || natsTlsCert !== undefined;
  const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text.trim());
  const authenticators = [
    ...(natsNkey === undefined ? [] : [nkeyAuthenticator(bytesOf(natsNkey))]),
    ...(natsCreds === undefined ? [] : [credsAuthenticator(bytesOf(natsCreds))]),
  ];
  return {
    servers: [...settings.natsUrl],
    name: 'hexcodes',
    timeout: CONNECT_TIMEOUT_MS,
    maxReconnectAttempts: -1,
    reconnectTimeWait: RECONNECT_WAIT_MS,
    reconnectJitter: RECONNECT_WAIT_MS,
    pingInterval: PING_INTERVAL_MS,
    maxPingOut: 2,
    // Otherwise each request captures the stack traces of two errors, in case it fails.
    noAsyncTraces: true,
    ...definedOf({ user: natsUser, pass: natsPassword, token: natsToken }),
    ...(authenticators.length === 0 ? {} : { authenticator: authenticators }),
    ...(hasTls ? { tls: definedOf({ ca: natsTlsCa, cert: natsTlsCert, key: natsTlsKey }) } : {}),
  };
}

const addressesOf = ({ natsUrl }: Pick<BusSettings, 'natsUrl'>): string => natsUrl.join(', ');

/** A fault that does not pass by waiting; undefined for all others. */
function lastingFault(error: Error, where: string): EngineFault | undefined {
  const text = causeOf(error);
  if (error instanceof AuthorizationError || /authorization violation|authentication/i.test(text))
    return new EngineFault(
      `${where} refuses these credentials`,
      'Give --creds, --nkey, or --user with HEXCODES_NATS_PASSWORD, or HEXCODES_NATS_TOKEN',
      { cause: error },
    );
  if (/certificate|self.signed|tls|ssl/i.test(text))
    return new EngineFault(
      `${where}: no TLS connection: ${text}`,
      'Give the signers of its certificate with --tls-ca',
      { cause: error },
    );
  if (/nkey|seed|creds|checksum/i.test(text))
    return new EngineFault(`the credentials cannot be used: ${text}`, undefined, { cause: error });
  return undefined;
}

/** Errors of requests without an answer, by name: the servers are away, or JetStream begins. */
const UNANSWERED = ['TimeoutError', 'JetStreamNotEnabled'];
/** Answers of a JetStream without a leader: unavailable, cannot handle request, stream or consumer offline. */
const LEADERLESS = [10_008, 10_009, 10_118, 10_119];

/** The innermost message. */
function causeOf(error: Error): string {
  const { cause } = error;
  return cause instanceof Error && cause.message !== '' ? causeOf(cause) : error.message;
}

/**
 * JetStream of a connection, once its server has started it.
 * @throws EngineFault
 */
async function managerOf(nc: NatsConnection, settings: BusSettings): Promise<JetStreamManager> {
  const deadlineMs = performance.now() + (nc.info?.jetstream === true ? JETSTREAM_START_MS : 0);
  for (;;) {
    try {
      return await jetstreamManager(nc);
    } catch (error) {
      if (performance.now() > deadlineMs) {
        const hint = 'Start nats-server with --jetstream, and let the account use it';
        throw new EngineFault(`${addressesOf(settings)} has no JetStream`, hint, { cause: error });
      }
    }
    await sleep(RETRY_MS);
  }
}

const PUBLISH_TIMEOUT_MS = 5000;

export class NatsBus implements Bus {
  readonly name: string;

  /** @throws EngineFault */
  static async open(settings: BusSettings, waiting: Waiting): Promise<NatsBus> {
    return new NatsBus(await connection(settings, waiting), settings, waiting);
  }

  constructor(
    private readonly nc: NatsConnection,
    private readonly settings: BusSettings,
    private readonly waiting: Waiting,
  ) {
    this.name = `${nc.getServer()}, nats-server ${nc.info?.version ?? ''}`;
  }

  /** @throws EngineFault where the servers have no JetStream, or give no answer and a start does not wait */
  #manager(): Promise<JetStreamManager> {
    // Requests need no JetStream.
    return this.#answered(() => managerOf(this.nc, this.settings), ['TimeoutError']);
  }

  /**
   * A start waits for an answer of the servers as it waits for a connection.
   * @param unanswered names of errors that pass
   */
  #answered<T>(ask: () => Promise<T>, unanswered: readonly string[] = UNANSWERED): Promise<T> {
    const isPassing = ({ cause }: Error): boolean =>
      (cause instanceof Error && unanswered.includes(cause.name)) ||
      (cause instanceof JetStreamApiError && LEADERLESS.includes(cause.code));
    return opened(
      ...([ask, addressesOf(this.settings), this.waiting] as const),
      (error) => causeOf(error as Error),
      (error) => (isPassing(error as Error) ? undefined : (error as EngineFault)),
    );
  }

  async setUp(plan: StreamPlan): Promise<SetUp> {
    const jsm = await this.#manager();
    const lines = await setUpStreams(jsm, plan);
    if (plan.positions !== undefined) lines.push(await setUpPositions(jsm, plan, plan.positions));
    return { lines, permissions: permissionText(streamPermissions(plan)) };
  }

  async work(plan: WorkPlan): Promise<Work> {
    const { names, maps, isOrdered, maxHeldBytes, maxMessages, monitor, collected } = plan;
    const { info } = this.nc;
    const jsm = await this.#manager();
    const checked = await this.#answered(() =>
      checkStreams(jsm, info?.version ?? '', names, maps, isOrdered),
    );
    // Each message may have the largest size that the servers accept, and its answer too.
    const fitting = Math.floor(maxHeldBytes / (2 * (info?.max_payload ?? 1)));
    const engine = new NatsEngine(this.nc, {
      stream: names.input,
      consumer: names.consumer,
      maxMessages: Math.min(maxMessages, Math.max(1, fitting)),
    });
    const unsynced = monitor === undefined ? [] : await syncWarnings(monitor);
    const { input, output, dead, consumer } = names;
    const answered = new Marks();
    return {
      engine,
      ackWaitMs: checked.ackWaitMs,
      warnings: [...checked.warnings, ...unsynced],
      begun: `works on ${input}`,
      look: () => lookAt(jsm, [input, output, dead], consumer),
      giveBack: async (afterMs) => {
        const { ack_floor } = await jsm.consumers.info(input, consumer);
        answered.add(ack_floor.stream_seq);
        const done = answered.before(afterMs);
        if (done === undefined) return 0;
        // A collector knows its progress by its last frame, and by the subject of each whether it is already stored.
        const frame = await firstOf(jsm, input, 1, `${collected}.*`);
        return giveBack(jsm, await fillOf(jsm, input), Math.min(done + 1, frame));
      },
    };
  }

  async collect(options: CollectorOptions): Promise<Collecting> {
    const jsm = await this.#manager();
    for (const name of [options.positions, options.stream])
      await this.#answered(() => infoOf(jsm, name, 'hexcodes worker setup --collect makes it'));
    return new Collector(this.nc, jsm, options);
  }

  async serve(answerer: RequestAnswerer, options: ServiceOptions): Promise<Serving> {
    const service = await startService(this.nc, answerer, options);
    return { ended: this.nc.closed(), stop: async () => void (await service.stop()) };
  }

  publisher(subject: string): Publisher {
    const nc = this.nc;
    const client = jetstream(nc);
    return {
      publish: async (messages) => {
        const stored = await Promise.allSettled(
          messages.map(({ id, bytes }) =>
            client.publish(subject, bytes, { msgID: id, timeout: PUBLISH_TIMEOUT_MS }),
          ),
        );
        const failed = stored.find((each) => each.status === 'rejected');
        if (failed !== undefined) throw failed.reason;
      },
      isClosed: () => nc.isClosed(),
      close: () => nc.close(),
    };
  }

  async close(): Promise<void> {
    // Acknowledgements of this turn of the event loop are not yet with the client.
    await new Promise((resolve) => setImmediate(resolve));
    if (!this.nc.isClosed()) await this.nc.drain().catch(() => {});
    if (!this.nc.isClosed()) await this.nc.close();
  }
}

// Encode and decode as a NATS micro service: request and reply, discovered and monitored by the protocol of these
// services.

const TOO_LARGE = 'the answer is larger than the servers take: ask for fewer points';

/** The connection of the package's older copy of the client, which has the same calls. */
type ServiceConnection = ConstructorParameters<typeof Svcm>[0];

async function startService(
  nc: NatsConnection,
  answerer: RequestAnswerer,
  { name, version, queue }: ServiceOptions,
): Promise<Service> {
  const counts = { encode: { points: 0, failed: 0 }, decode: { points: 0, failed: 0 } };
  const service = await new Svcm(nc as unknown as ServiceConnection).add({
    name,
    version,
    queue,
    description: 'positions in Viet Nam to hexcodes and back',
    statsHandler: async (endpoint) => counts[endpoint.subject.endsWith('.decode') ? 'decode' : 'encode'],
  });
  const group = service.addGroup(name);
  for (const operation of ['encode', 'decode'] as const)
    group.addEndpoint(operation, {
      handler: (error, request) => {
        if (error === null) reply(request, operation);
      },
      metadata: { request: 'a frame, or a JSON batch as of /v1/hexcodes/encode/batch' },
    });
  // The server must have the subscriptions before the service is announced.
  await nc.flush();
  return service;

  function reply(request: ServiceMsg, operation: Operation): void {
    // A reply to this subject would be a request to the server, with the permissions of this program.
    if (request.reply?.startsWith('$') === true) return;
    try {
      const { bytes, points, failed } = answerer.answer(operation, request.data);
      counts[operation].points += points;
      counts[operation].failed += failed;
      if (bytes.length > (nc.info?.max_payload ?? 0)) request.respondError(413, TOO_LARGE);
      else request.respond(bytes);
    } catch (error) {
      if (error instanceof BadRequest)
        request.respondError(error.status, error.message.replace(/[\r\n]+/g, ' '));
      else request.respondError(500, 'the request could not be answered');
    }
  }
}

// The permissions that each role on the bus needs, and no more, in the syntax of nats-server's configuration. `worker
// setup` prints them for its own subjects and streams; deploy/nats/hexcodes.conf has those of the default ones.

export interface Permissions {
  readonly publish: readonly string[];
  /** Exceptions to the allowed subjects. */
  readonly denied: readonly string[];
  readonly subscribe: readonly string[];
}

interface RolePermissions {
  /** Programs that send messages, positions and requests, in an account of their own: see `permissionText`. */
  readonly producer: Permissions;
  /** `hexcodes worker`, `worker collect` and `worker service`. */
  readonly worker: Permissions;
  /** `worker setup`, and programs that read answers and dead letters. */
  readonly operator: Permissions;
}

type StreamSubjects = Pick<
  StreamPlan,
  'names' | 'maps' | 'deadPrefix' | 'positions' | 'collected' | 'service' | 'givesBack'
>;

const INBOX = '_INBOX.>';
/** Replies to requests of other accounts. */
const OTHER_ACCOUNTS = '_R_.>';

/** Permissions for streams of messages, as `worker setup` makes them. */
function streamPermissions(subjects: StreamSubjects): RolePermissions {
  const { names, maps, deadPrefix, positions, collected, service, givesBack } = subjects;
  const { input, output, dead, consumer } = names;
  const sent = [...maps.map(({ from }) => from.join('.')), ...(positions?.subjects ?? [])];
  const endpoints = [`${service}.encode`, `${service}.decode`];
  return {
    producer: { publish: [...sent, ...endpoints], denied: [`${collected}.>`], subscribe: [INBOX] },
    worker: {
      publish: [
        '$JS.API.INFO',
        ...[input, output, dead].map((name) => `$JS.API.STREAM.INFO.${name}`),
        `$JS.API.CONSUMER.INFO.${input}.${consumer}`,
        `$JS.API.CONSUMER.MSG.NEXT.${input}.${consumer}`,
        `$JS.ACK.${input}.${consumer}.>`,
        ...maps.map(({ answers }) => answers),
        `${deadPrefix}.>`,
        ...(positions === undefined ? [] : collecting(positions.stream, input, collected)),
        ...(givesBack === true ? givingBack(input, positions?.stream) : []),
        INBOX,
        OTHER_ACCOUNTS,
      ],
      denied: [],
      subscribe: [...endpoints, '$SRV.>', INBOX],
    },
    operator: { publish: ['$JS.API.>', '$JS.ACK.>', '$SRV.>', ...endpoints], denied: [], subscribe: [INBOX] },
  };
}

/** A collector creates a consumer for itself. */
const collecting = (positions: string, frames: string, collected: string): string[] => [
  `$JS.API.STREAM.INFO.${positions}`,
  `$JS.API.STREAM.MSG.GET.${frames}`,
  ...['CREATE', 'INFO', 'DELETE', 'MSG.NEXT'].map((what) => `$JS.API.CONSUMER.${what}.${positions}.>`),
  `$JS.API.CONSUMER.CREATE.${positions}`,
  `${collected}.*`,
];

/** Acknowledged messages and positions may be removed. */
const givingBack = (messages: string, positions: string | undefined): string[] => [
  ...[messages, ...(positions === undefined ? [] : [positions])].flatMap((name) => [
    `$JS.API.STREAM.MSG.DELETE.${name}`,
    `$JS.API.CONSUMER.LIST.${name}`,
  ]),
  ...(positions === undefined ? [`$JS.API.STREAM.MSG.GET.${messages}`] : []),
];

/** Variables for nats-server's configuration, `$worker_may` and so on, which `permissions:` of a user can name. */
export function permissionText(roles: RolePermissions): string {
  return (['producer', 'worker', 'operator'] as const)
    .filter((role) => roles[role].publish.length > 0)
    .map((role) => `${role}_may = ${bodyOf(roles[role])}\n`)
    .join('');
}

function bodyOf({ publish, denied, subscribe }: Permissions): string {
  const lines = (words: readonly string[]): string => words.map((word) => `\n      "${word}"`).join('');
  const deny = denied.length === 0 ? '' : `\n    deny: [${lines(denied)}\n    ]`;
  return `{\n  publish {\n    allow: [${lines(publish)}\n    ]${deny}\n  }\n  subscribe {\n    allow: [${lines(subscribe)}\n    ]\n  }\n}`;
}
