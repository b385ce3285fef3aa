// `hexcodes job worker`: takes parts of jobs, one at a time, until it is stopped. A worker that dies costs another
// delivery of its part and nothing else.
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Command } from 'commander';
import { JobSubjects } from '../../../bus/jobs/job.js';
import { openBus } from '../../../bus/open-bus.js';
import type { BusConfig } from '../../../config/config.js';
import { loadLibrary } from '../../../files/library.js';
import { requireCount, requireSubject, requireTime, StopSignal, sayer, withBus } from '../../bus-options.js';
import { CountsReport } from '../../commands/worker.js';
import { type AdminOptions, addAdminOptions, Watched } from '../../watched.js';
import { addBusOptions, addRootOption, type BusOptions, JOB_CHECKS } from '../job-conversion.js';
import { SharedFolder } from '../shared-folder.js';
import { JobFinisher } from './finish-jobs.js';
import { PartWorker } from './part-worker.js';

interface Options extends BusOptions, AdminOptions {
  readonly root: string;
  readonly tries: string;
  readonly report: string;
  readonly quiet?: boolean;
}

/** Interval at which a worker looks whether a part of its own was the last one; that of another is looked at seldom. */
const FINISH_MS = 1000;
const FINISH_OTHERS_MS = 15_000;

export function declareJobWorker(job: Command): void {
  const worker = job
    .command('worker')
    .description('convert parts of jobs, one at a time; any number of workers on any number of machines');
  addAdminOptions(addBusOptions(addRootOption(worker)))
    .option('--tries <n>', 'a part is converted so often before it has failed', '3')
    .option('--report <time>', 'how often the counts are said', '10s')
    .option('-q, --quiet', 'say nothing but faults')
    .addHelpText(
      'after',
      `
A worker keeps one core busy: start as many as there are cores.

Examples:
  $ hexcodes job worker
  $ hexcodes job worker --root /mnt/shared --nats nats://10.0.0.7:4222 --creds worker.creds`,
    );
  worker.action((options: Options) => withBus(worker, (settings) => work(options, settings)));
}

async function work(options: Options, settings: BusConfig): Promise<void> {
  const prefix = requireSubject('--subject', options.subject);
  const tries = requireCount('--tries', options.tries, 1, 100);
  const reportMs = requireTime('--report', options.report);
  const isQuiet = options.quiet === true;
  const { stream } = options;
  const hexcodes = await loadLibrary();
  const shared = new SharedFolder(options.root);
  // Parts are named relative to it, in files and in faults.
  process.chdir(shared.path);
  const [say, saySometimes] = [sayer(false), sayer(isQuiet)];
  const stopped = new StopSignal();
  const bus = await openBus(settings, { isPatient: true, say, signal: stopped.signal });
  try {
    const { store: jobs, engine: open, ackWaitMs, look } = await bus.jobs(stream, prefix, JOB_CHECKS);
    const engine = open();
    const id = `${hostname().replace(/[^\w.-]/g, '_')}-${process.pid}-${randomUUID().slice(0, 8)}`;
    const worker = new PartWorker(hexcodes, shared, jobs, {
      ...{ id, tries, say, signal: stopped.signal, subjects: new JobSubjects(prefix) },
      keepEveryMs: Math.max(100, ackWaitMs / 3),
    });
    const { figures } = worker;
    const reporting = new CountsReport(
      () => [
        [figures.parts, 'parts'],
        [figures.rows, 'rows'],
        [figures.failedRows, 'without a code'],
        [figures.failedParts, 'parts failed'],
        [figures.redelivered, 'handed out again'],
        [figures.already, 'done by others'],
        [figures.dead, 'dead letters'],
      ],
      reportMs,
      isQuiet,
    );
    const finisher = new JobFinisher(jobs, shared, say);
    const finishing = new Finishing(() => finisher.finish(), say);
    const watched = await Watched.open(
      {
        role: 'job_worker',
        look,
        figures: () => ({
          counters: {
            ...{ messages: figures.parts, points: figures.rows, failed_points: figures.failedRows },
            ...{ failed_parts: figures.failedParts, redelivered: figures.redelivered },
            ...{ already: figures.already, dead_letters: figures.dead },
          },
          times: figures.times,
        }),
        say: saySometimes,
      },
      options,
    );
    stopped.onStop(() => {
      watched.stopping();
      engine.stop();
    });
    saySometimes(`works on ${stream} of ${bus.name} in ${shared.path}`);
    try {
      for await (const received of engine.receive()) if (await worker.take(received)) finishing.isDue = true;
    } finally {
      reporting.end();
      watched.end();
      await finishing.end();
    }
  } finally {
    stopped.end();
    await bus.close();
  }
}

/** When jobs are ended: soon after a result was stored, and seldom otherwise. */
class Finishing {
  isDue = true;
  readonly #finish: () => Promise<void>;
  readonly #say: (sentence: string) => void;
  readonly #timer: NodeJS.Timeout;
  #lastMs = 0;
  #running: Promise<void> | undefined;

  constructor(finish: () => Promise<void>, say: (sentence: string) => void) {
    this.#finish = finish;
    this.#say = say;
    this.#timer = setInterval(() => this.#look(), FINISH_MS);
  }

  #look(): void {
    const isTime = performance.now() - this.#lastMs >= FINISH_OTHERS_MS;
    if (this.#running !== undefined || !(this.isDue || isTime)) return;
    this.isDue = false;
    this.#lastMs = performance.now();
    this.#running = this.#finish()
      .catch((error: Error) => {
        this.isDue = true;
        this.#say(error.message);
      })
      .finally(() => {
        this.#running = undefined;
      });
  }

  /** Looks once more. */
  async end(): Promise<void> {
    clearInterval(this.#timer);
    await this.#running;
    if (this.isDue) this.#look();
    await this.#running;
  }
}
