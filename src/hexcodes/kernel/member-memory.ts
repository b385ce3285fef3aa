// Lines of NDJSON as columns, by the kernel (assembly/text/scan/scan-members.ts): sets the columns, and reads the
// values that a scan has found. Only the MemberMemory of a kernel whose columns were set last is valid.

import type { KernelExports } from './exports.js';
import type { Kernel } from './kernel.js';
import { type TextMemory, textMemoryOf } from './text-memory.js';

/** Roles of columns. AS_RAW keeps the quotes of texts; the last three have values of eight bytes. */
export const [AS_TEXT, AS_RAW, AS_DOUBLE, AS_LONG, AS_BOOLEAN] = [0, 1, 2, 3, 4] as const;

/** Kinds of values, one bit each. An ODD number is one whose text differs from its printed value. */
export const KINDS = {
  text: 1,
  escaped: 2,
  integer: 4,
  fraction: 8,
  odd: 16,
  boolean: 32,
  null: 64,
  nested: 128,
} as const;

export const NUMBERS = KINDS.integer | KINDS.fraction | KINDS.odd;

/** Bytes of a column in MEMBERS, and the offsets of its parts. */
const COLUMN_BYTES = 32;
const AT_NAME_BYTES = 4;
const AT_ROLE = 8;
const AT_AXIS = 9;
const AT_KINDS = 10;
const AT_EVERYWHERE = 11;
const AT_BASE = 12;
const AT_MASK = 16;
const MASK_BYTES = 16;
/** Bytes of a value in TEXT_OUT: the value, its start, its end and its kind. */
const VALUE_BYTES = 17;
/** The limit of a scan is a multiple of it. */
const ROW_STEP = 16;

export interface Member {
  readonly name: string;
  readonly role: number;
  /** 1 for latitudes and 2 for longitudes, whose numbers become points at INPUT. */
  readonly axis: 0 | 1 | 2;
}

export class MemberMemory {
  readonly text: TextMemory;
  readonly #exports: KernelExports;
  readonly #memory: Uint8Array;
  readonly #view: DataView;
  #columns = 0;
  /** Most rows of a scan. */
  maxRows = 0;
  /** Whether the columns fit; if not, lines are left to the host. */
  fits = true;
  #limit = 0;

  constructor(kernel: Kernel) {
    this.text = textMemoryOf(kernel);
    this.#exports = kernel.exports;
    this.#memory = new Uint8Array(kernel.exports.memory.buffer);
    this.#view = new DataView(this.#memory.buffer);
  }

  /** Sets the columns. */
  set(members: readonly Member[]): void {
    const { MEMBERS, MEMBERS_BYTES, TEXT_OUT_BYTES, CAPACITY } = this.#exports;
    const rows = Math.min(CAPACITY.value, Math.floor(TEXT_OUT_BYTES.value / (VALUE_BYTES * members.length)));
    this.maxRows = rows - (rows % ROW_STEP);
    let nameAt = MEMBERS.value + COLUMN_BYTES * members.length;
    // Names are compared by vectors.
    const end = MEMBERS.value + MEMBERS_BYTES.value - MASK_BYTES;
    const names = members.map(({ name }) => Buffer.from(JSON.stringify(name)));
    const nameBytes = names.reduce((sum, { length }) => sum + length, 0);
    this.fits = this.maxRows > 0 && nameAt + nameBytes <= end;
    if (!this.fits) {
      this.maxRows = CAPACITY.value;
      return;
    }
    for (const [c, { role, axis }] of members.entries()) {
      const at = MEMBERS.value + COLUMN_BYTES * c;
      const name = names[c]!;
      this.#memory.fill(0, at, at + COLUMN_BYTES);
      this.#view.setUint32(at, nameAt, true);
      this.#view.setUint32(at + AT_NAME_BYTES, name.length, true);
      this.#memory[at + AT_ROLE] = role;
      this.#memory[at + AT_AXIS] = axis;
      this.#memory.fill(255, at + AT_MASK, at + AT_MASK + Math.min(name.length, MASK_BYTES));
      this.#memory.set(name, nameAt);
      nameAt += name.length;
    }
    this.#columns = members.length;
  }

  /** Sets the address of a column's numbers in the host's bytes. */
  setBase(column: number, base: number): void {
    this.#view.setUint32(this.#exports.MEMBERS.value + COLUMN_BYTES * column + AT_BASE, base, true);
  }

  /**
   * Reads lines of the block text between two of its bytes.
   * @param textAt address of the block in the host's bytes, from which starts and ends count
   * @returns the number of rows and of their bytes
   */
  scan(
    from: number,
    to: number,
    maxRows: number,
    textAt: number,
    isKindsOnly: boolean,
  ): readonly [rows: number, sizeBytes: number] {
    const { blockAt } = this.text;
    this.#limit = Math.min(this.maxRows, Math.ceil(maxRows / ROW_STEP) * ROW_STEP);
    const rows = this.#exports.scanMembers(
      ...([blockAt + from, blockAt + to, this.#limit, this.#columns, blockAt - textAt, isKindsOnly] as const),
    );
    return [rows, this.#exports.membersEnd.value - blockAt - from];
  }

  get blankLines(): number {
    return this.#exports.blankLines.value;
  }

  /** All kinds that the last scan met in a column. */
  kindsMet(column: number): number {
    return this.#memory[this.#exports.MEMBERS.value + COLUMN_BYTES * column + AT_KINDS]!;
  }

  /** Whether the column has a value in all rows of the last scan. */
  isEverywhere(column: number): boolean {
    return this.#memory[this.#exports.MEMBERS.value + COLUMN_BYTES * column + AT_EVERYWHERE] !== 0;
  }

  /** Values of eight bytes, one for each row. */
  values(column: number, rows: number): Uint8Array {
    const at = this.#areaAt(column);
    return this.#memory.subarray(at, at + 8 * rows);
  }

  /** Values of eight bytes as doubles, valid for all roles except AS_LONG. */
  numbers(column: number, rows: number): Float64Array {
    return new Float64Array(this.#memory.buffer, this.#areaAt(column), rows);
  }

  starts(column: number, rows: number): Int32Array {
    return new Int32Array(this.#memory.buffer, this.#areaAt(column) + 8 * this.#limit, rows);
  }

  ends(column: number, rows: number): Int32Array {
    return new Int32Array(this.#memory.buffer, this.#areaAt(column) + 12 * this.#limit, rows);
  }

  kinds(column: number, rows: number): Uint8Array {
    const at = this.#areaAt(column) + 16 * this.#limit;
    return this.#memory.subarray(at, at + rows);
  }

  #areaAt(column: number): number {
    return this.#exports.TEXT_OUT.value + VALUE_BYTES * this.#limit * column;
  }
}
