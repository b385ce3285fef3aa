// The file of results that `hexcodes bench` writes and `hexcodes plan`, `bench --compare` and the report read: format
// 1.
import type { WayKind } from '../generator/job.js';
import { Latencies } from '../generator/latencies.js';
import type { Disturbance, Noise } from '../processes/noise.js';

// Checks of the fields of a file that somebody else may have written: each names the field and its rule.
/** @throws Error with field and rule */
type Check = (value: unknown, field: string) => void;

const MAX_SHOWN = 40;

function failField(field: string, value: unknown, rule: string): never {
  if (value === undefined) throw new Error(`field ${field} is missing: ${rule}`);
  const shown = JSON.stringify(value);
  const short = shown.length > MAX_SHOWN ? `${shown.slice(0, MAX_SHOWN)}…` : shown;
  throw new Error(`field ${field} is ${short}, and has to be ${rule}`);
}

const numberThat =
  (isRight: (value: number) => boolean, rule: string): Check =>
  (value, field) => {
    if (typeof value !== 'number' || !Number.isFinite(value) || !isRight(value))
      failField(field, value, rule);
  };

const anyNumber = numberThat(() => true, 'a number');
const from0 = numberThat((value) => value >= 0, 'a number from 0 on');
const above0 = numberThat((value) => value > 0, 'a number above 0');
const whole1 = numberThat((value) => Number.isInteger(value) && value >= 1, 'a whole number from 1 on');

const text: Check = (value, field) => {
  if (typeof value !== 'string') failField(field, value, 'a text');
};

const yesOrNo: Check = (value, field) => {
  if (typeof value !== 'boolean') failField(field, value, 'true or false');
};

const orNull =
  (check: Check): Check =>
  (value, field) => {
    if (value !== null) check(value, field);
  };

const optional =
  (check: Check): Check =>
  (value, field) => {
    if (value !== undefined) check(value, field);
  };

/** @param least least number of elements */
const listOf =
  (check: Check, least = 0): Check =>
  (value, field) => {
    if (!Array.isArray(value) || value.length < least)
      failField(field, value, least === 0 ? 'a list' : `a list of ${least} or more`);
    for (const [at, each] of (value as unknown[]).entries()) check(each, `${field}[${at}]`);
  };

/** Other fields are left alone. */
const shape =
  (checks: Readonly<Record<string, Check>>): Check =>
  (value, field) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      failField(field, value, 'an object');
    for (const [name, check] of Object.entries(checks))
      check((value as Record<string, unknown>)[name], field === '' ? name : `${field}.${name}`);
  };

export const RESULTS_FORMAT = 1;

/** Median and quartiles of samples, and the samples. */
export interface Samples {
  readonly median: number;
  readonly low: number;
  readonly high: number;
  readonly samples: readonly number[];
}

export interface Machine {
  readonly model: string;
  readonly cores: number;
  readonly memoryBytes: number;
  readonly platform: string;
  readonly kernel: string;
  /** Frequency governor of the CPU; null where the system names none. */
  readonly governor: string | null;
  /** Share of the machine's time that its hypervisor gave to others during the run, 0 to 1. */
  readonly stealShare: number;
  /** At most, in the measurements that count: disturbed ones are repeated. Results of before do not have it. */
  readonly counted?: Disturbance;
  /** Processes that wanted a core in the minute before the run. */
  readonly load: number;
}

/** Latency and cost at one rate. */
export interface RatePoint {
  readonly ratePerS: number;
  readonly answeredPerS: number;
  /** CPU time of the server for one unit, less what it spends without load; null where it runs elsewhere. */
  readonly costUs: number | null;
  readonly p50Us: number;
  readonly p90Us: number;
  readonly p99Us: number;
  readonly p999Us: number;
  readonly naiveP99Us: number;
  /** Shares of the requests, 0 to 1. */
  readonly skippedShare: number;
  readonly refusedShare: number;
  readonly lateShare: number;
}

export interface Knee {
  /** The highest rate at which the 99th percentile held the target. */
  readonly ratePerS: number;
  readonly targetP99Us: number;
  /** Every rate that was tried, in order. */
  readonly steps: readonly (RatePoint & { readonly holds: boolean })[];
  /** Whether repeats at that rate held it, too. */
  readonly isConfirmed: boolean;
  /** Whether the next higher rate failed as the generator was late: then the server carries more than was found. */
  readonly isGeneratorLimit: boolean;
}

