// Spans of requests for an OpenTelemetry collector, by OTLP over HTTP. The packages of OpenTelemetry are optional and
// loaded only when an endpoint is set. A span is made when its request is over, so that no request waits for one, and
// for few of them: those whose caller records a trace, and a share of those whose caller says nothing.
import { setTimeout as sleep } from 'node:timers/promises';
import type { SpanContext } from '@opentelemetry/api';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace';
import { holdsKey } from '../../config/mask.js';
import { VERSION } from '../../hexcodes/version.js';
import { readApiKey } from '../../hexcodes/wire/params/query.js';
import type { ClientAddresses, Exchange } from '../http/exchange.js';
import { isOurMethod } from './metrics/request-counts.js';
import { readTraceparent, readTracestate, type SpanIds, type TraceContext } from './request-log.js';

/** Records the spans of some requests. */
export interface Tracer {
  /** Records a request that is over; its span ids, undefined if it is not traced. */
  record(x: Exchange, nowMs: number): SpanIds | undefined;
  close(): Promise<void>;
}

export interface TracerOptions {
  /** Spans are posted to `/v1/traces` below it. */
  readonly endpoint: string;
  /** Share of traced requests among those whose caller sends no traceparent. */
  readonly ratio: number;
  readonly clients: ClientAddresses;
  /** Called when spans could not be handed over. */
  readonly failed: (reason: string) => void;
}

/** A collector that is slow or away loses spans, not requests. */
const MAX_WAITING_SPANS = 2048;
const EXPORT_TIMEOUT_MS = 10_000;
/** A stop does not wait longer for the collector. */
const CLOSE_TIMEOUT_MS = 2000;
/** Callers that record everything cannot make this service spend all its time on spans. */
const MAX_SPANS_PER_SECOND = 500;

type ExportDone = Parameters<SpanExporter['export']>[1];

/** Rejects with a sentence if the packages are not installed. */
export async function openTracer({ endpoint, ratio, clients, failed }: TracerOptions): Promise<OtlpTracer> {
  try {
    const [api, sdk, otlp, resources] = await Promise.all([
      import('@opentelemetry/api'),
      import('@opentelemetry/sdk-trace'),
      import('@opentelemetry/exporter-trace-otlp-http'),
      import('@opentelemetry/resources'),
    ]);
    const exporter = new otlp.OTLPTraceExporter({ url: `${endpoint}/v1/traces` });
    const provider = new sdk.TracerProvider({
      resource: resources.resourceFromAttributes({ 'service.name': 'hexcodes', 'service.version': VERSION }),
      sampler: new sdk.AlwaysOnSampler(),
      spanProcessors: [
        new sdk.BatchSpanProcessor({
          exporter: reporting(exporter, failed),
          maxQueueSize: MAX_WAITING_SPANS,
          exportTimeoutMillis: EXPORT_TIMEOUT_MS,
        }),
      ],
    });
    return new OtlpTracer(api, provider, ratio, clients);
  } catch (error) {
    throw new Error(
      `an endpoint for traces is set, but the packages of OpenTelemetry do not load: ${(error as Error).message}`,
    );
  }
}

type Api = typeof import('@opentelemetry/api');
type Provider = InstanceType<typeof import('@opentelemetry/sdk-trace').TracerProvider>;

class OtlpTracer implements Tracer {
  readonly #tracer: ReturnType<Provider['getTracer']>;
  #secondMs = 0;
  #spansOfSecond = 0;

  constructor(
    private readonly api: Api,
    private readonly provider: Provider,
    private readonly ratio: number,
    private readonly clients: ClientAddresses,
  ) {
    this.#tracer = provider.getTracer('hexcodes', VERSION);
  }

  /** Whose child the span is, if there is to be one. */
  #parentOf(x: Exchange, nowMs: number): TraceContext | 'new' | undefined {
    if (nowMs - this.#secondMs >= 1000) {
      this.#secondMs = nowMs;
      this.#spansOfSecond = 0;
    }
    if (this.#spansOfSecond >= MAX_SPANS_PER_SECOND) return undefined;
    const caller = x.head.traceparent === '' ? undefined : readTraceparent(x.head.traceparent);
    if (caller !== undefined) return caller.isSampled ? caller : undefined;
    return Math.random() < this.ratio ? 'new' : undefined;
  }

  record(x: Exchange, nowMs: number): SpanIds | undefined {
    const wanted = this.#parentOf(x, nowMs);
    if (wanted === undefined) return undefined;
    this.#spansOfSecond++;
    const { SpanKind, SpanStatusCode, ROOT_CONTEXT, trace } = this.api;
    const parent =
      wanted === 'new' ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, this.#callerOf(x, wanted));
    // Collectors make series of names: those of clients are one, as OpenTelemetry writes it.
    const method = isOurMethod(x.head.method) ? x.head.method : '_OTHER';
    // The clock of the machine may have been moved since the start.
    const endMs = Date.now();
    const options = {
      kind: SpanKind.SERVER,
      startTime: endMs - (nowMs - x.startedMs),
      // Neither the path nor the query: they may hold a key or a position.
      attributes: {
        'http.request.method': method,
        'http.route': x.head.pattern,
        'url.scheme': 'http',
        'client.address': this.clients.of(x),
        'http.request.body.size': x.bytesIn,
        'http.response.body.size': x.bytesOut,
        'hexcodes.request_id': x.head.requestId,
        'hexcodes.points': x.notes.entry?.points ?? 0,
        ...(x.keyId === '' ? {} : { 'hexcodes.key_id': x.keyId }),
        ...(x.status === 0 ? {} : { 'http.response.status_code': x.status }),
      },
    };
    const name = `${method.replace('_OTHER', 'HTTP')} ${x.head.pattern}`;
    const span = this.#tracer.startSpan(name, options, parent);
    if (x.status >= 500 || !x.isComplete) {
      span.setAttribute('error.type', x.isComplete ? String(x.status) : 'closed');
      span.setStatus({ code: SpanStatusCode.ERROR });
    }
    span.end(endMs);
    const { traceId, spanId } = span.spanContext();
    return { traceId, spanId };
  }

  #callerOf(x: Exchange, { traceId, parentId }: TraceContext): SpanContext {
    const { TraceFlags, createTraceState } = this.api;
    const caller: SpanContext = { traceId, spanId: parentId, traceFlags: TraceFlags.SAMPLED, isRemote: true };
    const state = readTracestate(x.head.tracestate);
    if (state === '' || holdsKey(state, [readApiKey(x.head.rawQuery), x.head.apiKey])) return caller;
    return { ...caller, traceState: createTraceState(state) };
  }

  /** Hands over what waits, as far as the collector takes it in time. */
  async close(): Promise<void> {
    const isOver = sleep(CLOSE_TIMEOUT_MS, undefined, { ref: false });
    await Promise.race([this.provider.shutdown().catch(() => {}), isOver]);
  }
}

/** The exporter, with a word about what it cannot hand over. */
function reporting(exporter: SpanExporter, failed: (reason: string) => void): SpanExporter {
  return {
    export: (spans: ReadableSpan[], done: ExportDone) =>
      exporter.export(spans, (result) => {
        if (result.code !== 0) failed(result.error?.message ?? 'the collector refused them');
        done(result);
      }),
    forceFlush: async () => exporter.forceFlush?.(),
    shutdown: () => exporter.shutdown(),
  };
}
