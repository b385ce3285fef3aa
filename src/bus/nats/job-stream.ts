// The stream of jobs and its consumer, as `hexcodes job setup` makes them, and the check that they are there. One
// stream holds plans, parts and results: one message a subject, which refuses a second.

import type { ConsumerConfig, JetStreamManager } from '@nats-io/jetstream';
import { DiscardPolicy, RetentionPolicy, StorageType } from '@nats-io/jetstream';
import { nanos } from '@nats-io/transport-node';
import type { JobStreamPlan } from '../bus.js';
import { EngineFault } from '../engine.js';
import { JobSubjects } from '../jobs/job.js';
import { consumerOf, infoOf, requireOnce, requireTaken } from './start-check.js';
import { makeConsumer, makeStream } from './streams.js';

/** The consumer that all workers share. */
export const JOB_CONSUMER = 'job-workers';

/** Parts that all workers together may have. */
const MOST_TAKEN = 10_000;
/** The least that servers take: parts that were dropped may be stored again at once. */
const DUPLICATE_WINDOW_MS = 100;
const SETUP_HINT = 'hexcodes job setup makes it';
const SUBJECT_HINT = 'Jobs under another --subject need another --stream';

/**
 * @returns a line for the stream and one for its consumer
 * @throws EngineFault where the servers refuse one
 */
export async function setUpJobs(jsm: JetStreamManager, plan: JobStreamPlan): Promise<string[]> {
  const { stream, prefix, ackWaitMs } = plan;
  const subjects = new JobSubjects(prefix);
  const before = await jsm.consumers.info(stream, JOB_CONSUMER).catch(() => undefined);
  if (before !== undefined) requireParts(stream, before.config, subjects);
  const line = await makeStream(jsm, {
    ...{ name: stream, subjects: [subjects.all], storage: StorageType.File, num_replicas: plan.replicas },
    // Limits, as a work queue would forget what it has handed out, and results are to stay.
    ...{ retention: RetentionPolicy.Limits, discard: DiscardPolicy.New },
    ...{ max_msgs_per_subject: 1, discard_new_per_subject: true },
    ...{ max_bytes: plan.maxBytes, max_age: nanos(plan.maxAgeMs), allow_direct: false },
    duplicate_window: nanos(DUPLICATE_WINDOW_MS),
  });
  const made = await makeConsumer(jsm, stream, JOB_CONSUMER, {
    ...{ ack_wait: nanos(ackWaitMs), max_ack_pending: MOST_TAKEN, filter_subject: subjects.parts },
  });
  return [line, made];
}

/** @throws EngineFault where a part could be lost or stored twice */
export async function checkJobs(
  jsm: JetStreamManager,
  stream: string,
  prefix: string,
): Promise<{ readonly ackWaitMs: number }> {
  const subjects = new JobSubjects(prefix);
  const info = await infoOf(jsm, stream, SETUP_HINT);
  requireOnce(info, 'a part', 'hexcodes job setup gives it both');
  requireTaken(info, subjects.all, SUBJECT_HINT);
  const config = await consumerOf(jsm, stream, JOB_CONSUMER, SETUP_HINT);
  requireParts(stream, config, subjects);
  return { ackWaitMs: (config.ack_wait ?? 0) / 1e6 };
}

/** A consumer goes on from where it is, also with other subjects: parts stored before would never be handed out. */
function requireParts(stream: string, { filter_subject }: ConsumerConfig, { parts }: JobSubjects): void {
  if (filter_subject === parts) return;
  throw new EngineFault(
    `consumer ${JOB_CONSUMER} of ${stream} hands out ${filter_subject || 'all subjects'}, and not ${parts}`,
    SUBJECT_HINT,
  );
}
