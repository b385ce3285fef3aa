// The metrics of the service, each with its name, its meaning and where its value comes from. docs/observation.md lists
// them; a test holds the two together.

import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import { slowRowCounts } from '../../../hexcodes/wire/rows/row-report.js';
import type { Budget } from '../../transport/limits.js';
import type { Labels, Metric, Sample } from './registry.js';
import type {
  CountedRequest,
  Latency,
  PointCounts,
  RequestCounts,
  RouteCounts,
  StreamCounts,
} from './request-counts.js';

const BEAT_MS = 10;
const SECOND_MS = 1000;
const SECONDS_KEPT = 15;

interface EventLoopDelay {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

const NO_DELAY: EventLoopDelay = { p50Ms: 0, p99Ms: 0, maxMs: 0 };

/**
 * How late the event loop is: libuv's own timer, measured by Node, without the time between two of its beats. The worst
 * second of the last few is shown, so that a scraper that asks less often than every second does not miss it, and
 * several may ask.
 */
export class EventLoopMonitor {
  readonly #histogram: IntervalHistogram = monitorEventLoopDelay({ resolution: BEAT_MS });
  readonly #timer: NodeJS.Timeout;
  #seconds: EventLoopDelay[] = [];

  constructor() {
    this.#histogram.enable();
    this.#timer = setInterval(() => this.#keepSecond(), SECOND_MS);
    this.#timer.unref();
  }

  /** Delays of the worst second of the last fifteen, each of the three by itself. */
  get worst(): EventLoopDelay {
    return [...this.#seconds, this.#now()].reduce(
      (worst, second) => ({
        p50Ms: Math.max(worst.p50Ms, second.p50Ms),
        p99Ms: Math.max(worst.p99Ms, second.p99Ms),
        maxMs: Math.max(worst.maxMs, second.maxMs),
      }),
      NO_DELAY,
    );
  }

  close(): void {
    clearInterval(this.#timer);
    this.#histogram.disable();
  }

  #keepSecond(): void {
    this.#seconds = [...this.#seconds, this.#now()].slice(-SECONDS_KEPT);
    this.#histogram.reset();
  }

  #now(): EventLoopDelay {
    const h = this.#histogram;
    if (h.count === 0) return NO_DELAY;
    return { p50Ms: lateMs(h.percentile(50)), p99Ms: lateMs(h.percentile(99)), maxMs: lateMs(h.max) };
  }
}

function lateMs(betweenBeatsNs: number): number {
  return Math.max(0, betweenBeatsNs / 1e6 - BEAT_MS);
}

function gauge(name: string, help: string, value: () => number): Metric {
  return { kind: 'gauge', name, help, samples: value };
}

function counter(name: string, help: string, value: () => number): Metric {
  return { kind: 'counter', name, help, samples: value };
}

interface StoreStates {
  readonly keys: () => { readonly loaded: number; readonly fault: boolean };
  readonly usage: () => { readonly fault: boolean; readonly failures: number };
}

function storeMetrics({ keys, usage }: StoreStates): Metric[] {
  return [
    gauge('hexcodes_keys', 'API keys in memory.', () => keys().loaded),
    gauge('hexcodes_key_store_fault', 'Whether the key store cannot be read.', () => Number(keys().fault)),
    gauge('hexcodes_usage_store_fault', 'Whether usage cannot be stored and waits in memory.', () =>
      Number(usage().fault),
    ),
    counter(
      'hexcodes_usage_flush_failures_total',
      'How often the store of usage could not be used.',
      () => usage().failures,
    ),
  ];
}

/** All 0 where no sink is set. */
interface ForwardState {
  readonly waiting: number;
  readonly delivered: number;
  readonly refused: number;
  readonly isAway: boolean;
}

