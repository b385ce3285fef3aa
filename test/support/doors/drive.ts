// Drives doors with the vectors of test/vectors/doors.json.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { shippedFiles } from '../shipped.js';
import { batchOf, type Door, damagedFiles, digestOf, type Encoded, type OpenDoor, VECTORS } from './door.js';

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
