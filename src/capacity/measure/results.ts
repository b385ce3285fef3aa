// The file of results that `hexcodes bench` writes and `hexcodes plan`, `bench --compare` and the report read: format
// 1.
import { repeatedMember } from '../../hexcodes/wire/params/json-grammar.js';
import type { WayKind } from '../generator/job.js';
import { Latencies } from '../generator/latencies.js';
import type { Disturbance, Noise } from '../processes/machine.js';

// Checks of the fields of a file that somebody else may have written: each names the field and its rule. The types of a
// file follow from its checks.

/** @returns the value, of that type. @throws Error with field and rule */
type Check<T> = (value: unknown, field: string) => T;
type Checked<C> = C extends Check<infer T> ? T : never;

/** Fields whose check takes undefined may be absent. */
type Shape<C> = {
  readonly [Name in keyof C as undefined extends Checked<C[Name]> ? never : Name]: Checked<C[Name]>;
} & {
  readonly [Name in keyof C as undefined extends Checked<C[Name]> ? Name : never]?: Exclude<
    Checked<C[Name]>,
    undefined
  >;
};

const MAX_SHOWN = 40;

function failField(field: string, value: unknown, rule: string): never {
  if (value === undefined) throw new Error(`field ${field} is missing: ${rule}`);
  const shown = JSON.stringify(value);
  const short = shown.length > MAX_SHOWN ? `${shown.slice(0, MAX_SHOWN)}…` : shown;
  throw new Error(`field ${field} is ${short}, and has to be ${rule}`);
}

const numberThat =
  (isRight: (value: number) => boolean, rule: string): Check<number> =>
  (value, field) =>
    typeof value === 'number' && Number.isFinite(value) && isRight(value)
      ? value
      : failField(field, value, rule);

const anyNumber = numberThat(() => true, 'a number');
const from0 = numberThat((value) => value >= 0, 'a number from 0 on');
const above0 = numberThat((value) => value > 0, 'a number above 0');
const whole1 = numberThat((value) => Number.isInteger(value) && value >= 1, 'a whole number from 1 on');

const text: Check<string> = (value, field) =>
  typeof value === 'string' ? value : failField(field, value, 'a text');

const yesOrNo: Check<boolean> = (value, field) =>
  typeof value === 'boolean' ? value : failField(field, value, 'true or false');

const orNull =
  <T>(check: Check<T>): Check<T | null> =>
  (value, field) =>
    value === null ? null : check(value, field);

const optional =
  <T>(check: Check<T>): Check<T | undefined> =>
  (value, field) =>
    value === undefined ? undefined : check(value, field);

/** @param least least number of elements */
const listOf =
  <T>(check: Check<T>, least = 0): Check<readonly T[]> =>
  (value, field) => {
    if (!Array.isArray(value) || value.length < least)
      failField(field, value, least === 0 ? 'a list' : `a list of ${least} or more`);
    for (const [at, each] of (value as unknown[]).entries()) check(each, `${field}[${at}]`);
    return value as T[];
  };

/** Other fields are left alone. */
const shape =
  <C extends Readonly<Record<string, Check<unknown>>>>(checks: C): Check<Shape<C>> =>
  (value, field) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      failField(field, value, 'an object');
    for (const [name, check] of Object.entries(checks))
      check((value as Record<string, unknown>)[name], field === '' ? name : `${field}.${name}`);
    return value as Shape<C>;
  };

function histogram(value: unknown, field: string): string {
  let count = 0;
  try {
    ({ count } = Latencies.decode(text(value, field)));
  } catch (error) {
    if (typeof value !== 'string') throw error;
  }
  return count > 0 ? (value as string) : failField(field, value, 'a histogram with services');
}

export const RESULTS_FORMAT = 1;

const SPREAD = { median: above0, low: above0, high: above0 };
const SAMPLES = shape({ ...SPREAD, samples: listOf(anyNumber, 1) });
/** Median and quartiles of samples, and the samples. */
export type Samples = Checked<typeof SAMPLES>;

const SPEED_UP = shape({
  processes: whole1,
  /**
   * Speed-up against one process; each sample is from one slice of time. A sample of a slice without CPU time was
   * infinite, which JSON holds as null: parseResults leaves it out.
   */
  speedUp: shape({ ...SPREAD, samples: listOf(orNull(anyNumber), 1) }) as Check<Samples>,
});
export type SpeedUp = Checked<typeof SPEED_UP>;

