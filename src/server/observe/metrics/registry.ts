// The registry of prom-client, the only user of that package. Metrics are functions that are asked for their samples at
// scrape time: nothing here is touched by a request.
import {
  Counter,
  collectDefaultMetrics,
  Gauge,
  type GaugeConfiguration,
  type MetricType,
  Registry,
} from 'prom-client';
import { LATENCY_BOUNDS_SECONDS, type Latency } from './request-counts.js';

export type Labels = Readonly<Record<string, string | number>>;
export type Sample = readonly [labels: Labels, value: number];

interface Described {
  /** The name with its unit; that of a counter ends in `_total`. */
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly string[];
}

export interface SampledMetric extends Described {
  /** A summary has the label `quantile`, and neither sum nor count. */
  readonly kind: 'counter' | 'gauge' | 'summary';
  /** One value, where the metric has no labels. */
  readonly samples: () => number | Iterable<Sample>;
}

export interface LatencyMetric extends Described {
  readonly kind: 'histogram';
  readonly latencies: () => Iterable<readonly [labels: Labels, latency: Latency]>;
}

export type Metric = SampledMetric | LatencyMetric;

/**
 * Metrics of prom-client that others of this service replace: prom-client's delays start at zero with every reader,
 * and its gauges `…_total` are named as counters are; `nodejs_active_resources` has the same numbers.
 */
const NOT_WANTED = /^nodejs_(?:eventloop_lag_|active_\w+_total$)/;

export class MetricsRegistry {
  readonly #registry = new Registry();

  constructor() {
    collectDefaultMetrics({ register: this.#registry });
    for (const { name } of this.#registry.getMetricsAsArray()) {
      if (NOT_WANTED.test(name)) this.#registry.removeSingleMetric(name);
    }
  }

  add(metrics: Iterable<Metric>): void {
    for (const metric of metrics) {
      if (metric.kind === 'histogram') this.#addHistogram(metric);
      else this.#addSampled(metric);
    }
  }

  /** In the text format of Prometheus. */
  async text(): Promise<{ type: string; body: string }> {
    return { type: this.#registry.contentType, body: await this.#registry.metrics() };
  }

  #addSampled({ kind, name, help, labels = [], samples }: SampledMetric): void {
    const made = new { counter: Counter, gauge: Gauge, summary: Quantiles }[kind]({
      name,
      help,
      labelNames: [...labels],
      registers: [this.#registry],
      collect() {
        made.reset();
        const values = samples();
        if (typeof values === 'number') made.inc(values);
        else for (const [of, value] of values) made.inc({ ...of }, value);
      },
    });
  }

  #addHistogram({ name, help, labels = [], latencies }: LatencyMetric): void {
    const histogram = new CountedHistogram({ name, help, labelNames: [...labels], registers: [] }, latencies);
    this.#registry.registerMetric(histogram);
  }
}

type Values = Awaited<ReturnType<Gauge['get']>>;

/** A gauge that is called a summary: prom-client's own computes quantiles of what it observes. */
class Quantiles extends Gauge {
  override async get(): Promise<Values> {
    return { ...(await super.get()), type: 'summary' as unknown as MetricType };
  }
}

/**
 * A histogram whose buckets are counted elsewhere. prom-client has no way to set those of its own; a gauge is asked
 * for its values with every reading, and may name them freely.
 */
class CountedHistogram extends Gauge {
  constructor(
    private readonly described: GaugeConfiguration<string>,
    private readonly latencies: LatencyMetric['latencies'],
  ) {
    super(described);
  }

  override async get(): Promise<Values> {
    const { name, help } = this.described;
    const values: (Values['values'][number] & { readonly metricName: string })[] = [];
    for (const [labels, { counts, sumMs }] of this.latencies()) {
      let sum = 0;
      for (const [bucket, count] of counts.entries()) {
        sum += count;
        const le = LATENCY_BOUNDS_SECONDS[bucket] ?? '+Inf';
        values.push({ metricName: `${name}_bucket`, labels: { ...labels, le }, value: sum });
      }
      values.push({ metricName: `${name}_sum`, labels: { ...labels }, value: sumMs / 1000 });
      values.push({ metricName: `${name}_count`, labels: { ...labels }, value: sum });
    }
    return { ...(await super.get()), name, help, type: 'histogram' as unknown as MetricType, values };
  }
}
