// The codes of zones as `hexcodes cover zones.geojson --name name` lists them.
import { HexcodesError } from '../../hexcodes/errors.js';
import { cover } from '../../hexcodes/geometry/cover.js';
import { Hexcodes } from '../../hexcodes/library/hexcodes.js';
import { quotedField } from '../../hexcodes/wire/rows/csv-fields.js';
import { loadH3 } from '../shell/h3.js';
import { type KernelPaths, kernelFiles } from '../shell/worker-kernel.js';
import type { Corner } from './zone.js';

// The messages between the page and its worker for zones.

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

/** Codes that are shown of each zone. */
const FIRST_CODES = 200;
/** More would hold up the clipboard. */
const MAX_COPIED = 50_000;
const HEADER = 'zone,hexcodes,h3_cell,admin_code\n';

/** A zone with more cells than `cover` lists. */
export class ZoneTooLargeError extends Error {
  constructor(readonly zone: number) {
    super(`zone ${zone} has too many cells`);
  }
}

/** The library, with what its shapes need. */
export async function libraryOf(paths: KernelPaths): Promise<Hexcodes> {
  const [files] = await Promise.all([kernelFiles(paths), loadH3()]);
  return Hexcodes.from(files);
}

/** The codes of each zone, in the order of their H3 indexes. @throws ZoneTooLargeError */
export function codesOfZones(
  hexcodes: Hexcodes,
  { zones, resolution, isCompact }: Omit<CoverTask, 'paths'>,
): string[][] {
  return zones.map(({ ring }, zone) => {
    try {
      const area = { type: 'Polygon', coordinates: [ring] } as const;
      return cover(hexcodes, area, { resolution, compact: isCompact });
    } catch (error) {
      if (error instanceof HexcodesError && error.code === 'BAD_ARGUMENT') throw new ZoneTooLargeError(zone);
      throw error;
    }
  });
}

/** The list as a table, byte for byte as the command writes it. */
export function listOf(hexcodes: Hexcodes, names: readonly string[], codes: readonly string[][]): Blob {
  const parts = codes.map((ofZone, zone) => {
    const name = quotedField(names[zone]!, ',');
    const rows = ofZone.map((code) => {
      const { cell, admin_code } = hexcodes.read(code)!;
      return `${name},${code},${cell.toString(16)},${admin_code}\n`;
    });
    return rows.join('');
  });
  return new Blob([HEADER, ...parts], { type: 'text/csv' });
}

export const shownCodes = (codes: readonly string[]): ZoneCodes => ({
  count: codes.length,
  first: codes.slice(0, FIRST_CODES),
  ...(codes.length > MAX_COPIED ? {} : { text: new Blob([codes.join('\n')]) }),
});
