// POST /v1/hexcodes/encode/bulk and /decode/bulk: refuses a request before its body is read or starts its flow, and
// sweeps all flows periodically: those whose key is no longer active are ended.
import type { Kernel } from '../../hexcodes/kernel/kernel.js';
import { BlockBuffers } from '../../hexcodes/wire/bulk/block-buffers.js';
import { KernelSink } from '../../hexcodes/wire/bytes/kernel-sink.js';
import type { Operation } from '../../hexcodes/wire/job.js';
import { NO_FORMER } from '../../hexcodes/wire/params/parameters.js';
import { OVERLOADED_MESSAGE } from '../../hexcodes/wire/status-messages.js';
import type { Pool } from '../../pool/pool.js';
import { faultsMessage } from '../answers.js';
import type { KeyInfo } from '../keys/key-record.js';
import { failOverLimit } from '../ledger/limit-answers.js';
import type { Logger } from '../log.js';
import { fail, failUnavailable, type Router } from '../router.js';
import type { Exchange } from '../transport/exchange.js';
import { leastAnswerBytes } from './answer-size.js';
import type { BulkContext } from './context.js';
import { BulkFlow } from './flow.js';
import { BULK_TIMES, type BulkTimes } from './outlet.js';
import { readBulkRequest } from './request.js';
import { type SpoolLimits, Spools, tooLargeToHold } from './spool.js';

const SWEEP_MS = 250;
/** Time after which unneeded block buffers are freed. */
const TRIM_MS = 2000;

export interface BulkTuning extends BulkTimes {
  readonly sweepMs: number;
  readonly spool: SpoolLimits;
}

export class Bulk {
  readonly #flows = new Set<BulkFlow>();
  readonly #context: BulkContext;
  readonly #timer: NodeJS.Timeout;
  #trimmedMs = performance.now();

  constructor(
    kernel: Kernel,
    pool: Pool,
    dataDir: string,
    spool: SpoolLimits,
    logger: Logger,
    tuning: Partial<BulkTuning> = {},
  ) {
    this.#context = {
      kernel,
      pool,
      sink: new KernelSink(kernel),
      buffers: new BlockBuffers(),
      spools: new Spools(dataDir, tuning.spool ?? spool),
      times: { ...BULK_TIMES, ...tuning },
      logger,
    };
    this.#timer = setInterval(() => this.#sweep(), tuning.sweepMs ?? SWEEP_MS);
    this.#timer.unref();
  }

  /** Adds both routes. */
  open(router: Router): void {
    for (const operation of ['encode', 'decode'] as const) {
      router.add({
        path: `/v1/hexcodes/${operation}/bulk`,
        methods: ['POST'],
        access: 'bulk',
        operation: `${operation}_bulk`,
        handle: (x, key) => this.#handle(router, x, key, operation),
      });
    }
  }

  /** Bodies under way, and what of their answers waits on disk. */
  get figures(): { underWay: number; spooledBytes: number } {
    return { underWay: this.#flows.size, spooledBytes: this.#context.spools.totalBytes };
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #handle(router: Router, x: Exchange, key: KeyInfo, operation: Operation): void {
    const request = readBulkRequest(operation, {
      contentType: x.contentType,
      contentEncoding: x.header('content-encoding'),
      accept: x.accept,
      acceptEncoding: x.header('accept-encoding'),
      answer: x.answerTime,
      rawQuery: x.rawQuery,
    });
    const overQuota = x.entry?.key.quotaRefusal();
    const { spools } = this.#context;
    if ('status' in request) {
      const { status, message, faults } = request;
      fail(x, status, message, { close: true, ...(faults === undefined ? {} : { faults }) });
    } else if (request.request.former === true && this.#context.kernel.formerProvinces === null) {
      const faults = [{ parameter: 'former', message: NO_FORMER }];
      fail(x, 400, faultsMessage(faults), { close: true, faults });
    } else if (!this.#context.pool.mayBeginBody(key.id)) {
      failUnavailable(x, OVERLOADED_MESSAGE, true);
    } else if (overQuota !== undefined) {
      failOverLimit(x, overQuota, undefined, true);
    } else if (request.isHeld && leastAnswerBytes(request, x.bodySizeBytes) > spools.limits.requestBytes) {
      fail(x, 413, tooLargeToHold(spools.limits), { close: true });
    } else {
      x.hold(0);
      const work = router.workOf(x, key, 'bulk');
      const flow = new BulkFlow(x, work, request, this.#context, () => this.#flows.delete(flow));
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