const NOISE: Check<Noise> = shape({
  p50Us: from0,
  p99Us: from0,
  maxUs: from0,
  stealShare: from0,
  workUs: optional(above0),
});
const DISTURBANCE: Check<Disturbance> = shape({ stealShare: from0, slowness: from0 });
const MACHINE = shape({
  model: text,
  cores: whole1,
  memoryBytes: above0,
  platform: text,
  kernel: text,
  /** Frequency governor of the CPU; null where the system names none. */
  governor: orNull(text),
  /** Share of the machine's time that its hypervisor gave to others during the run, 0 to 1. */
  stealShare: from0,
  /** The largest disturbance of the measurements that count: others are repeated. Absent from older results. */
  counted: optional(DISTURBANCE),
  /** Processes that wanted a core in the minute before the run. */
  load: from0,
});

const RATE_POINT = {
  ratePerS: above0,
  answeredPerS: from0,
  /**
   * CPU time of the server for one unit, less what it spends without load, which may leave 0 or a negative number; null
   * where it runs elsewhere.
   */
  costUs: orNull(anyNumber),
  p50Us: from0,
  p90Us: from0,
  p99Us: from0,
  p999Us: from0,
  naiveP99Us: from0,
  /** Shares of the requests, 0 to 1. */
  skippedShare: from0,
  refusedShare: from0,
  lateShare: from0,
};
/** Latency and cost at one rate. */
export type RatePoint = Shape<typeof RATE_POINT>;

const KNEE = shape({
  /** The highest rate at which the 99th percentile held the target. */
  ratePerS: above0,
  targetP99Us: above0,
  /** Every rate that was tried, in order. */
  steps: listOf(shape({ ...RATE_POINT, holds: yesOrNo })),
  /** Whether repeats at that rate held it, too. */
  isConfirmed: yesOrNo,
  /** Whether the next higher rate failed because the generator was late: the server may then carry more. */
  isGeneratorLimit: yesOrNo,
});
export type Knee = Checked<typeof KNEE>;

const PAIRS = listOf(listOf(from0, 2)) as Check<readonly (readonly [number, number])[]>;
const WAY = shape({
  /** `mixed`: vehicles on the stream and bulk CSV beside them. */
  name: text as Check<WayKind | 'mixed'>,
  pointsPerUnit: above0,
  connections: from0,
  costBacklogUs: orNull(SAMPLES),
  backlogPerS: orNull(SAMPLES),
  /**
   * Share of the measured time in which the server's core was busy under backlog, 0 to 1: below 0.9 the load was the
   * limit.
   */
  backlogBusyShare: orNull(from0),
  /** Rising rates, from 100/s; the first is the idle cost. */
  curve: listOf(shape(RATE_POINT)),
  /** Service times under backlog, a histogram (Latencies.decode). */
  services: orNull(histogram),
  knee: orNull(KNEE),
  /** Constant arrivals at the knee, to confirm it. */
  constant: orNull(shape(RATE_POINT)),
  /**
   * Latencies at 80 % of the knee: pairs of percentile and microseconds, from the intended start and from the actual
   * one.
   */
  intendedUs: PAIRS,
  naiveUs: PAIRS,
  sentBytesPerUnit: from0,
  receivedBytesPerUnit: from0,
  noise: NOISE,
});
/** Results of one kind of request; a unit is a request or a frame. */
export type WayResult = Checked<typeof WAY>;

const LADDER_STEP = shape({ name: text, nsPerPoint: SAMPLES });
export type LadderStep = Checked<typeof LADDER_STEP>;

const SIZE = shape({
  kind: text as Check<WayKind>,
  points: whole1,
  /** Null where the server runs elsewhere. */
  costUs: orNull(above0),
  pointsPerS: from0,
});
/** Cost of one request or frame by how many points it has. */
export type SizeResult = Checked<typeof SIZE>;

const CONVERSION = shape({
  format: text as Check<'csv' | 'ndjson' | 'parquet' | 'arrow'>,
  /** CPU time of all threads. */
  nsPerRow: above0,
  readBytesPerRow: above0,
  writtenBytesPerRow: above0,
  /** The machine, where it was another than that of the results. */
  machine: optional(text),
});
/** A file of positions through `hexcodes encode`, in and out in the same format. */
export type ConversionResult = Checked<typeof CONVERSION>;

