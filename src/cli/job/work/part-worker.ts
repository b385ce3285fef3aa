// Takes parts that the bus hands out: converts each, stores the result and only then accepts it. A part that cannot be
// converted has its reason as result, and is not handed out again.
import { setTimeout as sleep } from 'node:timers/promises';
import { Durations } from '../../../bus/durations.js';
import { type Received, type Stored, StoreFault } from '../../../bus/engine.js';
import type { JobPart, JobPlan, JobSubjects, PartOutput, PartResult } from '../../../bus/jobs/job.js';
import type { JobStore } from '../../../bus/jobs/job-store.js';
import { MOST_REASON, readPart, requirePartOf } from '../../../bus/jobs/read-job.js';
import { PatientStore } from '../../../bus/patient-store.js';
import { SchemaFault } from '../../../bus/schema.js';
import type { Hexcodes } from '../../../hexcodes/library/hexcodes.js';
import { VERSION } from '../../../hexcodes/version.js';
import { JOB_CHECKS } from '../job-conversion.js';
import type { SharedFolder } from '../shared-folder.js';
import { convertPart } from './convert-part.js';
import { LastingFailure } from './scratch.js';

export interface PartWorkerOptions {
  /** A word that no other worker has. */
  readonly id: string;
  /** Subjects by which parts are known. */
  readonly subjects: JobSubjects;
  /** Conversions of a part before it has failed. */
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
  /** Messages that were no parts. */
  dead: number;
  readonly times: Durations;
}

const RETRY_MS = 1000;
/** Delay before a part for another version, or met while the bus was away, is handed out again. */
const RETURN_MS = 5000;
const OTHER_VERSION_MS = 30_000;
/** Plans that are kept. */
const MOST_PLANS = 64;

/** The bus is away: no fault of the part. */
class BusFault extends Error {
  override readonly name = 'BusFault';
}

export class PartWorker {
  readonly figures: PartFigures = {
    ...{ parts: 0, rows: 0, failedRows: 0, failedParts: 0, redelivered: 0, already: 0, dead: 0 },
    times: new Durations(),
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
    const startedMs = performance.now();
    try {
      return await this.#work(received);
    } catch (error) {
      // The bus is away, or the message is no part; whatever it is, the worker goes on.
      if (error instanceof SchemaFault && (await this.#bury(received, error.message))) return false;
      if (!signal.aborted) say(`${received.origin}: ${(error as Error).message}`);
      received.giveBack(signal.aborted ? 0 : RETURN_MS);
      return false;
    } finally {
      this.figures.times.add(performance.now() - startedMs);
    }
  }

  /** @returns whether the message is done with: also where the stream is full, as the message itself stays in it */
  async #bury(received: Received, reason: string): Promise<boolean> {
    const { say } = this.#options;
    const kept = await this.#jobs.bury(received, reason).then(
      () => '',
      (error: Error) => {
        if (error instanceof StoreFault && error.kind === 'full') return ', which cannot be stored';
        say(`${received.origin}: ${error.message}`);
        return undefined;
      },
    );
    if (kept === undefined) return false;
    say(`dead letter${kept}: ${received.origin} (${received.subject}): ${reason}`);
    this.figures.dead++;
    received.accept();
    return true;
  }

  async #work(received: Received): Promise<boolean> {
    const { say, signal, subjects } = this.#options;
    if (received.damage !== undefined) throw new SchemaFault(received.damage);
    const named = subjects.partIn(received.subject);
    if (named === undefined) throw new SchemaFault('its subject is that of no part of a job');
    const { job, part: number } = named;
    const read = (): JobPart => readPart(job, number, received.bytes, JOB_CHECKS);
    const plan = await this.#planOf(job);
    if (plan === undefined) {
      read();
      say(`job ${job} has no plan: its part ${number} is left out`);
      received.accept();
      return false;
    }
    if (await this.#isSettled(named)) {
      this.figures.already++;
      received.accept();
      return false;
    }
    if (plan.version !== VERSION) {
      say(
        `job ${job} is for version ${plan.version} of hexcodes: part ${number} is left to its workers; hexcodes job cancel ${job} where there are none`,
      );
      received.giveBack(OTHER_VERSION_MS);
      return false;
    }
    const part = read();
    requirePartOf(plan, part);
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
      ...{ job, part: number, input: part.input, range: part.range, inputBytes: part.sizeBytes },
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
    const plan = await this.#jobs.planOf(job).then(
      (stored) => stored?.plan,
      (error: Error) => {
        if (!(error instanceof SchemaFault)) throw error;
        throw new SchemaFault(`the plan of its job is none: ${error.message}`, { cause: error });
      },
    );
    if (plan === undefined) return undefined;
    if (this.#plans.size >= MOST_PLANS) this.#plans.clear();
    this.#plans.set(job, plan);
    return plan;
  }

  /** Whether nothing is to be done: another worker has, or the job is cancelled. */
  async #isSettled({ job, part }: Pick<JobPart, 'job' | 'part'>): Promise<boolean> {
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
            return { output: null, reason: reasonIn(error as Error) };
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
  async #store(job: string, result: PartResult, received: Received): Promise<Stored | undefined> {
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

  #count({ output }: PartResult, stored: Stored): void {
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

/** Whole characters of a message, as many as a result may have. */
const reasonIn = ({ message }: Error): string =>
  message
    .slice(0, MOST_REASON)
    .replace(/\p{Surrogate}/gu, '')
    .trim() || 'there is no reason';
