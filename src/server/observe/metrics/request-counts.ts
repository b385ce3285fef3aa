// Counts requests by the pattern of their route, streams, and points by operation and by key. Counting is a look-up and
// a few additions in typed arrays: it happens for every request; names and labels are made at scrape time.
import { OPERATIONS, type UsageOperation } from '../operations.js';

/** Upper bounds, in seconds. */
export const LATENCY_BOUNDS_SECONDS: readonly number[] = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
];

const BOUNDS_MS = Float64Array.from(LATENCY_BOUNDS_SECONDS, (seconds) => seconds * 1000);

/** How long things took, counted in fixed buckets. */
export class Latency {
  /** Counts of each bucket by itself; the last one is of latencies beyond all bounds. */
  readonly counts = new Float64Array(BOUNDS_MS.length + 1);
  sumMs = 0;

  add(ms: number): void {
    let bucket = 0;
    // Nearly all requests end at the first bounds.
    while (bucket < BOUNDS_MS.length && ms > BOUNDS_MS[bucket]!) bucket++;
    this.counts[bucket]!++;
    this.sumMs += ms;
  }
}

/** An answer could not be sent; answers were not read. */
const ALERTED_CODES = [1011, 1013];
/** Codes of peers that say how a connection ended, with 1005 for none and 1006 for a lost connection. */
const CODES_OF_PEERS = [1000, 1001, 1005, 1006];
/** Any other code of a peer: it is the peer's own, and means nothing of what the service means by it. */
const OTHER_CODE = 'other';

/** Frames and bytes of one connection, both ways. */
export interface StreamTraffic {
  frames: number;
  bytesIn: number;
  bytesOut: number;
}

export class StreamCounts {
  readonly traffic: StreamTraffic = { frames: 0, bytesIn: 0, bytesOut: 0 };
  /** From the arrival of a frame until its answer has left the buffer of uWS. */
  readonly latency = new Latency();
  /** Connections by the code that they were closed with; those on which an alert waits are 0 from the start. */
  readonly closed = new Map<number | typeof OTHER_CODE, number>(ALERTED_CODES.map((code) => [code, 0]));

  /** Counts a frame, of the connection too. */
  add(own: StreamTraffic, sizeBytes: number): void {
    own.frames++;
    own.bytesIn += sizeBytes;
    this.traffic.frames++;
    this.traffic.bytesIn += sizeBytes;
  }

  addSent(own: StreamTraffic, sizeBytes: number): void {
    own.bytesOut += sizeBytes;
    this.traffic.bytesOut += sizeBytes;
  }

  close(code: number, isPeers: boolean): void {
    const counted = isPeers && !CODES_OF_PEERS.includes(code) ? OTHER_CODE : code;
    this.closed.set(counted, (this.closed.get(counted) ?? 0) + 1);
  }
}

/** Names of all others are the client's. */
export const isOurMethod = (method: string): boolean => /^(GET|POST|HEAD|OPTIONS)$/.test(method);
const OTHER_METHOD = 'OTHER';
/** Between them lie all that HTTP knows. Index 0 is for requests without an answer. */
const FIRST_STATUS = 100;
const STATUS_COUNT = 501;
const DEFECT = 500;

/** A request as far as it is counted. */
export interface CountedRequest {
  readonly head: { readonly pattern: string; readonly method: string };
  /** 0: the connection was closed before an answer. */
  readonly status: number;
  readonly isComplete: boolean;
  readonly startedMs: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
}

/** Counts of one route. */
export interface RouteCounts {
  readonly latency: Latency;
  readonly bytesIn: number;
  readonly bytesOut: number;
  /** Requests whose connection was closed before their answer was complete. */
  readonly cutOff: number;
  readonly byStatus: readonly { readonly method: string; readonly status: number; readonly count: number }[];
}

class Route {
  readonly latency = new Latency();
  readonly byStatus = new Map<string, Float64Array>();
  bytesIn = 0;
  bytesOut = 0;
  cutOff = 0;
}

export class RequestCounts {
  /** Requests that were answered with 500, of all routes. */
  defects = 0;
  readonly #routes = new Map<string, Route>();

