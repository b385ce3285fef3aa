// The permissions that each role on the bus needs, and no more, in the syntax of nats-server's configuration. `worker
// setup` prints them for its own subjects and streams; deploy/nats/hexcodes.conf has those of the default ones.
import type { StreamPlan } from '../bus.js';

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
  /** `worker setup`, and whoever reads answers and dead letters. */
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
