// NATS as a bus: JetStream for all that is stored, micro services for requests.
import { type JetStreamManager, jetstream } from '@nats-io/jetstream';
import { type Service, type ServiceMsg, Svcm } from '@nats-io/services';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Operation } from '../../hexcodes/wire/job.js';
import type {
  Bus,
  BusSettings,
  Collecting,
  CollectorOptions,
  Publisher,
  ServiceOptions,
  Serving,
  SetUp,
  StreamPlan,
  Waiting,
  Work,
  WorkPlan,
} from '../bus.js';
import { BadRequest, type RequestAnswerer } from '../messages/request-answer.js';
import { Collector } from './collector.js';
import { connection, managerOf } from './connect.js';
import { firstOf, giveBack, Marks } from './give-back.js';
import { NatsEngine } from './nats-engine.js';
import { checkStreams, fillOf, lookAt, setUpPositions, setUpStreams, syncWarnings } from './streams.js';

const PUBLISH_TIMEOUT_MS = 5000;

export class NatsBus implements Bus {
  readonly name: string;
  readonly #nc: NatsConnection;
  readonly #settings: BusSettings;

  /** @throws EngineFault */
  static async open(settings: BusSettings, waiting: Waiting): Promise<NatsBus> {
    return new NatsBus(await connection(settings, waiting), settings);
  }

  constructor(nc: NatsConnection, settings: BusSettings) {
    this.#nc = nc;
    this.#settings = settings;
    this.name = `${nc.getServer()}, nats-server ${nc.info?.version ?? ''}`;
  }

  /** Requests alone need no JetStream. */
  #manager(): Promise<JetStreamManager> {
    return managerOf(this.#nc, this.#settings);
  }

  async setUp(plan: StreamPlan): Promise<SetUp> {
    const jsm = await this.#manager();
    const lines = await setUpStreams(jsm, plan);
    if (plan.positions !== undefined) lines.push(await setUpPositions(jsm, plan, plan.positions));
    return { lines, permissions: permissionText(streamPermissions(plan)) };
  }

  async work(plan: WorkPlan): Promise<Work> {
    const { names, maps, isOrdered, maxHeldBytes, maxMessages, monitor, collected } = plan;
    const { info } = this.#nc;
    const jsm = await this.#manager();
    const checked = await checkStreams(jsm, info?.version ?? '', names, maps, isOrdered);
    // Each message may have the size that the servers take, and its answer too.
    const fitting = Math.floor(maxHeldBytes / (2 * (info?.max_payload ?? 1)));
    const engine = new NatsEngine(this.#nc, {
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
      source: input,
      look: () => lookAt(jsm, [input, output, dead], consumer),
      giveBack: async (afterMs) => {
        const { ack_floor } = await jsm.consumers.info(input, consumer);
        answered.add(ack_floor.stream_seq);
        const done = answered.before(afterMs);
        if (done === undefined) return 0;
        // A collector knows by its last frame how far it has come, and by each whether there is one that begins so.
        const frame = await firstOf(jsm, input, 1, `${collected}.*`);
        return giveBack(jsm, await fillOf(jsm, input), Math.min(done + 1, frame));
      },
    };
  }

  async collect(options: CollectorOptions): Promise<Collecting> {
    return new Collector(this.#nc, await this.#manager(), options);
  }

  async serve(answerer: RequestAnswerer, options: ServiceOptions): Promise<Serving> {
    const service = await startService(this.#nc, answerer, options);
    return { ended: this.#nc.closed(), stop: async () => void (await service.stop()) };
  }

  publisher(subject: string): Publisher {
    const nc = this.#nc;
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
    // Acknowledgements of this turn of the event loop are on their way to the client.
    await new Promise((resolve) => setImmediate(resolve));
    if (!this.#nc.isClosed()) await this.#nc.drain().catch(() => {});
    if (!this.#nc.isClosed()) await this.#nc.close();
  }
}

// Encode and decode as a NATS micro service: request and reply, found and counted by the protocol that all such
// services have.

const TOO_LARGE = 'the answer is larger than the servers take: ask for fewer points';

/** The connection of the package's own, older copy of the client, which is used by the same calls. */
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
  return service;

  function reply(request: ServiceMsg, operation: Operation): void {
    // An answer there would be a request to the server, with the rights of this program.
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
  /** Exceptions from the allowed ones. */
  readonly denied: readonly string[];
  readonly subscribe: readonly string[];
}

export interface RolePermissions {
  /** Programs that send messages, positions and requests: in an account of their own, see `permissionText`. */
  readonly producer: Permissions;
  /** `hexcodes worker`, `worker collect` and `worker service`. */
  readonly worker: Permissions;
  /** `worker setup`, and programs that read answers and dead letters. */
  readonly operator: Permissions;
}

export type StreamSubjects = Pick<
  StreamPlan,
  'names' | 'maps' | 'deadPrefix' | 'positions' | 'collected' | 'service' | 'givesBack'
>;

const INBOX = '_INBOX.>';
/** Answers to requests of other accounts. */
const OTHER_ACCOUNTS = '_R_.>';

/** Permissions for streams of messages, as `worker setup` makes them. */
export function streamPermissions(subjects: StreamSubjects): RolePermissions {
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

/** A collector makes a consumer for itself. */
const collecting = (positions: string, frames: string, collected: string): string[] => [
  `$JS.API.STREAM.INFO.${positions}`,
  `$JS.API.STREAM.MSG.GET.${frames}`,
  ...['CREATE', 'INFO', 'DELETE', 'MSG.NEXT'].map((what) => `$JS.API.CONSUMER.${what}.${positions}.>`),
  `$JS.API.CONSUMER.CREATE.${positions}`,
  `${collected}.*`,
];

/** Messages and positions that are done with may be removed. */
const givingBack = (messages: string, positions: string | undefined): string[] => [
  ...[messages, ...(positions === undefined ? [] : [positions])].flatMap((name) => [
    `$JS.API.STREAM.MSG.DELETE.${name}`,
    `$JS.API.CONSUMER.LIST.${name}`,
  ]),
  ...(positions === undefined ? [`$JS.API.STREAM.MSG.GET.${messages}`] : []),
];

/** As variables of nats-server's configuration, `$worker_may` and so on, which `permissions:` of a user can name. */
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
