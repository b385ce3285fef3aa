// A run of `encode` or `decode` over files as data: the request that the command line makes, the state that both ways
// through share, the result.

import type { Hexcodes } from '../../library/node.js';
import type { Operation } from '../../wire/job.js';
import type { Interruption } from '../terminal/interruption.js';
import type { ColumnChoice } from './columns.js';
import type { Input } from './disk/input.js';
import type { Targets } from './disk/targets.js';
import type { FileFormat } from './format.js';
import type { Tally } from './tally.js';

export type ErrorPolicy =
  | { readonly kind: 'keep' | 'skip' | 'stop' }
  | { readonly kind: 'file'; readonly path: string };

export interface FilesRequest {
  readonly operation: Operation;
  /** Paths; `-` is stdin. */
  readonly inputs: readonly string[];
  /** null for stdout. */
  readonly output: string | null;
  readonly from: FileFormat | null;
  readonly to: FileFormat | null;
  readonly resolution: number;
  readonly columns: ColumnChoice;
  readonly errors: ErrorPolicy;
  readonly isResume: boolean;
  readonly threads: number;
  readonly isQuiet: boolean;
}

/** What the ways through share. */
export interface Run {
  readonly request: FilesRequest;
  readonly hexcodes: Hexcodes;
  readonly targets: Targets;
  readonly sourceFormat: FileFormat;
  readonly targetFormat: FileFormat;
  readonly interruption: Interruption;
  /** Of all inputs on the disk; null if one is a pipe. */
  readonly totalBytes: number | null;
  /** The inputs one after another, each opened when the one before is done. */
  open(inputNumber: number): Promise<Input>;
  /** Between two blocks: progress, and a note in the journal when it is time. Everything up to here is written. */
  tick(inputNumber: number, inputOffset: number): void;
}

export interface RunResult {
  readonly tally: Tally;
  readonly elapsedMs: number;
}