function forwardMetrics(forward: () => ForwardState): Metric[] {
  return [
    gauge('hexcodes_forward_sink_away', 'Whether the sink of positions takes none.', () =>
      Number(forward().isAway),
    ),
    gauge(
      'hexcodes_forward_waiting_positions',
      'Positions on disk that their sink has not taken yet.',
      () => forward().waiting,
    ),
    counter(
      'hexcodes_forward_delivered_total',
      'Positions that their sink has taken.',
      () => forward().delivered,
    ),
    counter(
      'hexcodes_forward_refused_total',
      'Positions refused because as many wait as may, or the disk takes none.',
      () => forward().refused,
    ),
  ];
}

/** Sources of the metrics. */
export interface MetricSources extends StoreStates {
  readonly info: Labels;
  readonly requests: RequestCounts;
  readonly underWay: () => Iterable<CountedRequest> & { readonly size: number };
  readonly connections: () => number;
  /** Connections that were closed at once, and why. */
  readonly refusedConnections: Readonly<Record<'flood' | 'crowd' | 'share', number>>;
  readonly points: PointCounts;
  readonly streams: Readonly<Record<string, StreamCounts>>;
  readonly openStreams: () => OpenStreams;
  readonly bulk: () => { readonly underWay: number; readonly spooledBytes: number };
  readonly budget: Budget;
  readonly refusals: ReadonlyMap<string, number>;
  readonly pool: () => PoolState;
  readonly poolWaits: Latency;
  readonly poolRuns: Latency;
  readonly eventLoop: EventLoopMonitor;
  readonly forward: () => ForwardState;
  readonly droppedLogLines: () => number;
  readonly skippedLogLines: () => number;
  readonly isReady: () => boolean;
}

export type OpenStreams = ReadonlyMap<
  string,
  { readonly connections: number; readonly frames: number; readonly bytes: number }
>;

interface PoolState {
  readonly threads: number;
  readonly blocks: number;
  readonly bytes: number;
  readonly queued: number;
  readonly waitingBodies: number;
  readonly completed: number;
  readonly lostWorkers: number;
}

export function serviceMetrics(of: MetricSources): Metric[] {
  return [...stateMetrics(of), ...requestMetrics(of), ...streamMetrics(of), ...poolMetrics(of)];
}

function stateMetrics(of: MetricSources): Metric[] {
  return [
    {
      kind: 'gauge',
      name: 'hexcodes_info',
      help: 'Always 1; versions of the service, its kernel, boundary data and transport.',
      labels: Object.keys(of.info),
      samples: () => [[of.info, 1]],
    },
    gauge('hexcodes_ready', 'Whether requests are accepted, as /readyz says.', () => Number(of.isReady())),
    ...storeMetrics(of),
    ...forwardMetrics(of.forward),
    {
      kind: 'summary',
      name: 'hexcodes_event_loop_delay_seconds',
      help: 'How late the event loop was, in the worst second of the last fifteen.',
      labels: ['quantile'],
      samples: () => {
        const { p50Ms, p99Ms, maxMs } = of.eventLoop.worst;
        return [
          [{ quantile: '0.5' }, p50Ms / 1000],
          [{ quantile: '0.99' }, p99Ms / 1000],
          [{ quantile: '1' }, maxMs / 1000],
        ];
      },
    },
    counter('hexcodes_log_lines_dropped_total', 'Log lines that could not be written.', of.droppedLogLines),
    counter(
      'hexcodes_log_requests_skipped_total',
      'Requests without a log line of their own, beyond the limit of lines in a second.',
      of.skippedLogLines,
    ),
    gauge('hexcodes_held_bytes', 'Bytes held in memory for peers.', () => of.budget.figures.bytes),
    gauge('hexcodes_held_bytes_limit', 'The most of them that may be held.', () =>
      finite(of.budget.limits.processBytes),
    ),
    {
      kind: 'counter',
      name: 'hexcodes_budget_refusals_total',
      help: 'Requests, frames and WebSockets refused over a limit of what is held.',
      labels: ['limit'],
      samples: () => [...of.refusals].map(([limit, count]) => [{ limit }, count]),
    },
  ];
}

