// Jobs on NATS JetStream, in one stream that holds one message a subject.
import {
  JetStreamApiError,
  type JetStreamClient,
  type JetStreamManager,
  jetstream,
} from '@nats-io/jetstream';
import { errors, type NatsConnection } from '@nats-io/transport-node';
import { type Stored, StoreFault } from '../engine.js';
import { type JobPart, type JobPlan, JobSubjects, type PartResult } from '../jobs/job.js';
import type { JobEnd, JobStore, KnownJob, StoredPlan, StoredResult } from '../jobs/job-store.js';
import {
  type ConversionChecks,
  isJobId,
  isMark,
  readEnd,
  readPart,
  readPlan,
  readResult,
} from '../jobs/read-job.js';
import { type DeadMessage, deadLetter, emptyDeadLetter } from '../patient-store.js';
import { JOB_CONSUMER } from './job-stream.js';
import { storeFaultOf, storeMessage } from './store-message.js';

const STORE_TIMEOUT_MS = 5000;
const READ_AT_ONCE = 64;
/** Errors of a connection that comes back, and of servers that have just started. */
const PASSING = [errors.TimeoutError, errors.RequestError, errors.ConnectionError];

export class NatsJobs implements JobStore {
  readonly #nc: NatsConnection;
  readonly #client: JetStreamClient;
  readonly #jsm: JetStreamManager;
  readonly #stream: string;
  readonly #subjects: JobSubjects;
  readonly #checks: ConversionChecks;
  /** Subjects of marks that were looked at and are such. */
  readonly #marks = new Set<string>();

  constructor(
    nc: NatsConnection,
    jsm: JetStreamManager,
    stream: string,
    prefix: string,
    checks: ConversionChecks,
  ) {
    this.#nc = nc;
    this.#client = jetstream(nc);
    this.#jsm = jsm;
    this.#stream = stream;
    this.#subjects = new JobSubjects(prefix);
    this.#checks = checks;
  }

  addPlan(plan: JobPlan): Promise<Stored> {
    return this.#add(this.#subjects.of('plan', plan.id), plan);
  }

  addPart(part: JobPart): Promise<Stored> {
    return this.#add(this.#subjects.ofPart('part', part.job, part.part), part);
  }

  addResult(job: string, result: PartResult): Promise<Stored> {
    return this.#add(this.#subjects.ofPart('result', job, result.part), result);
  }

  async markCancelled(job: string): Promise<Stored> {
    const stored = await this.#add(this.#subjects.of('cancelled', job), {});
    if (stored === 'stored' || (await this.isCancelled(job))) return stored;
    // Another message is in the way.
    await this.unmark('cancelled', job);
    return this.#add(this.#subjects.of('cancelled', job), {});
  }

