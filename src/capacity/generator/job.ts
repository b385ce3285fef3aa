// The orders of the generator's process, and its report. Everything is plain data, as it goes through the process's
// channel.
import type { Arrivals, OpenFigures, Slice } from './loops.js';

/** How points reach the service. */
export type WayKind = 'single' | 'batch' | 'csv' | 'stream';

/** One kind of traffic of a job. */
export interface Load {
  readonly kind: WayKind;
  /** Points of one request or frame; 1 for `single`. */
  readonly points: number;
  readonly connections: number;
  /** Requests of one connection that may be unanswered. */
  readonly depth: number;
  /** Requests or frames a second; of an open job. */
  readonly ratePerS: number;
  readonly arrivals: Arrivals;
}

export interface Job {
  /**
   * `open`: at the rates of the loads; `closed`: the first load, as fast as it is answered; `hold`: connections that
   * send nothing.
   */
  readonly mode: 'open' | 'closed' | 'hold';
  /** Address of the server, without a path. */
  readonly base: string;
  readonly key: string;
  readonly seed: number;
  readonly loads: readonly Load[];
  readonly warmUpMs: number;
  readonly durationMs: number;
  /** Processes whose CPU time is the server's; empty where it runs elsewhere. */
  readonly serverPids: readonly number[];
  /** Answers per one that is compared with the library; 0: none, for servers that are not a service. */
  readonly sampleEvery: number;
}

/** The figures of one load; of a closed job only those that it has. */
export interface LoadReport extends Readonly<Omit<OpenFigures, 'intended' | 'naive'>> {
  /** Answers within the measured time, whenever their requests were due: the CPU time of that time is theirs. */
  readonly answeredMeanwhile: number;
  /** Histograms, as Latencies.encode writes them. */
  readonly intended: string;
  readonly naive: string;
  /** Bytes of a request and its answer on the wire, without those of TCP. */
  readonly sentBytesPerUnit: number;
  readonly receivedBytesPerUnit: number;
}

export interface JobReport {
  readonly loads: readonly LoadReport[];
  readonly durationMs: number;
  /** CPU time of the server within the measured time; null where it runs elsewhere. */
  readonly serverCpuUs: number | null;
  /** Time slices of a closed job. */
  readonly slices: readonly Slice[];
  /** Histogram of the service times of a closed job. */
  readonly services: string | null;
}

/** The program's answers: `open` when all connections are open, then the report or the reason of a failure. */
export type GeneratorMessage =
  | { readonly kind: 'ready' }
  | { readonly kind: 'connected' }
  | { readonly kind: 'done'; readonly report: JobReport }
  | { readonly kind: 'failed'; readonly reason: string };
