// POST /v1/hexcodes/encode/bulk and /decode/bulk: refuses a request before its body is read or starts its flow, and
// sweeps all flows periodically: those whose key is no longer active are ended.

import { extraFault } from '../../hexcodes/extras.js';
import type { Kernel } from '../../hexcodes/kernel/kernel.js';
import { BlockBuffers } from '../../hexcodes/wire/bulk/splitters.js';
import { KernelSink } from '../../hexcodes/wire/bytes/byte-sink.js';
import { type Operation, OVERLOADED_MESSAGE } from '../../hexcodes/wire/job.js';
import type { Pool } from '../../pool/pool.js';
import { faultsMessage } from '../http/answers.js';
import type { Exchange } from '../http/exchange.js';
import { fail, failUnavailable, type Route, type Router } from '../http/router.js';
import type { KeyInfo } from '../keys/key-record.js';
import { failOverLimit } from '../ledger/limit-answers.js';
import type { Logger } from '../observe/log.js';
import { filesBeside } from '../transport/limits.js';
import { BulkFlow, minAnswerBytes } from './flow.js';
import { readBulkRequest } from './request.js';
import { BULK_TIMES, type BulkContext, type BulkTimes } from './response.js';
import { type SpoolLimits, Spools, tooLargeToHold } from './spool.js';

const SWEEP_MS = 250;
/** Time after which unneeded block buffers are freed. */
const TRIM_MS = 2000;

export interface BulkTuning extends BulkTimes {
  readonly sweepMs: number;
  readonly spool: Partial<SpoolLimits>;
}

interface BulkDeps {
  readonly router: Pick<Router, 'workOf'>;
  readonly kernel: Kernel;
  readonly pool: Pool;
  readonly previous: { readonly kernel: Kernel; readonly pool: Pool } | undefined;
  readonly config: {
    readonly dataDir: string;
    readonly spoolRequestBytes: number;
    readonly spoolBytes: number;
    readonly maxConnections: number;
  };
  readonly logger: Logger;
  readonly tuning: { readonly bulk?: Partial<BulkTuning> };
}

export class Bulk {
  readonly #flows = new Set<BulkFlow>();
  readonly #context: BulkContext;
  /** The context of the boundary data before a change of borders. */
  readonly #previous: BulkContext | undefined;
  readonly #timer: NodeJS.Timeout;
  #trimmedMs = performance.now();

  readonly #router: Pick<Router, 'workOf'>;

  constructor({ router, kernel, pool, previous, config, logger, tuning: { bulk: tuning = {} } }: BulkDeps) {
    const spool = {
      requestBytes: config.spoolRequestBytes,
      totalBytes: config.spoolBytes,
      files: filesBeside(config.maxConnections),
    };
    this.#router = router;
    this.#context = {
      kernel,
      pool,
      sink: new KernelSink(kernel),
      buffers: new BlockBuffers(),
      spools: new Spools(config.dataDir, { ...spool, ...tuning.spool }),
      times: { ...BULK_TIMES, ...tuning },
      logger,
    };
    this.#previous = previous && {
      ...this.#context,
      kernel: previous.kernel,
      pool: previous.pool,
      sink: new KernelSink(previous.kernel),
    };
    this.#timer = setInterval(() => this.#sweep(), tuning.sweepMs ?? SWEEP_MS);
    this.#timer.unref();
  }

  /** The routes by the current boundary data, and by those before. */
  get routes(): Route[][] {
    return [this.#context, this.#previous].flatMap((context) => (context ? [this.#routesBy(context)] : []));
  }

  #routesBy(context: BulkContext): Route[] {
    return (['encode', 'decode'] as const).map((operation) => ({
      path: `/v1/hexcodes/${operation}/bulk`,
      methods: ['POST'],
      access: 'bulk',
      operation: `${operation}_bulk`,
      handle: (x, key) => this.#handle(x, key, operation, context),
    }));
  }

  /** Bodies under way, and the bytes of their answers that wait on disk. */
  get figures(): { underWay: number; spooledBytes: number } {
    return { underWay: this.#flows.size, spooledBytes: this.#context.spools.totalBytes };
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #handle(x: Exchange, key: KeyInfo, operation: Operation, context: BulkContext): void {
    const request = readBulkRequest(operation, {
      contentType: x.head.contentType,
      contentEncoding: x.head.contentEncoding,
      accept: x.head.accept,
      acceptEncoding: x.head.header('accept-encoding'),
      answer: x.head.answerTime,
      rawQuery: x.head.rawQuery,
    });
    if (!('status' in request) && request.hint !== '') x.notes.hint = `\r\nHexcodes-Hint: ${request.hint}`;
    const overQuota = x.notes.entry?.key.quotaRefusal();
    const { spools } = context;
    const missing = 'status' in request ? undefined : extraFault(request.extras, context.kernel);
    if ('status' in request) {
      const { status, message, faults } = request;
      fail(x, status, message, { close: true, ...(faults === undefined ? {} : { faults }) });
    } else if (missing !== undefined) {
      fail(x, 400, faultsMessage([missing]), { close: true, faults: [missing] });
    } else if (!context.pool.mayBeginBody(key.id)) {
      failUnavailable(x, OVERLOADED_MESSAGE, true);
    } else if (overQuota !== undefined) {
      failOverLimit(x, overQuota, undefined, true);
    } else if (request.isHeld && minAnswerBytes(request, x.head.bodySizeBytes) > spools.limits.requestBytes) {
      fail(x, 413, tooLargeToHold(spools.limits), { close: true });
    } else {
      x.hold(0);
      const work = this.#router.workOf(x, key, 'bulk');
      const flow = new BulkFlow(x, work, request, context, () => this.#flows.delete(flow));
      this.#flows.add(flow);
    }
  }

  #sweep(): void {
    const nowMs = performance.now();
    for (const flow of [...this.#flows]) {
      const { fault } = flow.work;
      if (fault !== undefined) flow.revoke(fault);
      else flow.sweep(nowMs);
    }
    if (nowMs - this.#trimmedMs < TRIM_MS) return;
    this.#trimmedMs = nowMs;
    this.#context.buffers.trim();
  }
}
