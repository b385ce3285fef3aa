// A door: a way into the conversion that users have. doors.ts lists them, `drive` sends the same questions of
// test/vectors/doors.json through each. Answers are in the words of HTTP.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { shippedFiles } from '../shipped.js';

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

type DataFile = 'kernel' | 'index' | 'reach';

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
function damagedFiles(
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

// Drives doors with the vectors of test/vectors/doors.json.

const RESOLUTIONS = [...new Set(VECTORS.positions.map(({ resolution }) => resolution))];
/** Between printed and computed last digits. */
const NEAR_DEGREES = 1e-9;

/** An answer without a status is one of a door that has none. */
function expectEncoded(found: readonly Encoded[], wanted: readonly Required<Encoded>[]): void {
  const known = found.map(({ code, status }, i) => ({ code, status: status ?? wanted[i]?.status }));
  expect(known).toEqual(wanted.map(({ code, status }) => ({ code, status })));
}

export function drive(doors: readonly Door[]): void {
  for (const door of doors) {
    const note = door.missing === undefined ? '' : ` (${door.missing})`;
    describe.skipIf(door.missing !== undefined)(`${door.name}${note}`, () => {
      let open: OpenDoor;
      beforeAll(async () => {
        open = await door.open();
      });
      afterAll(() => open?.close?.());

      test('answers as recorded', { timeout: 300_000 }, async () => {
        const { encode, decode, canonical, encodeNumbers, refusal } = open;
        const carried = VECTORS.texts.filter(({ text }) => door.carries?.(text) ?? true);
        expect([encode, decode, canonical].some((call) => call !== undefined)).toBe(true);
        expect(carried.length).toBeGreaterThan(10);

        const resolutions = door.isSlow ? [13] : RESOLUTIONS;
        for (const resolution of encode === undefined ? [] : resolutions) {
          const rows = VECTORS.positions.filter((row) => row.resolution === resolution);
          expectEncoded(await encode!(rows, resolution), rows);
        }
        const batches = VECTORS.batches.filter(({ count }) => !door.isSlow || count === 4097);
        for (const { count, resolution, failed, sha256 } of encode === undefined || door.isOneByOne
          ? []
          : batches) {
          const codes = (await encode!(batchOf(count), resolution)).map(({ code }) => code);
          expect([
            count,
            codes.length,
            codes.filter((code) => code === null).length,
            digestOf(codes),
          ]).toEqual([count, count, failed, sha256]);
        }
        if (encodeNumbers !== undefined) {
          const wanted = VECTORS.numbers.map((row) => ({
            ...row,
            ...(door.readsNumbers === undefined ? {} : row.field),
            ...(door.readsNumbers === 'people' ? row.people : {}),
          }));
          expectEncoded(await encodeNumbers(VECTORS.numbers), wanted);
        }
        if (canonical !== undefined) {
          const wanted = carried.map(({ code, beyondReach }) =>
            door.isBlindToReach ? (beyondReach ?? code) : code,
          );
          expect(await canonical(carried.map(({ text }) => text))).toEqual(wanted);
        }
        if (decode !== undefined) {
          const found = await decode(carried.map(({ text }) => text));
          expect(found.map(({ resolution }) => resolution)).toEqual(
            carried.map(({ resolution }) => resolution),
          );
          carried.forEach(({ text, lat, lng }, i) => {
            for (const [mine, wanted] of [
              [found[i]!.lat, lat],
              [found[i]!.lng, lng],
            ] as const)
              expect(Math.abs((mine ?? 0) - (wanted ?? 0)), text).toBeLessThan(NEAR_DEGREES);
          });
        }
        for (const damage of refusal === undefined ? [] : VECTORS.damaged) {
          if (door.refuses !== undefined && door.refuses !== damage.file) continue;
          expect(await refusal!(damagedFiles(shippedFiles(), damage))).toContain(damage.refusal);
        }
      });
    });
  }
}
