// Takes parts that the bus hands out: converts each, stores the result and only then accepts it. A part that cannot be converted
// has its reason as result, and is not handed out again.
import { setTimeout as sleep } from 'node:timers/promises';
import { type Received, StoreFault } from '../../../engine/engine.js';
import type { JobPart, JobPlan, PartOutput, PartResult } from '../../../engine/jobs/job.js';
import type { JobStore } from '../../../engine/jobs/job-store.js';
import { PatientStore } from '../../../engine/patient-store.js';
import type { Hexcodes } from '../../../library/hexcodes.js';
import { VERSION } from '../../../version.js';
import type { SharedFolder } from '../shared-folder.js';
import { convertPart, LastingFailure } from './convert-part.js';

export interface PartWorkerOptions {
  /** A word that no other worker has. */
  readonly id: string;
  /** A part is converted so often before it has failed. */
  readonly tries: number;
  /** How often the bus is told that a part is still worked on. */
  readonly keepEveryMs: number;
  /** Called with sentences for people. */
  readonly say: (sentence: string) => void;
  /** Gives the part that is under way back. */
  readonly signal: AbortSignal;
}

export interface PartFigures {
  parts: number;
  rows: number;
  failedRows: number;
  failedParts: number;
  redelivered: number;
  already: number;
}

const MOST_REASON = 1000;
const RETRY_MS = 1000;
/** A part for another version, or met while the bus was away, is handed out again after so long. */
const RETURN_MS = 5000;
const OTHER_VERSION_MS = 30_000;

/** The bus is away: no fault of the part. */
class BusFault extends Error {
  override readonly name = 'BusFault';
}

export class PartWorker {
  readonly figures: PartFigures = {
    ...{ parts: 0, rows: 0, failedRows: 0, failedParts: 0, redelivered: 0, already: 0 },
  };
  readonly #hexcodes: Hexcodes;
  readonly #shared: SharedFolder;
  readonly #jobs: JobStore;
  readonly #options: PartWorkerOptions;
  readonly #plans = new Map<string, JobPlan>();

  constructor(hexcodes: Hexcodes, shared: SharedFolder, jobs: JobStore, options: PartWorkerOptions) {
    this.#hexcodes = hexcodes;
    this.#shared = shared;
    this.#jobs = jobs;
    this.#options = options;
  }

  /** @returns whether a result was stored; it throws nothing */
  async take(received: Received): Promise<boolean> {
    const { say, signal } = this.#options;
    if (received.deliveries > 1) this.figures.redelivered++;
    try {
      const part = JSON.parse(new TextDecoder().decode(received.bytes)) as JobPart;
      return await this.#work(part, received);
    } catch (error) {
      // The bus is away, or the message is no part; whatever it is, the worker goes on.
      if (!signal.aborted) say(`${received.place}: ${(error as Error).message}`);
      received.giveBack(signal.aborted ? 0 : RETURN_MS);
      return false;
    }
  }

  async #work(part: JobPart, received: Received): Promise<boolean> {
    const { say, signal } = this.#options;
    const plan = await this.#planOf(part.job);
    if (plan === undefined) {
      say(`job ${part.job} has no plan: its part ${part.part} is left out`);
      received.accept();
      return false;
    }
    if (await this.#isSettled(part)) {
      this.figures.already++;
      received.accept();
      return false;
    }
    if (plan.version !== VERSION) {
      say(
        `job ${plan.id} is for version ${plan.version} of hexcodes: part ${part.part} is left to its workers; hexcodes job cancel ${plan.id} where there are none`,
      );
      received.giveBack(OTHER_VERSION_MS);
      return false;
    }
    const startedMs = performance.now();
    const made = await this.#convert(plan, part, received);
    if (made === 'given back') {
      received.giveBack(0);
      return false;
    }
    if (made === 'settled') {
      this.figures.already++;
      received.accept();
      return false;
    }
    const result: PartResult = {
      ...{ part: part.part, input: part.input, range: part.range, inputBytes: part.sizeBytes },
      ...{ elapsedMs: Math.round(performance.now() - startedMs), worker: this.#options.id },
      ...made,
    };
    const stored = await this.#store(part.job, result, received);
    if (stored === undefined) {
      received.giveBack(0);
      return false;
    }
    this.#count(result, stored);
    received.accept();
    if (result.reason !== null && !signal.aborted)
      say(`job ${part.job}, part ${part.part} has failed: ${result.reason}`);
    return true;
  }

