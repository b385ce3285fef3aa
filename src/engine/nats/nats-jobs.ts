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
import { JOB_CONSUMER } from './job-stream.js';
import { storeFaultOf } from './store-fault.js';

const STORE_TIMEOUT_MS = 5000;
const READ_AT_ONCE = 64;
/** Of a connection that comes back, and of servers that have just started. */
const PASSING = [errors.TimeoutError, errors.RequestError, errors.ConnectionError];

export class NatsJobs implements JobStore {
  readonly #nc: NatsConnection;
  readonly #client: JetStreamClient;
  readonly #jsm: JetStreamManager;
  readonly #stream: string;
  readonly #subjects: JobSubjects;

  constructor(nc: NatsConnection, jsm: JetStreamManager, stream: string, prefix: string) {
    this.#nc = nc;
    this.#client = jetstream(nc);
    this.#jsm = jsm;
    this.#stream = stream;
    this.#subjects = new JobSubjects(prefix);
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

  markCancelled(job: string): Promise<Stored> {
    return this.#add(this.#subjects.of('cancelled', job), {});
  }

  markEnded(job: string, end: JobEnd | undefined): Promise<Stored> {
    return this.#add(this.#subjects.of('ended', job), { end });
  }

  unmark(kind: 'cancelled' | 'ended', job: string): Promise<void> {
    return this.#drop(this.#subjects.of(kind, job));
  }

  async jobs(): Promise<KnownJob[]> {
    const [plans, cancelled, ended] = await Promise.all([
      this.#lastWords(this.#subjects.of('plan', '*')),
      this.#lastWords(this.#subjects.of('cancelled', '*')),
      this.#lastWords(this.#subjects.of('ended', '*')),
    ]);
    return [...plans].map((id) => ({ id, isCancelled: cancelled.has(id), isEnded: ended.has(id) }));
  }

  async planOf(job: string): Promise<StoredPlan | undefined> {
    const found = await this.#get(this.#subjects.of('plan', job));
    return found === undefined ? undefined : { plan: JSON.parse(found.text) as JobPlan, atMs: found.atMs };
  }

  async endOf(job: string): Promise<JobEnd | undefined> {
    const found = await this.#get(this.#subjects.of('ended', job));
    return found === undefined ? undefined : (JSON.parse(found.text) as { end?: JobEnd }).end;
  }

  async partOf(job: string, part: number): Promise<JobPart | undefined> {
    const found = await this.#get(this.#subjects.ofPart('part', job, part));
    return found === undefined ? undefined : (JSON.parse(found.text) as JobPart);
  }

  async isCancelled(job: string): Promise<boolean> {
    return (await this.#get(this.#subjects.of('cancelled', job))) !== undefined;
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
      return { result: JSON.parse(found.text) as PartResult, atMs: found.atMs };
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
   * Without an id: the subject alone holds a second one off, as servers know ids of messages that were dropped, and would take
   * a part that is stored again for one that is there.
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

  async #get(subject: string): Promise<{ readonly text: string; readonly atMs: number } | undefined> {
    const message = await this.#jsm.streams
      .getMessage(this.#stream, { last_by_subj: subject })
      .catch((error: Error) => {
        if (/no message found/i.test(error.message)) return null;
        throw error;
      });
    if (message === null) return undefined;
    return { text: message.string(), atMs: message.time.getTime() };
  }

  async #drop(subject: string): Promise<void> {
    await this.#jsm.streams.purge(this.#stream, { filter: subject });
  }

  async #lastWords(subject: string): Promise<Set<string>> {
    const { state } = await this.#jsm.streams.info(this.#stream, { subjects_filter: subject });
    return new Set(Object.keys(state.subjects ?? {}).map((each) => each.slice(each.lastIndexOf('.') + 1)));
  }

  async #numbers(subject: string): Promise<Set<number>> {
    return new Set([...(await this.#lastWords(subject))].map(Number));
  }
}
