// The view of `hexcodes top`, from two readings of the admin port: rates between them, and states of the later one.
// Where the port is a supervisor's, the samples are those of all its processes: counts are added up, of delays the
// worst is shown.

// Reads the text format of Prometheus (https://prometheus.io/docs/instrumenting/exposition_formats/).
interface Series {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Series by the name of their metric; a histogram has three names. */
export type Exposition = ReadonlyMap<string, readonly Series[]>;

const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})?\s+(\S+)(?:\s+-?\d+)?$/;
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"\s*,?\s*/y;

/** @throws SyntaxError with the line that is none of the format */
export function readExposition(text: string): Exposition {
  const metrics = new Map<string, Series[]>();
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('#')) continue;
    const [, name, labels = '', value = ''] = LINE.exec(line) ?? [];
    if (name === undefined) throw new SyntaxError(`not a line of metrics: ${line}`);
    const series = metrics.get(name) ?? [];
    series.push({ labels: labelsOf(labels, line), value: numberOf(value) });
    metrics.set(name, series);
  }
  return metrics;
}

function labelsOf(text: string, line: string): Record<string, string> {
  const labels: Record<string, string> = {};
  LABEL.lastIndex = 0;
  while (LABEL.lastIndex < text.length) {
    const match = LABEL.exec(text);
    if (match === null) throw new SyntaxError(`not a line of metrics: ${line}`);
    labels[match[1] as string] = (match[2] as string).replace(/\\(.)/g, (_, c) => (c === 'n' ? '\n' : c));
  }
  return labels;
}

function numberOf(text: string): number {
  if (text === '+Inf') return Number.POSITIVE_INFINITY;
  return text === '-Inf' ? Number.NEGATIVE_INFINITY : Number(text);
}

/** Counts of one key since the start of the service. */
export interface KeyReading {
  readonly id: string;
  readonly requests: number;
  readonly points: number;
}

export interface Reading {
  /** Time by performance.now(). */
  readonly atMs: number;
  readonly metrics: Exposition;
  readonly keys: readonly KeyReading[];
}

/** In seconds; undefined where nothing was measured. */
export interface Quantiles {
  readonly p50: number | undefined;
  readonly p99: number | undefined;
}

export interface RouteView extends Quantiles {
  readonly route: string;
  readonly requestsPerSecond: number;
  readonly refusedPerSecond: number;
  readonly failedPerSecond: number;
}

export interface View {
  readonly versions: Readonly<Record<string, string>>;
  readonly isReady: boolean;
  readonly hasKeyStoreFault: boolean;
  readonly hasUsageStoreFault: boolean;
  readonly upSeconds: number;
  readonly cpuShare: number;
  readonly residentBytes: number;
  readonly heldBytes: number;
  readonly heldBytesLimit: number;
  readonly connections: number;
  readonly requestsPerSecond: number;
  readonly pointsPerSecond: number;
  readonly failedPointsPerSecond: number;
  readonly bytesInPerSecond: number;
  readonly bytesOutPerSecond: number;
  readonly eventLoop: Readonly<Record<'p50' | 'p99' | 'max', number>>;
  readonly pool: Quantiles & { readonly threads: number; readonly blocks: number; readonly queued: number };
  readonly stream: Quantiles & {
    readonly connections: number;
    readonly framesPerSecond: number;
    readonly unanswered: number;
  };
  readonly bulk: { readonly underWay: number; readonly spooledBytes: number };
  readonly refusalsPerSecond: number;
  readonly droppedLogLines: number;
  /** The busiest first. */
  readonly routes: readonly RouteView[];
  readonly keys: readonly {
    readonly id: string;
    readonly requestsPerSecond: number;
    readonly pointsPerSecond: number;
  }[];
}

type Where = (labels: Series['labels']) => boolean;
const EVERY: Where = () => true;

