// The stream of jobs and its consumer, as `hexcodes job setup` makes them, and the check that they are there. One stream holds
// plans, parts and results: one message a subject, which refuses a second.

import type { JetStreamManager } from '@nats-io/jetstream';
import { AckPolicy, DeliverPolicy, DiscardPolicy, RetentionPolicy, StorageType } from '@nats-io/jetstream';
import { nanos } from '@nats-io/transport-node';
import { EngineFault } from '../engine.js';
import { JobSubjects } from '../jobs/job.js';
import { makeStream, refused } from './streams.js';

/** The consumer that all workers share. */
export const JOB_CONSUMER = 'job-workers';

export interface JobStreamPlan {
  readonly stream: string;
  /** Before all subjects. */
  readonly prefix: string;
  readonly maxBytes: number;
  readonly maxAgeMs: number;
  readonly replicas: number;
  /** A part of a worker that is not heard of for so long is handed out again. */
  readonly ackWaitMs: number;
}

/** Parts that all workers together may have. */
const MOST_TAKEN = 10_000;
/** The least that servers take: parts that were dropped may be stored again at once. */
const DUPLICATE_WINDOW_MS = 100;
const SETUP_HINT = 'hexcodes job setup makes it';

/**
 * @returns a line for the stream and one for its consumer
 * @throws EngineFault where the servers refuse one
 */
export async function setUpJobs(jsm: JetStreamManager, plan: JobStreamPlan): Promise<string[]> {
  const { stream, prefix, ackWaitMs } = plan;
  const subjects = new JobSubjects(prefix);
  const line = await makeStream(jsm, {
    ...{ name: stream, subjects: [subjects.all], storage: StorageType.File, num_replicas: plan.replicas },
    // Limits, as a work queue would forget what it has handed out, and results are to stay.
    ...{ retention: RetentionPolicy.Limits, discard: DiscardPolicy.New },
    ...{ max_msgs_per_subject: 1, discard_new_per_subject: true },
    ...{ max_bytes: plan.maxBytes, max_age: nanos(plan.maxAgeMs), allow_direct: false },
    duplicate_window: nanos(DUPLICATE_WINDOW_MS),
  });
  const change = { ack_wait: nanos(ackWaitMs), max_ack_pending: MOST_TAKEN, max_deliver: -1 };
  try {
    const before = await jsm.consumers.info(stream, JOB_CONSUMER).catch(() => undefined);
    if (before === undefined)
      await jsm.consumers.add(stream, {
        ...{ ...change, durable_name: JOB_CONSUMER, filter_subject: subjects.parts },
        ...{ ack_policy: AckPolicy.Explicit, deliver_policy: DeliverPolicy.All },
      });
    else await jsm.consumers.update(stream, JOB_CONSUMER, change);
    return [line, `${before === undefined ? 'made' : 'kept'} consumer ${JOB_CONSUMER} of ${stream}`];
  } catch (error) {
    throw refused(`consumer ${JOB_CONSUMER}`, error as Error);
  }
}

/** @throws EngineFault where a part could be lost or stand twice */
export async function checkJobs(
  jsm: JetStreamManager,
  stream: string,
  prefix: string,
): Promise<{ readonly ackWaitMs: number }> {
  const { config } = await jsm.streams.info(stream).catch((error: Error) => {
    const isMissing = /not found/.test(error.message);
    const words = isMissing
      ? `there is no stream ${stream}`
      : `stream ${stream} cannot be read: ${error.message}`;
    throw new EngineFault(words, isMissing ? SETUP_HINT : undefined, { cause: error });
  });
  if (config.max_msgs_per_subject !== 1 || config.discard_new_per_subject !== true)
    throw new EngineFault(
      `stream ${stream} could hold a part twice: it needs max_msgs_per_subject 1 and discard_new_per_subject`,
      'hexcodes job setup gives it both',
    );
  const { all } = new JobSubjects(prefix);
  if (!config.subjects?.includes(all))
    throw new EngineFault(
      `stream ${stream} does not take ${all}: it takes ${(config.subjects ?? []).join(', ')}`,
    );
  const consumer = await jsm.consumers.info(stream, JOB_CONSUMER).catch((error: Error) => {
    throw new EngineFault(`stream ${stream} has no consumer ${JOB_CONSUMER}`, SETUP_HINT, { cause: error });
  });
  return { ackWaitMs: (consumer.config.ack_wait ?? 0) / 1e6 };
}
