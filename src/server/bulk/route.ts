// POST /v1/hexcodes/encode/bulk and /decode/bulk: lets a request in or refuses it before its body is looked at, and
// gives all bodies under way their clock.
import type { Kernel } from '../../kernel/kernel.js';
import type { Pool } from '../../pool/pool.js';
import { trimBlockBuffers } from '../../wire/bulk/block-buffers.js';
import { KernelSink } from '../../wire/bytes/kernel-sink.js';
import type { Operation } from '../../wire/job.js';
import { OVERLOADED_MESSAGE } from '../../wire/status-messages.js';
import type { Logger } from '../log.js';
import { fail, failUnavailable, type Router } from '../router.js';
import type { Exchange } from '../transport/exchange.js';
import type { BulkRoom } from './context.js';
import { BulkFlow } from './flow.js';
import { BULK_TIMES, type BulkTimes } from './outlet.js';
import { readBulkAsk } from './request.js';
import { SPOOL_LIMITS, type SpoolLimits, Spools } from './spool.js';

/** Buffers that nobody needed for so long are let go. */
const TRIM_MS = 2000;

export interface BulkTuning extends BulkTimes {
  readonly sweepMs: number;
  readonly spool: SpoolLimits;
}

export class Bulk {
  readonly #flows = new Set<BulkFlow>();
  readonly #room: BulkRoom;
  readonly #timer: NodeJS.Timeout;
  #trimmedMs = performance.now();

  constructor(kernel: Kernel, pool: Pool, dataDir: string, logger: Logger, tuning: Partial<BulkTuning> = {}) {
    this.#room = {
      kernel,
      pool,
      sink: new KernelSink(kernel),
      spools: new Spools(dataDir, tuning.spool ?? SPOOL_LIMITS),
      times: { ...BULK_TIMES, ...tuning },
      refuse: (x, message) => fail(x, 400, message, { close: true }),
      spooling: (x) => logger.info({ request_id: x.requestId, route: x.pattern }, 'an answer is spooled'),
      cutOff: (x, error) => {
        logger.warn(
          { request_id: x.requestId, route: x.pattern, reason: error.message },
          'an answer was cut off',
        );
        if (x.state === 'open') fail(x, 500, 'internal error', { close: true });
        else x.abort();
      },
      over: (flow) => this.#flows.delete(flow),
    };
    this.#timer = setInterval(() => this.#sweep(), tuning.sweepMs ?? 250);
    this.#timer.unref();
  }

  /** Adds both routes. */
  open(router: Router): void {
    for (const operation of ['encode', 'decode'] as const) {
      router.add({
        path: `/v1/hexcodes/${operation}/bulk`,
        methods: ['POST'],
        access: 'key',
        handle: (x) => this.#handle(x, operation),
      });
    }
  }

  get size(): number {
    return this.#flows.size;
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #handle(x: Exchange, operation: Operation): void {
    const ask = readBulkAsk(operation, {
      contentType: x.contentType,
      contentEncoding: x.header('content-encoding'),
      accept: x.accept,
      acceptEncoding: x.header('accept-encoding'),
      rawQuery: x.rawQuery,
    });
    if ('status' in ask) {
      const { status, message, faults } = ask;
      fail(x, status, message, { close: true, ...(faults === undefined ? {} : { faults }) });
    } else if (!this.#room.pool.mayBeginBody) {
      failUnavailable(x, OVERLOADED_MESSAGE, true);
    } else {
      this.#flows.add(new BulkFlow(x, ask, this.#room));
    }
  }

  #sweep(): void {
    const nowMs = performance.now();
    for (const flow of [...this.#flows]) flow.sweep(nowMs);
    if (nowMs - this.#trimmedMs < TRIM_MS) return;
    this.#trimmedMs = nowMs;
    trimBlockBuffers();
  }
}
