// The messages between the page and its worker for zones.
import type { KernelPaths } from '../shell/worker-kernel.js';
import type { Corner } from './zone.js';

/** From the page: zones to be listed. A worker answers one, and is then ended. */
export interface CoverTask {
  readonly zones: readonly { readonly name: string; readonly ring: readonly Corner[] }[];
  readonly resolution: number;
  readonly isCompact: boolean;
  readonly paths: KernelPaths;
}

/** The codes of one zone. */
export interface ZoneCodes {
  readonly count: number;
  /** The first of them. */
  readonly first: readonly string[];
  /** All of them, one a line; absent of too many for a clipboard. */
  readonly text?: Blob;
}

export type CoverNews =
  | {
      readonly kind: 'listed';
      readonly codes: readonly ZoneCodes[];
      /** The bytes that `hexcodes cover zones.geojson --name name` writes. */
      readonly csv: Blob;
    }
  /** A zone, by its index, with more cells than a list may have. */
  | { readonly kind: 'tooLarge'; readonly zone: number };