  /** Counts a request that is over. */
  add(x: CountedRequest, nowMs: number): void {
    const route = this.#routeOf(x.head.pattern);
    route.latency.add(nowMs - x.startedMs);
    route.bytesIn += x.bytesIn;
    route.bytesOut += x.bytesOut;
    if (!x.isComplete) route.cutOff++;
    if (x.status === 0) return;
    if (x.status === DEFECT) this.defects++;
    let counts = route.byStatus.get(x.head.method);
    if (counts === undefined) counts = newCounts(route, x.head.method);
    counts[x.status - FIRST_STATUS]!++;
  }

  /** Counts so far, with the bytes of requests under way. */
  routes(underWay: Iterable<CountedRequest>): Map<string, RouteCounts> {
    const routes = new Map<string, RouteCounts>();
    const more = new Map<string, { bytesIn: number; bytesOut: number }>();
    for (const { head, bytesIn, bytesOut } of underWay) {
      const { pattern } = head;
      const sum = more.get(pattern) ?? { bytesIn: 0, bytesOut: 0 };
      sum.bytesIn += bytesIn;
      sum.bytesOut += bytesOut;
      more.set(pattern, sum);
      this.#routeOf(pattern);
    }
    for (const [pattern, route] of this.#routes) {
      const { latency, cutOff, byStatus } = route;
      routes.set(pattern, {
        latency,
        cutOff,
        bytesIn: route.bytesIn + (more.get(pattern)?.bytesIn ?? 0),
        bytesOut: route.bytesOut + (more.get(pattern)?.bytesOut ?? 0),
        byStatus: [...byStatus].flatMap(([method, counts]) => statusesOf(method, counts)),
      });
    }
    return routes;
  }

  #routeOf(pattern: string): Route {
    let route = this.#routes.get(pattern);
    if (route === undefined) {
      route = new Route();
      this.#routes.set(pattern, route);
    }
    return route;
  }
}

/** The counts of a method by status; those of methods that are not ours are counted together. */
function newCounts({ byStatus }: Route, method: string): Float64Array {
  const name = isOurMethod(method) ? method : OTHER_METHOD;
  let counts = byStatus.get(name);
  if (counts === undefined) {
    counts = new Float64Array(STATUS_COUNT);
    byStatus.set(name, counts);
  }
  return counts;
}

function statusesOf(
  method: string,
  counts: Float64Array,
): { method: string; status: number; count: number }[] {
  return [...counts].flatMap((count, index) =>
    count === 0 ? [] : [{ method, status: FIRST_STATUS + index, count }],
  );
}

/** Keys that are counted one by one; those that come later share the name ''. */
const MAX_KEYS = 10_000;

export interface KeyCounts {
  requests: number;
  points: number;
  /** Time of its last request or frame, by performance.now(). */
  lastMs: number;
}

export class PointCounts {
  /** OK and failed of each operation, two numbers that follow each other. */
  readonly #counts = new Float64Array(2 * OPERATIONS.length);
  readonly #keys = new Map<string, KeyCounts>();

  /** Counts points of a key. `operation`: an index in OPERATIONS. */
  add(key: KeyCounts, operation: number, ok: number, failed: number): void {
    const index = 2 * operation;
    this.#counts[index]! += ok;
    this.#counts[index + 1]! += failed;
    key.points += ok + failed;
  }

  get byOutcome(): readonly { operation: UsageOperation; outcome: 'ok' | 'failed'; count: number }[] {
    return OPERATIONS.filter((operation) => operation !== 'lookup').flatMap((operation) => {
      const index = 2 * OPERATIONS.indexOf(operation);
      return [
        { operation, outcome: 'ok' as const, count: this.#counts[index]! },
        { operation, outcome: 'failed' as const, count: this.#counts[index + 1]! },
      ];
    });
  }

  /** The keys with a request since that time. */
  keysSince(sinceMs: number): Map<string, Readonly<KeyCounts>> {
    return new Map([...this.#keys].filter(([, { lastMs }]) => lastMs >= sinceMs));
  }

  /** The counts of a key, which are requested once. */
  of(keyId: string): KeyCounts {
    let key = this.#keys.get(keyId);
    if (key === undefined) {
      if (this.#keys.size >= MAX_KEYS && keyId !== '') return this.of('');
      key = { requests: 0, points: 0, lastMs: 0 };
      this.#keys.set(keyId, key);
    }
    return key;
  }
}