function requestMetrics(of: MetricSources): Metric[] {
  const routes = (): [string, RouteCounts][] => [...of.requests.routes(of.underWay())];
  const perRoute = (value: (counts: RouteCounts) => number) => (): Sample[] =>
    routes().map(([route, counts]) => [{ route }, value(counts)]);
  return [
    {
      kind: 'counter',
      name: 'hexcodes_http_requests_total',
      help: 'Requests by the pattern of their route, their method and the status of their answer.',
      labels: ['route', 'method', 'status'],
      samples: () =>
        routes().flatMap(([route, { byStatus }]) =>
          byStatus.map(({ method, status, count }): Sample => [{ route, method, status }, count]),
        ),
    },
    {
      // A series of a status begins with its first answer, at 1, so that its increase does not show that one.
      kind: 'counter',
      name: 'hexcodes_defects_total',
      help: 'Requests that were answered with 500, which is a defect; 0 from the start.',
      samples: () => of.requests.defects,
    },
    {
      kind: 'histogram',
      name: 'hexcodes_http_request_duration_seconds',
      help: 'From the head of a request to the end of its answer.',
      labels: ['route'],
      latencies: () => routes().map(([route, { latency }]) => [{ route }, latency]),
    },
    {
      kind: 'counter',
      name: 'hexcodes_http_cut_off_total',
      help: 'Requests whose connection was closed before their answer was complete.',
      labels: ['route'],
      samples: perRoute(({ cutOff }) => cutOff),
    },
    {
      kind: 'counter',
      name: 'hexcodes_http_received_bytes_total',
      help: 'Bytes of request bodies.',
      labels: ['route'],
      samples: perRoute(({ bytesIn }) => bytesIn),
    },
    {
      kind: 'counter',
      name: 'hexcodes_http_sent_bytes_total',
      help: 'Bytes of the bodies of answers.',
      labels: ['route'],
      samples: perRoute(({ bytesOut }) => bytesOut),
    },
    gauge(
      'hexcodes_http_requests_under_way',
      'Requests whose answers are not complete.',
      () => of.underWay().size,
    ),
    gauge('hexcodes_connections', 'Open connections, WebSockets included.', of.connections),
    {
      kind: 'counter',
      name: 'hexcodes_connections_refused_total',
      help: 'Connections closed at once, as too many are open or too many requests came in one turn.',
      labels: ['reason'],
      samples: () =>
        Object.entries(of.refusedConnections).map(([reason, count]): Sample => [{ reason }, count]),
    },
    {
      kind: 'counter',
      name: 'hexcodes_slow_rows_total',
      help: 'Rows that the kernel left to JavaScript, which takes some 30 times the CPU: by endpoint and reason.',
      labels: ['endpoint', 'reason'],
      samples: () =>
        slowRowCounts()
          .filter(({ origin, reason }) => origin !== 'file' && reason !== 'line' && reason !== 'values')
          .map(({ origin, reason, rows }): Sample => [{ endpoint: origin, reason }, rows]),
    },
    {
      kind: 'counter',
      name: 'hexcodes_points_total',
      help: 'Points and codes converted, by outcome and by operation as usage names it.',
      labels: ['operation', 'outcome'],
      samples: () =>
        of.points.byOutcome.map(({ operation, outcome, count }) => [{ operation, outcome }, count]),
    },
    gauge('hexcodes_bulk_answers', 'Bulk bodies that are being answered.', () => of.bulk().underWay),
    gauge(
      'hexcodes_bulk_spooled_bytes',
      'Bytes of bulk answers that wait on disk.',
      () => of.bulk().spooledBytes,
    ),
  ];
}