const RESULTS = shape({
  format: whole1 as Check<typeof RESULTS_FORMAT>,
  tool: text as Check<'hexcodes bench'>,
  version: text,
  /** Commit of the checkout, with + where files are not as committed; null without a checkout. */
  commit: orNull(text),
  /** ISO 8601, UTC. */
  date: text,
  tookS: from0,
  seed: from0,
  isQuick: yesOrNo,
  /** Address of a server elsewhere, or null. */
  target: orNull(text),
  node: text,
  machine: MACHINE,
  /** Before and after the run. */
  noise: listOf(NOISE),
  /**
   * Whether every noise control was quiet enough for figures of tails, and the cores were not slower or given to others
   * meanwhile.
   */
  isQuietEnough: yesOrNo,
  /**
   * Requests a second that the generator itself could send to a server that does nothing, under backlog and at a rate.
   */
  control: orNull(shape({ backlogPerS: from0, openPerS: from0 })),
  ladder: listOf(LADDER_STEP),
  ways: listOf(WAY),
  sizes: listOf(SIZE),
  speedUps: listOf(SPEED_UP),
  memory: orNull(
    shape({
      idleBytes: from0,
      perConnectionBytes: anyNumber,
      peakBytes: from0,
      /** Pairs of seconds since the start of the service and bytes. */
      overTime: PAIRS,
    }),
  ),
  /** Files through the command; absent from older results. */
  conversions: optional(listOf(CONVERSION)),
  /** Share of a core that the service takes without load; null where it runs elsewhere. */
  idleCoreShare: orNull(anyNumber),
});
export type Results = Checked<typeof RESULTS>;

/**
 * Fields that became part of the format later are optional, and unknown ones are left alone.
 * @throws Error where the text is not a file of results, or of another format, or lacks a field: with the field and its
 *   rule
 */
export function parseResults(json: string): Results {
  let value: unknown;
  try {
    value = JSON.parse(json.replace(/^\uFEFF/, ''));
  } catch {
    throw new Error('it is not JSON');
  }
  const twice = repeatedMember(json);
  if (twice !== undefined)
    throw new Error(`it gives ${JSON.stringify(twice)} more than once, with different values`);
  const { tool, format } = (value ?? {}) as Partial<Results>;
  if (tool !== 'hexcodes bench') throw new Error('it is not a file of results of hexcodes bench');
  if (format !== RESULTS_FORMAT)
    throw new Error(`its format is ${format}, and this version reads ${RESULTS_FORMAT}`);
  const results = RESULTS(value, '');
  return { ...results, speedUps: results.speedUps.map(withoutNulls) };
}

function withoutNulls({ processes, speedUp }: SpeedUp): SpeedUp {
  const samples = speedUp.samples.filter((sample) => sample !== null);
  return { processes, speedUp: { ...speedUp, samples } };
}

/** Median and quartiles. @param samples at least one */
export function samplesOf(samples: readonly number[]): Samples {
  const sorted = [...samples].sort((a, b) => a - b);
  const at = (share: number): number => sorted[Math.round(share * (sorted.length - 1))]!;
  return { median: at(0.5), low: at(0.25), high: at(0.75), samples };
}

/**
 * Leaves out impossible figures: a slice in which the server got no CPU time has a cost of 0 or none, and its speed-up
 * is infinite. A figure without samples becomes null, or leaves its list, as parseResults reads it.
 */
export function withoutImpossible(results: Results): Results {
  const { ladder, ways, sizes, speedUps, control } = results;
  const isPossible = (value: number): boolean => Number.isFinite(value) && value > 0;
  const kept = (samples: Samples | null): Samples | null => {
    const possible = (samples?.samples ?? []).filter(isPossible);
    return possible.length === 0
      ? null
      : possible.length === samples!.samples.length
        ? samples
        : samplesOf(possible);
  };
  const costOf = <T extends { readonly costUs: number | null }>(point: T): T =>
    point.costUs !== null && isPossible(point.costUs) ? point : { ...point, costUs: null };
  const pointsOf = <T extends RatePoint>(points: readonly T[]): T[] =>
    points.filter(({ ratePerS }) => isPossible(ratePerS)).map(costOf);
  return {
    ...results,
    control: control && isPossible(control.backlogPerS) && isPossible(control.openPerS) ? control : null,
    ladder: ladder.flatMap(({ name, nsPerPoint }) => {
      const samples = kept(nsPerPoint);
      return samples === null ? [] : [{ name, nsPerPoint: samples }];
    }),
    ways: ways.map((way) => {
      const { knee, constant } = way;
      return {
        ...way,
        costBacklogUs: kept(way.costBacklogUs),
        backlogPerS: kept(way.backlogPerS),
        services: way.services === null || Latencies.decode(way.services).count === 0 ? null : way.services,
        curve: pointsOf(way.curve),
        knee: knee !== null && isPossible(knee.ratePerS) ? { ...knee, steps: pointsOf(knee.steps) } : null,
        constant: constant === null ? null : (pointsOf([constant])[0] ?? null),
      };
    }),
    sizes: sizes.map(costOf),
    speedUps: speedUps.flatMap(({ processes, speedUp }) => {
      const samples = kept(speedUp);
      return samples === null ? [] : [{ processes, speedUp: samples }];
    }),
  };
}
