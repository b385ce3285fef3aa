// A door: a way into the conversion that users have. doors.ts lists them, drive.ts sends the same questions of
// test/vectors/doors.json through each. Answers are in the words of HTTP.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

export type Status = 'OK' | 'NOT_FOUND' | 'INVALID_REQUEST' | 'INVALID_HEXCODES';

export interface Position {
  readonly lat: number;
  readonly lng: number;
}

/** The text of a number in a CSV field, a query or a JSON string. */
export interface Numbers {
  readonly lat: string;
  readonly lng: string;
}

export interface Encoded {
  readonly code: string | null;
  /** Absent where the door has none for a row. */
  readonly status?: Status;
}

export interface Decoded {
  /** Degrees; null with a text that is not a hexcode. */
  readonly lat: number | null;
  readonly lng: number | null;
  readonly resolution: number | null;
}

/** The questions that a door answers; it is asked no others. */
export interface OpenDoor {
  encode?(positions: readonly Position[], resolution: number): Promise<readonly Encoded[]>;
  decode?(texts: readonly string[]): Promise<readonly Decoded[]>;
  /** Canonical texts, for doors that check and spell but know no position. */
  canonical?(texts: readonly string[]): Promise<readonly (string | null)[]>;
  encodeNumbers?(numbers: readonly Numbers[]): Promise<readonly Encoded[]>;
  /** The sentence with which damaged files are refused; null if they are taken. */
  refusal?(files: Record<DataFile, Uint8Array<ArrayBuffer>>): Promise<string | null>;
  close?(): Promise<void> | void;
}

export interface Door {
  readonly name: string;
  /** Why it is not here; undefined where it is. */
  readonly missing?: string | undefined;
  /** Texts that it cannot carry: their line would end, say. */
  carries?(text: string): boolean;
  /** Fields of CSV may have blanks around them and decimal commas; people write minutes, letters and signs, too. */
  readonly readsNumbers?: 'field' | 'people';
  /** A process or request for each: batches would take minutes. */
  readonly isOneByOne?: boolean;
  /** A process for each question: one resolution and one batch stand for all. */
  readonly isSlow?: boolean;
  /** The only file that it takes from users; all three if absent. */
  readonly refuses?: DataFile;
  /** Knows no reach: takes codes of provinces that have no part of their cell. */
  readonly isBlindToReach?: boolean;
  open(): Promise<OpenDoor>;
}

export type DataFile = 'kernel' | 'index' | 'reach';

interface Vectors {
  readonly positions: readonly (Position & {
    readonly resolution: number;
    readonly code: string | null;
    readonly status: Status;
  })[];
  readonly texts: readonly (Decoded & {
    readonly text: string;
    readonly code: string | null;
    /** Its canonical text for those who know no reach. */
    readonly beyondReach?: string;
  })[];
  readonly numbers: readonly (Numbers &
    Required<Encoded> & { readonly field?: Required<Encoded>; readonly people?: Required<Encoded> })[];
  readonly batches: readonly {
    readonly count: number;
    readonly resolution: number;
    readonly failed: number;
    /** SHA-256 of the codes, each with a line feed; a failed one is empty. */
    readonly sha256: string;
  }[];
  readonly damaged: readonly {
    readonly file: DataFile;
    /** Bytes from the start that are left; all if absent. */
    readonly cut?: number;
    /** Address of a byte whose lowest bit is turned. Of the kernel, text that takes the place of other text. */
    readonly flip?: number;
    readonly replace?: readonly [string, string];
    readonly refusal: string;
  }[];
}

export const VECTORS = JSON.parse(readFileSync('test/vectors/doors.json', 'utf8')) as Vectors;

/** The positions of a batch: the same doubles in every language, as each is one division of small integers. */
export function batchOf(count: number): Position[] {
  return Array.from({ length: count }, (_, i) => ({
    lat: 8 + ((i * 7919) % 150_001) / 10_000,
    lng: 102 + ((i * 104_729) % 80_021) / 10_000,
  }));
}

export function digestOf(codes: readonly (string | null)[]): string {
  return createHash('sha256')
    .update(codes.map((code) => `${code ?? ''}\n`).join(''))
    .digest('hex');
}

/** The three files with one of them damaged. */
export function damagedFiles(
  files: Record<DataFile, Uint8Array<ArrayBuffer>>,
  { file, cut, flip, replace }: Vectors['damaged'][number],
): Record<DataFile, Uint8Array<ArrayBuffer>> {
  const bytes = files[file].slice(0, cut);
  if (flip !== undefined) bytes[flip] = bytes[flip]! ^ 1;
  const [from, to] = replace ?? ['', ''];
  const at = replace === undefined ? 0 : Buffer.from(bytes).indexOf(from, 'latin1');
  bytes.set(Buffer.from(to, 'latin1'), at);
  return { ...files, [file]: bytes };
}

export const nothing: Decoded = { lat: null, lng: null, resolution: null };
