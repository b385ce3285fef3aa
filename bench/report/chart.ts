// A plot of the report, the command that measured it and its numbers as a table.
import type { TopLevelSpec } from 'vega-lite';

export interface Chart {
  readonly title: string;
  /** How to read it; one or two sentences. */
  readonly note: string;
  readonly command: string;
  readonly spec: TopLevelSpec;
  readonly titles: readonly string[];
  readonly rows: readonly (readonly (string | number)[])[];
}

/** A rival of the kernel ladder. */
export interface PeerStep {
  readonly name: string;
  readonly nsPerPoint: number;
}

export const BENCH = 'npm run bench -- capacity --json data/capacity.json';
export const WIDTH = 620;
export const HEIGHT = 300;

export const round = (value: number, digits = 3): number => Number(value.toPrecision(digits));
