// Reads the messages of jobs. Whoever may publish to their subjects may have written them, so each passes a schema, and
// names the job and the part of its subject; a plan has the digest that is its id.
import { VERSION } from '../../hexcodes/version.js';
import { ROW_STATUSES } from '../../hexcodes/wire/job.js';
import {
  amount,
  type Check,
  jsonIn,
  list,
  object,
  oneOf,
  orNull,
  relativePath,
  SchemaFault,
  text,
  whole,
} from '../schema.js';
import type { JobPart, JobPlan, PartResult } from './job.js';
import { idOfPlan, isPartOf } from './job-digest.js';
import type { JobEnd } from './job-store.js';

/** The members of plans and parts whose values the conversion of files knows. */
export interface ConversionChecks {
  /** Check of a plan's conversion; a plan has the operation, too. */
  readonly conversion: Check<{ readonly operation: JobPlan['operation'] }>;
  /** Check of a part's range in a file of `fileBytes`. */
  readonly range: (fileBytes: number) => Check<unknown>;
  readonly format: Check<string>;
}

export const MOST_PARTS = 10_000_000;
/** Most failed parts that a job's mark names; beyond it the mark says nothing of its parts. */
export const MOST_FAILED = 10_000;
/** Characters of a reason. */
export const MOST_REASON = 1000;

const MOST_PLAN_BYTES = 1 << 20;
const MOST_PART_BYTES = 64 * 1024;
const MOST_END_BYTES = 1 << 20;
const MOST_MARK_BYTES = 256;
const MOST_MS = 8.64e15;

const DIGITS = /^[0-9a-f]{16}$/;
const VERSION_FORM = /^\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?$/;

const output: Check<string> = (value, name) => (value === '.' ? '.' : relativePath(value, name));
const jobId = text(16, DIGITS);
const partNumber = whole(1, MOST_PARTS);
const size = whole(0);
const partsDigest = text(32, /^[0-9a-f]{32}$/);
/** Members of plans of all versions. */
const common = {
  ...{ id: jobId, version: text(64, VERSION_FORM), operation: oneOf(['encode', 'decode']), output },
  ...{ files: partNumber, parts: partNumber, sizeBytes: size },
};

/** Whether a word of a subject is the id of a job. */
export const isJobId = (word: string): boolean => DIGITS.test(word);

/**
 * The plan under the subject of a job. That of another version may have members of its own, and is not compared with
 * its digest: workers leave it alone.
 * @throws SchemaFault
 */
export function readPlan(job: string, bytes: Uint8Array, checks: ConversionChecks): JobPlan {
  const value = jsonIn(bytes, MOST_PLAN_BYTES);
  const isOwn = versionOf(value) === VERSION;
  const plan: JobPlan = isOwn
    ? object({ ...common, partsDigest, conversion: checks.conversion })(value, 'it')
    : { ...object(common)(commonOf(value), 'it'), partsDigest: '', conversion: {} };
  if (plan.id !== job) throw new SchemaFault(`it is the plan of job ${plan.id}`);
  if (!isOwn) return plan;
  if (plan.operation !== (plan.conversion as { operation: string }).operation)
    throw new SchemaFault('operation is not that of its conversion');
  if (idOfPlan(plan) !== job) throw new SchemaFault('its id is not its digest');
  return plan;
}

/** @throws SchemaFault */
export function readPart(job: string, part: number, bytes: Uint8Array, checks: ConversionChecks): JobPart {
  const read = object({
    ...{ job: jobId, part: partNumber, input: relativePath },
    file: object({ sizeBytes: size, modifiedMs: whole(-MOST_MS, MOST_MS) }),
    range: (each: unknown): unknown => each,
    ...{ sizeBytes: size, from: checks.format, to: checks.format, output: relativePath },
    proof: text(1024, /^[A-Za-z0-9+/]*={0,2}$/),
  })(jsonIn(bytes, MOST_PART_BYTES), 'it');
  if (read.job !== job || read.part !== part)
    throw new SchemaFault(`it is part ${read.part} of job ${read.job}, and not ${part} of ${job}`);
  return { ...read, range: orNull(checks.range(read.file.sizeBytes))(read.range, 'range') };
}

/** @throws SchemaFault for a part that the plan does not know */
export function requirePartOf(plan: JobPlan, part: JobPart): void {
  if (!isPartOf(plan, part))
    throw new SchemaFault(`job ${plan.id} has no such part, by the digest of its plan`);
}

/**
 * The result under the subject of a part. Another message there counts as that of a part that has failed, so that it
 * can be retried.
 */
export function readResult(job: string, part: number, bytes: Uint8Array): PartResult {
  try {
    const result = resultIn(jsonIn(bytes, MOST_PART_BYTES), 'it');
    if (result.job !== job || result.part !== part)
      throw new SchemaFault(`it is that of part ${result.part} of job ${result.job}`);
    if ((result.output === null) === (result.reason === null))
      throw new SchemaFault('it must have either an output or a reason');
    return result;
  } catch (error) {
    return {
      ...{ job, part, input: '', range: null, inputBytes: 0, elapsedMs: 0, worker: '', output: null },
      reason: `the message under the subject of its result is none: ${(error as Error).message}`,
    };
  }
}

const resultIn: Check<PartResult> = object({
  ...{ job: jobId, part: partNumber, input: relativePath },
  range: orNull(
    object({ kind: oneOf(['bytes', 'rows']), number: size, start: size, end: size }, { headBytes: size }),
  ),
  ...{ inputBytes: size, elapsedMs: size, worker: text(512, /^[\w.-]*$/) },
  output: orNull(
    object({
      ...{ name: relativePath, rows: size },
      failed: object({}, Object.fromEntries(ROW_STATUSES.map((word) => [word, size]))) as Check<
        Record<string, number>
      >,
      ...{ sizeBytes: size, sha256: text(64, /^[0-9a-f]{64}$/) },
    }),
  ),
  reason: orNull(text(MOST_REASON)),
});

/** Whether a message is the mark of a job that is cancelled: `{}`. */
export function isMark(bytes: Uint8Array): boolean {
  try {
    object({})(jsonIn(bytes, MOST_MARK_BYTES), 'it');
    return true;
  } catch {
    return false;
  }
}

/** The summary in the mark of a job that has ended. @returns null where the message is no such mark */
export function readEnd(bytes: Uint8Array): { readonly end?: JobEnd } | null {
  const failed = list(partNumber, MOST_FAILED);
  const end = object({ rows: size, failedRows: size, rowsPerS: amount, bytesPerS: amount, failed });
  try {
    return object({}, { end })(jsonIn(bytes, MOST_END_BYTES), 'it') as { readonly end?: JobEnd };
  } catch {
    return null;
  }
}

function versionOf(value: unknown): unknown {
  return typeof value === 'object' && value !== null ? (value as { version?: unknown }).version : undefined;
}

function commonOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([name]) => Object.hasOwn(common, name)));
}