  async #planOf(job: string): Promise<JobPlan | undefined> {
    const known = this.#plans.get(job);
    if (known !== undefined) return known;
    const plan = (await this.#jobs.planOf(job))?.plan;
    if (plan !== undefined) this.#plans.set(job, plan);
    return plan;
  }

  /** Whether nothing is to be done: another worker has, or the job is cancelled. */
  async #isSettled({ job, part }: JobPart): Promise<boolean> {
    const [hasResult, isCancelled] = await Promise.all([
      this.#jobs.hasResult(job, part),
      this.#jobs.isCancelled(job),
    ]);
    return hasResult || isCancelled;
  }

  async #convert(
    plan: JobPlan,
    part: JobPart,
    received: Received,
  ): Promise<Pick<PartResult, 'output' | 'reason'> | 'settled' | 'given back'> {
    const { id, tries, signal: stopped } = this.#options;
    const cancelled = new AbortController();
    const signal = AbortSignal.any([stopped, cancelled.signal]);
    const keeping = this.#keep(part, received, cancelled);
    try {
      for (let tried = 1; ; tried++) {
        let output: PartOutput | null;
        try {
          const mayFinish = async (): Promise<boolean> => {
            const isSettled = await this.#isSettled(part).catch((cause: Error) => {
              throw new BusFault(cause.message, { cause });
            });
            return !isSettled;
          };
          output = await convertPart(this.#hexcodes, this.#shared, id, { plan, part, signal, mayFinish });
          return output === null ? 'settled' : { output, reason: null };
        } catch (error) {
          if (error instanceof BusFault) throw error;
          if (stopped.aborted) return 'given back';
          if (cancelled.signal.aborted || (await this.#isSettled(part))) return 'settled';
          if (tried >= tries || error instanceof LastingFailure)
            return { output: null, reason: (error as Error).message.slice(0, MOST_REASON) };
        }
        await sleep(RETRY_MS, undefined, { signal }).catch(() => undefined);
      }
    } finally {
      clearInterval(keeping);
    }
  }

  /** Tells the bus that the part is worked on, and looks whether its job is cancelled. */
  #keep(part: JobPart, received: Received, cancelled: AbortController): NodeJS.Timeout {
    return setInterval(() => {
      received.keep();
      this.#jobs.isCancelled(part.job).then(
        (isCancelled) => {
          if (isCancelled) cancelled.abort();
        },
        () => undefined,
      );
    }, this.#options.keepEveryMs);
  }

  /** @returns undefined where the worker was stopped before it was stored */
  async #store(
    job: string,
    result: PartResult,
    received: Received,
  ): Promise<'stored' | 'already' | undefined> {
    const { say, signal, keepEveryMs } = this.#options;
    const keeping = setInterval(() => received.keep(), keepEveryMs);
    const patient = new PatientStore({
      store: () => this.#jobs.addResult(job, result),
      ...{ deadPrefix: '', say, signal },
    });
    try {
      const { subject, id, headers } = received;
      const stored = await patient.store({ subject, id, headers, bytes: new Uint8Array(0) });
      if (stored instanceof StoreFault) throw stored;
      return stored;
    } finally {
      clearInterval(keeping);
    }
  }

  #count({ output }: PartResult, stored: 'stored' | 'already'): void {
    const { figures } = this;
    if (stored === 'already') {
      figures.already++;
      return;
    }
    figures.parts++;
    if (output === null) figures.failedParts++;
    figures.rows += output?.rows ?? 0;
    for (const count of Object.values(output?.failed ?? {})) figures.failedRows += count;
  }
}
