// The metrics of the service, each with its name, its meaning and where its value comes from. docs/observation.md lists
// them; a test holds the two together.

import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import { slowRowCounts } from '../../../hexcodes/wire/rows/row-report.js';
import type { Budget } from '../../transport/limits.js';
import type { Labels, Metric, Sample, SampledMetric } from './registry.js';
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

type Samples = SampledMetric['samples'];

function gauge(name: string, help: string, samples: Samples, labels: readonly string[] = []): Metric {
  return { kind: 'gauge', name, help, samples, labels };
}

function counter(name: string, help: string, samples: Samples, labels: readonly string[] = []): Metric {
  return { kind: 'counter', name, help, samples, labels };
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
    gauge(
      'hexcodes_info',
      'Always 1; versions of the service, its kernel, boundary data and transport.',
      () => [[of.info, 1]],
      Object.keys(of.info),
    ),
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
    counter(
      'hexcodes_budget_refusals_total',
      'Requests, frames and WebSockets refused over a limit of what is held.',
      () => [...of.refusals].map(([limit, count]) => [{ limit }, count]),
      ['limit'],
    ),
  ];
}

function requestMetrics(of: MetricSources): Metric[] {
  const routes = (): [string, RouteCounts][] => [...of.requests.routes(of.underWay())];
  const perRoute = (value: (counts: RouteCounts) => number) => (): Sample[] =>
    routes().map(([route, counts]) => [{ route }, value(counts)]);
  return [
    counter(
      'hexcodes_http_requests_total',
      'Requests by the pattern of their route, their method and the status of their answer.',
      () =>
        routes().flatMap(([route, { byStatus }]) =>
          byStatus.map(({ method, status, count }): Sample => [{ route, method, status }, count]),
        ),
      ['route', 'method', 'status'],
    ),
    // A series of a status begins with its first answer, at 1, so that its increase does not show that one.
    counter(
      'hexcodes_defects_total',
      'Requests that were answered with 500, which is a defect; 0 from the start.',
      () => of.requests.defects,
    ),
    {
      kind: 'histogram',
      name: 'hexcodes_http_request_duration_seconds',
      help: 'From the head of a request to the end of its answer.',
      labels: ['route'],
      latencies: () => routes().map(([route, { latency }]) => [{ route }, latency]),
    },
    counter(
      'hexcodes_http_cut_off_total',
      'Requests whose connection was closed before their answer was complete.',
      perRoute(({ cutOff }) => cutOff),
      ['route'],
    ),
    counter(
      'hexcodes_http_received_bytes_total',
      'Bytes of request bodies.',
      perRoute(({ bytesIn }) => bytesIn),
      ['route'],
    ),
    counter(
      'hexcodes_http_sent_bytes_total',
      'Bytes of the bodies of answers.',
      perRoute(({ bytesOut }) => bytesOut),
      ['route'],
    ),
    gauge(
      'hexcodes_http_requests_under_way',
      'Requests whose answers are not complete.',
      () => of.underWay().size,
    ),
    gauge('hexcodes_connections', 'Open connections, WebSockets included.', of.connections),
    counter(
      'hexcodes_connections_refused_total',
      'Connections closed at once, as too many are open or too many requests came in one turn.',
      () => Object.entries(of.refusedConnections).map(([reason, count]): Sample => [{ reason }, count]),
      ['reason'],
    ),
    counter(
      'hexcodes_slow_rows_total',
      'Rows that the kernel left to JavaScript, which takes some 30 times the CPU: by endpoint and reason.',
      () =>
        slowRowCounts()
          .filter(({ origin, reason }) => origin !== 'file' && reason !== 'line' && reason !== 'values')
          .map(({ origin, reason, rows }): Sample => [{ endpoint: origin, reason }, rows]),
      ['endpoint', 'reason'],
    ),
    counter(
      'hexcodes_points_total',
      'Points and codes converted, by outcome and by operation as usage names it.',
      () => of.points.byOutcome.map(({ operation, outcome, count }) => [{ operation, outcome }, count]),
      ['operation', 'outcome'],
    ),
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
    gauge('hexcodes_stream_connections', 'Open connections of the stream.', open('connections'), labels),
    counter(
      'hexcodes_stream_frames_total',
      'Frames that have come.',
      perProtocol(({ traffic }) => traffic.frames),
      labels,
    ),
    {
      kind: 'histogram',
      name: 'hexcodes_stream_frame_duration_seconds',
      help: 'From the arrival of a frame until its answer has left the buffer of the transport.',
      labels,
      latencies: () =>
        Object.entries(of.streams).map(([subprotocol, { latency }]) => [{ subprotocol }, latency]),
    },
    gauge(
      'hexcodes_stream_unanswered_frames',
      'Frames within the windows of all connections.',
      open('frames'),
      labels,
    ),
    gauge('hexcodes_stream_unanswered_bytes', 'Bytes of these frames.', open('bytes'), labels),
    counter(
      'hexcodes_stream_received_bytes_total',
      'Bytes of frames that have come.',
      perProtocol(({ traffic }) => traffic.bytesIn),
      labels,
    ),
    counter(
      'hexcodes_stream_sent_bytes_total',
      'Bytes of answers to frames.',
      perProtocol(({ traffic }) => traffic.bytesOut),
      labels,
    ),
    counter(
      'hexcodes_stream_closed_total',
      'Connections of the stream by the code they were closed with; other: a code of clients.',
      () =>
        Object.entries(of.streams).flatMap(([subprotocol, { closed }]) =>
          [...closed].map(([code, count]): Sample => [{ subprotocol, code }, count]),
        ),
      ['subprotocol', 'code'],
    ),
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