/** One way into the service; a unit is a request or a frame. */
export interface WayResult {
  /** `single`, `batch`, `csv`, `stream`, or `mixed`: vehicles on the stream and bulk CSV beside them. */
  readonly name: WayKind | 'mixed';
  readonly pointsPerUnit: number;
  readonly connections: number;
  readonly costBacklogUs: Samples | null;
  readonly backlogPerS: Samples | null;
  /**
   * Share of the measured time in which the server's core was busy under backlog, 0 to 1: below 0.9 the load was the
   * limit.
   */
  readonly backlogBusyShare: number | null;
  /** Rising rates, from 100/s; the first is the idle cost. */
  readonly curve: readonly RatePoint[];
  /** Service times under backlog, a histogram (Latencies.decode). */
  readonly services: string | null;
  readonly knee: Knee | null;
  /** Constant arrivals at the knee, to confirm it. */
  readonly constant: RatePoint | null;
  /**
   * Latencies at 80 % of the knee: pairs of percentile and microseconds, from the intended start and from the actual
   * one.
   */
  readonly intendedUs: readonly (readonly [percentile: number, us: number])[];
  readonly naiveUs: readonly (readonly [percentile: number, us: number])[];
  readonly sentBytesPerUnit: number;
  readonly receivedBytesPerUnit: number;
  readonly noise: Noise;
}

/** Cost of one request or frame by how many points it has. */
export interface SizeResult {
  readonly kind: WayKind;
  readonly points: number;
  /** Null where the server runs elsewhere. */
  readonly costUs: number | null;
  readonly pointsPerS: number;
}

export interface LadderStep {
  readonly name: string;
  readonly nsPerPoint: Samples;
}

export interface SpeedUp {
  readonly processes: number;
  /** Against one process, each sample from one slice of time. */
  readonly speedUp: Samples;
}

/** A file of positions through `hexcodes encode`, in and out in the same format. */
export interface ConversionResult {
  readonly format: 'csv' | 'ndjson' | 'parquet' | 'arrow';
  /** CPU time of all threads. */
  readonly nsPerRow: number;
  readonly readBytesPerRow: number;
  readonly writtenBytesPerRow: number;
  /** The machine, where it was another than that of the results. */
  readonly machine?: string;
}

export interface Results {
  readonly format: typeof RESULTS_FORMAT;
  readonly tool: 'hexcodes bench';
  readonly version: string;
  /** Commit of the checkout, with + where files are not as committed; null without a checkout. */
  readonly commit: string | null;
  /** ISO 8601, UTC. */
  readonly date: string;
  readonly tookS: number;
  readonly seed: number;
  readonly isQuick: boolean;
  /** Address of a server elsewhere, or null. */
  readonly target: string | null;
  readonly node: string;
  readonly machine: Machine;
  /** Before and after the run. */
  readonly noise: readonly Noise[];
  /**
   * Whether every noise control was quiet enough for figures of tails, and the cores were not slower or given to others
   * meanwhile.
   */
  readonly isQuietEnough: boolean;
  /**
   * Requests a second that the generator itself could send to a server that does nothing, under backlog and at a rate.
   */
  readonly control: { readonly backlogPerS: number; readonly openPerS: number } | null;
  readonly ladder: readonly LadderStep[];
  readonly ways: readonly WayResult[];
  readonly sizes: readonly SizeResult[];
  readonly speedUps: readonly SpeedUp[];
  readonly memory: {
    readonly idleBytes: number;
    readonly perConnectionBytes: number;
    readonly peakBytes: number;
    /** Pairs of seconds since the start of the service and bytes. */
    readonly overTime: readonly (readonly [s: number, bytes: number])[];
  } | null;
  /** Files through the command; results of before do not have it. */
  readonly conversions?: readonly ConversionResult[];
  /** Share of a core that the service takes without load; null where it runs elsewhere. */
  readonly idleCoreShare: number | null;
}