function streamMetrics(of: MetricSources): Metric[] {
  const labels = ['subprotocol'];
  const perProtocol = (value: (counts: StreamCounts) => number) => (): Sample[] =>
    Object.entries(of.streams).map(([subprotocol, counts]) => [{ subprotocol }, value(counts)]);
  const open = (value: 'connections' | 'frames' | 'bytes') => (): Sample[] => {
    const streams = of.openStreams();
    return Object.keys(of.streams).map((subprotocol) => [
      { subprotocol },
      streams.get(subprotocol)?.[value] ?? 0,
    ]);
  };
  return [
    {
      kind: 'gauge',
      name: 'hexcodes_stream_connections',
      help: 'Open connections of the stream.',
      labels,
      samples: open('connections'),
    },
    {
      kind: 'counter',
      name: 'hexcodes_stream_frames_total',
      help: 'Frames that have come.',
      labels,
      samples: perProtocol(({ traffic }) => traffic.frames),
    },
    {
      kind: 'histogram',
      name: 'hexcodes_stream_frame_duration_seconds',
      help: 'From the arrival of a frame until its answer has left the buffer of the transport.',
      labels,
      latencies: () =>
        Object.entries(of.streams).map(([subprotocol, { latency }]) => [{ subprotocol }, latency]),
    },
    {
      kind: 'gauge',
      name: 'hexcodes_stream_unanswered_frames',
      help: 'Frames within the windows of all connections.',
      labels,
      samples: open('frames'),
    },
    {
      kind: 'gauge',
      name: 'hexcodes_stream_unanswered_bytes',
      help: 'Bytes of these frames.',
      labels,
      samples: open('bytes'),
    },
    {
      kind: 'counter',
      name: 'hexcodes_stream_received_bytes_total',
      help: 'Bytes of frames that have come.',
      labels,
      samples: perProtocol(({ traffic }) => traffic.bytesIn),
    },
    {
      kind: 'counter',
      name: 'hexcodes_stream_sent_bytes_total',
      help: 'Bytes of answers to frames.',
      labels,
      samples: perProtocol(({ traffic }) => traffic.bytesOut),
    },
    {
      kind: 'counter',
      name: 'hexcodes_stream_closed_total',
      help: 'Connections of the stream by the code they were closed with; other: a code of clients.',
      labels: ['subprotocol', 'code'],
      samples: () =>
        Object.entries(of.streams).flatMap(([subprotocol, { closed }]) =>
          [...closed].map(([code, count]): Sample => [{ subprotocol, code }, count]),
        ),
    },
  ];
}

function poolMetrics(of: MetricSources): Metric[] {
  return [
    gauge('hexcodes_pool_threads', 'Worker threads.', () => of.pool().threads),
    gauge('hexcodes_pool_blocks', 'Blocks in the pool, waiting or with a worker.', () => of.pool().blocks),
    gauge('hexcodes_pool_bytes', 'Bytes of these blocks.', () => of.pool().bytes),
    gauge('hexcodes_pool_queued_blocks', 'Blocks that wait for a worker.', () => of.pool().queued),
    gauge(
      'hexcodes_pool_waiting_bodies',
      'Bulk bodies that wait for a place in the pool.',
      () => of.pool().waitingBodies,
    ),
    counter('hexcodes_pool_completed_total', 'Blocks answered or given up.', () => of.pool().completed),
    counter('hexcodes_pool_lost_workers_total', 'Workers that died.', () => of.pool().lostWorkers),
    {
      kind: 'histogram',
      name: 'hexcodes_pool_wait_seconds',
      help: 'How long a block waits for its turn.',
      latencies: () => [[{}, of.poolWaits]],
    },
    {
      kind: 'histogram',
      name: 'hexcodes_pool_run_seconds',
      help: 'From the turn of a block to its answer.',
      latencies: () => [[{}, of.poolRuns]],
    },
  ];
}

/** Prometheus knows no limit that is not there. */
function finite(limit: number): number {
  return Number.isFinite(limit) ? limit : 0;
}
