// POST /v1/hexcodes/encode/bulk and /decode/bulk: refuses a request before its body is read or starts its flow, and
// sweeps all flows periodically: those whose key is no longer active are ended.
import type { Kernel } from '../../kernel/kernel.js';
import type { KeyInfo } from '../../keys/key-record.js';
import type { KeyRing } from '../../keys/key-ring.js';
import type { Pool } from '../../pool/pool.js';
import { BlockBuffers } from '../../wire/bulk/block-buffers.js';
import { KernelSink } from '../../wire/bytes/kernel-sink.js';
import type { Operation } from '../../wire/job.js';
import { NO_FORMER } from '../../wire/params/parameters.js';
import { OVERLOADED_MESSAGE } from '../../wire/status-messages.js';
import { faultsMessage } from '../answers.js';
import { failOverLimit } from '../limits/limit-answers.js';
import type { Logger } from '../log.js';
import { fail, failUnavailable, type Router } from '../router.js';
import type { Exchange } from '../transport/exchange.js';
import type { BulkContext } from './context.js';
import { BulkFlow } from './flow.js';
import { BULK_TIMES, type BulkTimes } from './outlet.js';
import { readBulkRequest } from './request.js';
import { SPOOL_LIMITS, type SpoolLimits, Spools } from './spool.js';

const SWEEP_MS = 250;
/** Block buffers that were not needed for so long are freed. */
const TRIM_MS = 2000;

export interface BulkTuning extends BulkTimes {
  readonly sweepMs: number;
  readonly spool: SpoolLimits;
}

export class Bulk {
  readonly #flows = new Set<BulkFlow>();
  readonly #context: BulkContext;
  readonly #ring: KeyRing;
  readonly #timer: NodeJS.Timeout;
  #trimmedMs = performance.now();

  constructor(
    kernel: Kernel,
    pool: Pool,
    ring: KeyRing,
    dataDir: string,
    logger: Logger,
    tuning: Partial<BulkTuning> = {},
  ) {
    this.#ring = ring;
    this.#context = {
      kernel,
      pool,
      sink: new KernelSink(kernel),
      buffers: new BlockBuffers(),
      spools: new Spools(dataDir, tuning.spool ?? SPOOL_LIMITS),
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
        handle: (x, key) => this.#handle(x, key, operation),
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

  #handle(x: Exchange, key: KeyInfo, operation: Operation): void {
    const request = readBulkRequest(operation, {
      contentType: x.contentType,
      contentEncoding: x.header('content-encoding'),
      accept: x.accept,
      acceptEncoding: x.header('accept-encoding'),
      rawQuery: x.rawQuery,
    });
    const overQuota = x.meter?.quotaRefusal();
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
    } else {
      x.hold(0);
      const flow = new BulkFlow(x, key, request, this.#context, () => this.#flows.delete(flow));
      this.#flows.add(flow);
    }
  }

  #sweep(): void {
    const nowMs = performance.now();
    for (const flow of [...this.#flows]) {
      if (this.#ring.current(flow.key, 'bulk') === undefined) flow.revoke();
      else flow.sweep(nowMs);
    }
    if (nowMs - this.#trimmedMs < TRIM_MS) return;
    this.#trimmedMs = nowMs;
    this.#context.buffers.trim();
  }
}
