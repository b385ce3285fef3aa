// Whether positions lie in the cells of a list of hexcodes, as `cover` makes it: of one resolution or of several.

import { cellToParent, latLngToCell } from 'h3-js';
import { type Codebook, h3Text, readOrThrow } from './codebook.js';
import { latLngOf, type Position } from './position.js';

/**
 * Cells with names. A position is in a cell of the list if its cell of the finest resolution of the list has it as its
 * H3 ancestor: so a compacted list answers as the one that it was made of. Provinces play no part.
 */
export class CellSet {
  readonly #names = new Map<string, string>();
  /** Descending. */
  readonly #resolutions: readonly number[];

  /**
   * @param hexcodes a loaded library
   * @param codes in any accepted spelling; with a name each, of which the first of a cell counts
   * @throws HexcodesError INVALID_HEXCODES for the first text that is none
   */
  constructor(hexcodes: Codebook, codes: Iterable<string | readonly [code: string, name: string]>) {
    const resolutions = new Set<number>();
    for (const each of codes) {
      const [code, name] = typeof each === 'string' ? [each, ''] : each;
      const { cell, resolution } = readOrThrow(hexcodes, code);
      resolutions.add(resolution);
      const text = h3Text(cell);
      if (!this.#names.has(text)) this.#names.set(text, name);
    }
    this.#resolutions = [...resolutions].sort((a, b) => b - a);
  }

  /** How many cells the list has. */
  get size(): number {
    return this.#names.size;
  }

  /** The finest resolution of the list, 0 for an empty one. */
  get resolution(): number {
    return this.#resolutions[0] ?? 0;
  }

  /** Whether a position in degrees lies in one of the cells. @throws HexcodesError NOT_A_COORDINATE */
  has(position: Position): boolean {
    return this.nameAt(position) !== undefined;
  }

  /**
   * The name of the finest cell that holds a position in degrees; undefined for none.
   * @throws HexcodesError NOT_A_COORDINATE
   */
  nameAt(position: Position): string | undefined {
    const [lat, lng] = latLngOf(position);
    return this.nameOf(latLngToCell(lat, lng, this.resolution));
  }

  /** The same for an H3 cell of the finest resolution, in hexadecimal. */
  nameOf(cell: string): string | undefined {
    for (const [i, resolution] of this.#resolutions.entries()) {
      const name = this.#names.get(i === 0 ? cell : cellToParent(cell, resolution));
      if (name !== undefined) return name;
    }
    return undefined;
  }
}