export function viewOf(before: Reading, after: Reading): View {
  const seconds = Math.max(0.001, (after.atMs - before.atMs) / 1000);
  const now = (name: string, where = EVERY): number => sumOf(after.metrics, name, where);
  /** A counter that is less than before began at zero: the service was restarted. */
  const since = (later: number, earlier: number): number => (later < earlier ? later : later - earlier);
  const rate = (name: string, where = EVERY): number =>
    since(now(name, where), sumOf(before.metrics, name, where)) / seconds;
  const quantiles = (name: string, where = EVERY): Quantiles => {
    const buckets = bucketsOf(after.metrics, name, where);
    const earlier = bucketsOf(before.metrics, name, where);
    for (const [bound, count] of buckets) buckets.set(bound, since(count, earlier.get(bound) ?? 0));
    return { p50: quantileOf(buckets, 0.5), p99: quantileOf(buckets, 0.99) };
  };
  const delay = (quantile: string): number =>
    Math.max(
      0,
      ...(after.metrics.get('hexcodes_event_loop_delay_seconds') ?? [])
        .filter(({ labels }) => labels.quantile === quantile)
        .map(({ value }) => value),
    );
  const starts = (after.metrics.get('process_start_time_seconds') ?? []).map(({ value }) => value);
  return {
    versions: after.metrics.get('hexcodes_info')?.[0]?.labels ?? {},
    isReady: now('hexcodes_ready') > 0,
    hasKeyStoreFault: now('hexcodes_key_store_fault') > 0,
    hasUsageStoreFault: now('hexcodes_usage_store_fault') > 0,
    upSeconds: starts.length === 0 ? 0 : Date.now() / 1000 - Math.min(...starts),
    cpuShare: rate('process_cpu_seconds_total'),
    residentBytes: now('process_resident_memory_bytes'),
    heldBytes: now('hexcodes_held_bytes'),
    heldBytesLimit: now('hexcodes_held_bytes_limit'),
    connections: now('hexcodes_connections'),
    requestsPerSecond: rate('hexcodes_http_requests_total'),
    pointsPerSecond: rate('hexcodes_points_total'),
    failedPointsPerSecond: rate('hexcodes_points_total', ({ outcome }) => outcome !== 'ok'),
    bytesInPerSecond:
      rate('hexcodes_http_received_bytes_total') + rate('hexcodes_stream_received_bytes_total'),
    bytesOutPerSecond: rate('hexcodes_http_sent_bytes_total') + rate('hexcodes_stream_sent_bytes_total'),
    eventLoop: { p50: delay('0.5'), p99: delay('0.99'), max: delay('1') },
    pool: {
      threads: now('hexcodes_pool_threads'),
      blocks: now('hexcodes_pool_blocks'),
      queued: now('hexcodes_pool_queued_blocks'),
      ...quantiles('hexcodes_pool_run_seconds'),
    },
    stream: {
      connections: now('hexcodes_stream_connections'),
      framesPerSecond: rate('hexcodes_stream_frames_total'),
      unanswered: now('hexcodes_stream_unanswered_frames'),
      ...quantiles('hexcodes_stream_frame_duration_seconds'),
    },
    bulk: { underWay: now('hexcodes_bulk_answers'), spooledBytes: now('hexcodes_bulk_spooled_bytes') },
    refusalsPerSecond: rate('hexcodes_budget_refusals_total'),
    droppedLogLines: now('hexcodes_log_lines_dropped_total'),
    routes: routesOf(after.metrics)
      .map((route) => {
        const isHere: Where = (labels) => labels.route === route;
        const byStatus = (first: string): number =>
          rate('hexcodes_http_requests_total', (l) => l.route === route && l.status?.[0] === first);
        return {
          route,
          requestsPerSecond: rate('hexcodes_http_requests_total', isHere),
          refusedPerSecond: byStatus('4'),
          failedPerSecond: byStatus('5'),
          ...quantiles('hexcodes_http_request_duration_seconds', isHere),
        };
      })
      .sort((a, b) => b.requestsPerSecond - a.requestsPerSecond || (a.route < b.route ? -1 : 1)),
    keys: after.keys
      .map(({ id, requests, points }) => {
        const earlier = before.keys.find((key) => key.id === id);
        return {
          id,
          // A key that was not in use before has an unknown count then: its rate is shown from the next reading on.
          requestsPerSecond: earlier === undefined ? 0 : since(requests, earlier.requests) / seconds,
          pointsPerSecond: earlier === undefined ? 0 : since(points, earlier.points) / seconds,
        };
      })
      .sort((a, b) => b.pointsPerSecond - a.pointsPerSecond || b.requestsPerSecond - a.requestsPerSecond),
  };
}

function sumOf(metrics: Exposition, name: string, where: Where): number {
  return (metrics.get(name) ?? []).reduce((sum, { labels, value }) => sum + (where(labels) ? value : 0), 0);
}

function routesOf(metrics: Exposition): string[] {
  const series = metrics.get('hexcodes_http_requests_total') ?? [];
  return [...new Set(series.map(({ labels }) => labels.route ?? ''))];
}

/** Cumulative counts by upper bound, in the order of the bounds. */
function bucketsOf(metrics: Exposition, name: string, where: Where): Map<number, number> {
  const buckets = new Map<number, number>();
  for (const { labels, value } of metrics.get(`${name}_bucket`) ?? []) {
    if (!where(labels)) continue;
    const bound = labels.le === '+Inf' ? Number.POSITIVE_INFINITY : Number(labels.le);
    buckets.set(bound, (buckets.get(bound) ?? 0) + value);
  }
  return new Map([...buckets].sort(([a], [b]) => a - b));
}

/** Between the bounds of its bucket, as if those in it were spread evenly; the last bound stands for all beyond it. */
export function quantileOf(buckets: ReadonlyMap<number, number>, quantile: number): number | undefined {
  const total = [...buckets.values()].at(-1) ?? 0;
  if (total === 0) return undefined;
  const rank = quantile * total;
  let lowerBound = 0;
  let below = 0;
  for (const [bound, upTo] of buckets) {
    if (upTo >= rank && upTo > below) {
      if (bound === Number.POSITIVE_INFINITY) return lowerBound;
      return lowerBound + ((bound - lowerBound) * (rank - below)) / (upTo - below);
    }
    if (bound !== Number.POSITIVE_INFINITY) lowerBound = bound;
    below = upTo;
  }
  return lowerBound;
}