const SPREAD = { median: above0, low: above0, high: above0 };
const SAMPLES = shape({ ...SPREAD, samples: listOf(anyNumber, 1) });
/** A sample of a slice without CPU time was infinite, which JSON holds as null: parseResults leaves it out. */
const SPEED_UP = shape({ ...SPREAD, samples: listOf(orNull(anyNumber), 1) });
const NOISE = shape({
  p50Us: from0,
  p99Us: from0,
  maxUs: from0,
  stealShare: from0,
  workUs: optional(above0),
});
const MACHINE = shape({
  model: text,
  cores: whole1,
  memoryBytes: above0,
  platform: text,
  kernel: text,
  governor: orNull(text),
  stealShare: from0,
  counted: optional(shape({ stealShare: from0, slowness: from0 })),
  load: from0,
});
const RATE_POINT = {
  ratePerS: above0,
  answeredPerS: from0,
  // Less the CPU time that the service spends without load, of which nothing, or less than nothing, may be left.
  costUs: orNull(anyNumber),
  p50Us: from0,
  p90Us: from0,
  p99Us: from0,
  p999Us: from0,
  naiveP99Us: from0,
  skippedShare: from0,
  refusedShare: from0,
  lateShare: from0,
};
const KNEE = shape({
  ratePerS: above0,
  targetP99Us: above0,
  steps: listOf(shape({ ...RATE_POINT, holds: yesOrNo })),
  isConfirmed: yesOrNo,
  isGeneratorLimit: yesOrNo,
});
const PERCENTILES = listOf(listOf(from0, 2));
const WAY = shape({
  name: text,
  pointsPerUnit: above0,
  connections: from0,
  costBacklogUs: orNull(SAMPLES),
  backlogPerS: orNull(SAMPLES),
  backlogBusyShare: orNull(from0),
  curve: listOf(shape(RATE_POINT)),
  services: orNull(histogram),
  knee: orNull(KNEE),
  constant: orNull(shape(RATE_POINT)),
  intendedUs: PERCENTILES,
  naiveUs: PERCENTILES,
  sentBytesPerUnit: from0,
  receivedBytesPerUnit: from0,
  noise: NOISE,
});
const RESULTS = shape({
  version: text,
  commit: orNull(text),
  date: text,
  tookS: from0,
  seed: from0,
  isQuick: yesOrNo,
  target: orNull(text),
  node: text,
  machine: MACHINE,
  noise: listOf(NOISE),
  isQuietEnough: yesOrNo,
  control: orNull(shape({ backlogPerS: from0, openPerS: from0 })),
  ladder: listOf(shape({ name: text, nsPerPoint: SAMPLES })),
  ways: listOf(WAY),
  sizes: listOf(shape({ kind: text, points: whole1, costUs: orNull(above0), pointsPerS: from0 })),
  speedUps: listOf(shape({ processes: whole1, speedUp: SPEED_UP })),
  memory: orNull(
    shape({
      idleBytes: from0,
      perConnectionBytes: anyNumber,
      peakBytes: from0,
      overTime: listOf(listOf(from0, 2)),
    }),
  ),
  conversions: optional(
    listOf(
      shape({
        format: text,
        nsPerRow: above0,
        readBytesPerRow: above0,
        writtenBytesPerRow: above0,
        machine: optional(text),
      }),
    ),
  ),
  idleCoreShare: orNull(anyNumber),
});

function histogram(value: unknown, field: string): void {
  text(value, field);
  let count = 0;
  try {
    ({ count } = Latencies.decode(value as string));
  } catch {}
  if (count === 0) failField(field, value, 'a histogram with services');
}

/**
 * Fields that became part of the format later are optional, and unknown ones are left alone.
 * @throws Error where the text is no file of results, or of another format, or lacks a field: with the field and its
 *   rule
 */
export function parseResults(json: string): Results {
  let value: unknown;
  try {
    value = JSON.parse(json.replace(/^\uFEFF/, ''));
  } catch {
    throw new Error('it is no JSON');
  }
  const { tool, format } = (value ?? {}) as Partial<Results>;
  if (tool !== 'hexcodes bench') throw new Error('it is no file of results of hexcodes bench');
  if (format !== RESULTS_FORMAT)
    throw new Error(`its format is ${format}, and this version reads ${RESULTS_FORMAT}`);
  RESULTS(value, '');
  const results = value as Results;
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
