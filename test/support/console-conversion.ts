// The module by which the page's worker converts a file, without a browser.
import { BlockBuffers } from '#dist/hexcodes/wire/bulk/block-buffers.js';
import type { Kernel } from '#hexcodes';
import { consoleModule } from './console-module.js';

export interface FileConversion {
  readonly points: { take(): PointsToDraw };
  readonly blocks: readonly number[];
  readonly tally: {
    readonly rows: number;
    readonly prefix: string;
    readonly operation: string;
    readonly byStatus: readonly number[];
    readonly byAdmin: readonly number[];
    readonly examples: readonly Example[];
  };
  push(chunk: Uint8Array): Uint8Array[];
  end(): Uint8Array[];
  takeFailed(): Uint8Array[];
}

export interface PointsToDraw {
  readonly offsets: Float32Array;
  readonly groups: Uint8Array;
  readonly positions: Float64Array;
  readonly rows: Uint32Array;
  readonly left: number;
  readonly box: { west: number; south: number; east: number; north: number } | undefined;
}

/** A row that failed. */
interface Example {
  readonly row: number;
  readonly status: string;
  readonly text: string;
  readonly reasons: readonly string[];
}

interface Request {
  readonly operation: string;
  readonly prefix: string;
}

interface PointList {
  add(latDeg: number, lngDeg: number, admin: number, row: number, zone?: number): void;
  takeZones(): Uint8Array;
  take(): PointsToDraw;
}

const module = await consoleModule<{
  FileConversion: new (kernel: Kernel, request: unknown, buffers: unknown, lead?: object) => FileConversion;
  PointList: new () => PointList;
  requestFor(beginning: Uint8Array, input: string, resolution: number): Request;
}>('file/conversion.ts');
export const { PointList, requestFor } = module;

/** @param lead what a table has before its rows */
export const conversionOf = (kernel: Kernel, request: object, lead?: object): FileConversion =>
  new module.FileConversion(kernel, request, new BlockBuffers(), lead);
