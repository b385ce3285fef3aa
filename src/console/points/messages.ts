// The messages between the page and its worker that counts points.
import type { Box } from '../desk.js';
import type { KernelPaths } from '../shell/worker-kernel.js';
import type { Counted } from './drawn-points.js';

export type CountTask =
  /** The first message. */
  | { readonly kind: 'open'; readonly paths: KernelPaths }
  /** Other points. */
  | { readonly kind: 'points'; readonly positions: Float64Array }
  | { readonly kind: 'count'; readonly box: Box; readonly finest: number }
  /** The points of a cell that the last answer has; `box` is around it. */
  | { readonly kind: 'cell'; readonly cell: bigint; readonly box: Box; readonly resolution: number };

/** One answer for each task but the first two. */
export type CountNews =
  | {
      readonly kind: 'counted';
      readonly counted: Counted;
      /** Points without a code. */
      readonly uncounted: number;
    }
  /** Indexes of the first points of the cell. */
  | { readonly kind: 'cell'; readonly cell: bigint; readonly points: readonly number[] };