  async markEnded(job: string, end: JobEnd | undefined): Promise<Stored> {
    const subject = this.#subjects.of('ended', job);
    const stored = await this.#add(subject, { end });
    if (stored === 'already' && !(await this.#isMarked('ended', job)))
      throw new Error(
        `the message under ${subject} is no mark of its end: hexcodes job retry ${job} removes it`,
      );
    return stored;
  }

  async unmark(kind: 'cancelled' | 'ended', job: string): Promise<void> {
    this.#marks.delete(this.#subjects.of(kind, job));
    await this.#drop(this.#subjects.of(kind, job));
  }

  async bury(message: DeadMessage, reason: string): Promise<void> {
    const { dead } = this.#subjects;
    try {
      await storeMessage(this.#client, deadLetter(message, dead, reason));
    } catch (error) {
      if (!(error instanceof StoreFault) || error.kind !== 'too-large') throw error;
      await storeMessage(this.#client, emptyDeadLetter(message, dead, reason));
    }
  }

  async jobs(): Promise<KnownJob[]> {
    const [plans, cancelled, ended] = await Promise.all([
      this.#lastWords(this.#subjects.of('plan', '*')),
      this.#marked('cancelled'),
      this.#marked('ended'),
    ]);
    return [...plans]
      .filter(isJobId)
      .map((id) => ({ id, isCancelled: cancelled.has(id), isEnded: ended.has(id) }));
  }

  async planOf(job: string): Promise<StoredPlan | undefined> {
    const found = await this.#get(this.#subjects.of('plan', job));
    return found === undefined
      ? undefined
      : { plan: readPlan(job, found.bytes, this.#checks), atMs: found.atMs };
  }

  async endOf(job: string): Promise<JobEnd | undefined> {
    const found = await this.#get(this.#subjects.of('ended', job));
    return found === undefined ? undefined : readEnd(found.bytes)?.end;
  }

  async partOf(job: string, part: number): Promise<JobPart | undefined> {
    const found = await this.#get(this.#subjects.ofPart('part', job, part));
    return found === undefined ? undefined : readPart(job, part, found.bytes, this.#checks);
  }

  isCancelled(job: string): Promise<boolean> {
    return this.#isMarked('cancelled', job);
  }

  async hasResult(job: string, part: number): Promise<boolean> {
    return (await this.#get(this.#subjects.ofPart('result', job, part))) !== undefined;
  }

  resultNumbers(job: string): Promise<Set<number>> {
    return this.#numbers(this.#subjects.ofPart('result', job, '*'));
  }

  partNumbers(job: string): Promise<Set<number>> {
    return this.#numbers(this.#subjects.ofPart('part', job, '*'));
  }

  async results(job: string, known?: ReadonlyMap<number, StoredResult>): Promise<StoredResult[]> {
    const numbers = [...(await this.resultNumbers(job))].sort((a, b) => a - b);
    return this.resultsOf(job, numbers, known);
  }

  async resultsOf(
    job: string,
    parts: readonly number[],
    known: ReadonlyMap<number, StoredResult> = new Map(),
  ): Promise<StoredResult[]> {
    const stored: StoredResult[] = [];
    const read = async (number: number): Promise<StoredResult | undefined> => {
      const found = await this.#get(this.#subjects.ofPart('result', job, number));
      // Dropped meanwhile.
      if (found === undefined) return undefined;
      return { result: readResult(job, number, found.bytes), atMs: found.atMs };
    };
    for (let at = 0; at < parts.length; at += READ_AT_ONCE) {
      const some = parts.slice(at, at + READ_AT_ONCE);
      const found = await Promise.all(some.map((number) => known.get(number) ?? read(number)));
      stored.push(...found.filter((each) => each !== undefined));
    }
    return stored;
  }

  dropParts(job: string, part: number | '*' = '*'): Promise<void> {
    return this.#drop(this.#subjects.ofPart('part', job, part));
  }

  dropResult(job: string, part: number): Promise<void> {
    return this.#drop(this.#subjects.ofPart('result', job, part));
  }

  async underWay(): Promise<{ readonly taken: number; readonly waiting: number }> {
    const { num_ack_pending, num_pending } = await this.#jsm.consumers.info(this.#stream, JOB_CONSUMER);
    return { taken: num_ack_pending, waiting: num_pending };
  }

  isPassing(error: unknown): boolean {
    if (this.#nc.isClosed()) return false;
    if (error instanceof JetStreamApiError) return error.status >= 500;
    const cause = error instanceof Error ? error.cause : undefined;
    return PASSING.some((type) => error instanceof type || cause instanceof type);
  }

  /**
   * Without an id: the subject alone holds a second one off, as servers know ids of messages that were dropped, and
   * would take a part that is stored again for one that is there.
   */
  async #add(subject: string, value: unknown): Promise<Stored> {
    try {
      await this.#client.publish(subject, JSON.stringify(value), { timeout: STORE_TIMEOUT_MS });
      return 'stored';
    } catch (error) {
      const fault = storeFaultOf(error as Error, subject);
      if (fault === 'already') return fault;
      const words = {
        full: `stream ${this.#stream} is full: hexcodes job setup --max-bytes makes it larger`,
        away: `the servers have not stored a message of a job (${(error as Error).message})`,
        'too-large': 'a message of the job is larger than the servers take (max_payload)',
      };
      throw new StoreFault(fault.kind, words[fault.kind], { cause: error });
    }
  }

  async #get(subject: string): Promise<{ readonly bytes: Uint8Array; readonly atMs: number } | undefined> {
    const message = await this.#jsm.streams
      .getMessage(this.#stream, { last_by_subj: subject })
      .catch((error: Error) => {
        if (/no message found/i.test(error.message)) return null;
        throw error;
      });
    if (message === null) return undefined;
    return { bytes: message.data, atMs: message.time.getTime() };
  }

  async #drop(subject: string): Promise<void> {
    await this.#jsm.streams.purge(this.#stream, { filter: subject });
  }

  /** Whether the message under the subject of a mark is one: it may be another, such as an answer of a server. */
  async #isMarked(kind: 'cancelled' | 'ended', job: string): Promise<boolean> {
    const found = await this.#get(this.#subjects.of(kind, job));
    if (found === undefined) return false;
    return kind === 'cancelled' ? isMark(found.bytes) : readEnd(found.bytes) !== null;
  }

  async #marked(kind: 'cancelled' | 'ended'): Promise<Set<string>> {
    const jobs = [...(await this.#lastWords(this.#subjects.of(kind, '*')))].filter(isJobId);
    const marked = new Set<string>();
    for (let at = 0; at < jobs.length; at += READ_AT_ONCE)
      await Promise.all(
        jobs.slice(at, at + READ_AT_ONCE).map(async (job) => {
          const subject = this.#subjects.of(kind, job);
          if (!this.#marks.has(subject) && !(await this.#isMarked(kind, job))) return;
          this.#marks.add(subject);
          marked.add(job);
        }),
      );
    return marked;
  }

  async #lastWords(subject: string): Promise<Set<string>> {
    const { state } = await this.#jsm.streams.info(this.#stream, { subjects_filter: subject });
    return new Set(Object.keys(state.subjects ?? {}).map((each) => each.slice(each.lastIndexOf('.') + 1)));
  }

  async #numbers(subject: string): Promise<Set<number>> {
    const words = [...(await this.#lastWords(subject))];
    return new Set(words.filter((word) => /^[1-9]\d{0,7}$/.test(word)).map(Number));
  }
}
