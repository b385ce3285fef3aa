// Seeded valid hexcodes, the slips of a typist on them, and whether any slip is accepted.

import { ADMIN_UNITS, type Kernel } from '#hexcodes';

export const SYMBOLS = '23456789CFGHJKMPQRVX';
/** Everything that may be in a text besides separators. */
export const CHARACTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ23456789';

/** base cell and first digit of each head; 7 for the resolution-0 cell. */
const HEADS: readonly (readonly [number, readonly number[]])[] = [
  [32, [7, 0, 1, 4, 5, 6]],
  [50, [7, 0, 2, 4, 6]],
  [52, [7, 0, 4, 5, 6]],
];

/** A random cell with a code: a resolution, a head that fits, random digits. */
export function randomCell(random: () => number, resolution: number): bigint {
  const draw = (n: number): number => Math.floor(random() * n);
  const [base, firstDigits] = HEADS[draw(3)] as (typeof HEADS)[number];
  let cell = (1n << 59n) | (BigInt(resolution) << 52n) | (BigInt(base) << 45n);
  for (let r = 1; r <= 15; r++) {
    const digit =
      r > resolution ? 7 : r === 1 ? (firstDigits[1 + draw(firstDigits.length - 1)] as number) : draw(7);
    cell |= BigInt(digit) << BigInt(3 * (15 - r));
  }
  return cell;
}

/** `each` random codes of every admin code and resolution. */
export function randomCodes(kernel: Kernel, random: () => number, each: number): string[] {
  const codes: string[] = [];
  for (let admin = 0; admin < ADMIN_UNITS.length; admin++)
    for (let resolution = 0; resolution <= 15; resolution++)
      for (let n = 0; n < each; n++) {
        if (kernel.exports.pack(randomCell(random, resolution), admin) !== 0) throw new Error('pack refused');
        codes.push(kernel.textAt(0));
      }
  return codes;
}

export type Slip = 'substitution' | 'swap' | 'next-neighbour swap' | 'twin';

/** Every text one slip away from a code, separators kept in their places. */
export function* slipsOf(code: string): Generator<[Slip, string]> {
  const places = [...code.matchAll(/[^-]/g)].map((match) => match.index);
  const prefix = code.indexOf('-');
  const edited = (...edits: [number, string][]): string => {
    const characters = [...code];
    for (const [place, character] of edits) characters[place] = character;
    return characters.join('');
  };
  for (const [n, i] of places.entries()) {
    const a = code[i] as string;
    for (const other of CHARACTERS) if (other !== a) yield ['substitution', edited([i, other])];
    const j = places[n + 1];
    if (j === undefined) continue;
    const b = code[j] as string;
    if (a !== b) yield ['swap', edited([i, b], [j, a])];
    else if (i > prefix)
      for (const other of SYMBOLS) if (other !== a) yield ['twin', edited([i, other], [j, other])];
    const k = places[n + 2];
    if (k === undefined) continue;
    const c = code[k] as string;
    if (a !== c) yield ['next-neighbour swap', edited([i, c], [k, a])];
  }
}

/** The one slip that the check misses and the reach refuses: CTP… for PTC… and back. */
export function isLeftToReach(code: string, slip: string): boolean {
  const both = [code, slip].map((text) => text.replaceAll('-', '').slice(0, 3)).sort();
  return both.join() === 'CTP,PTC';
}

export interface TypoCounts {
  slips: number;
  leftToReach: number;
  accepted: string[];
}

/** Reads every slip of the codes, with separators and without. */
export function countAccepted(kernel: Kernel, codes: Iterable<string>): TypoCounts {
  const counts: TypoCounts = { slips: 0, leftToReach: 0, accepted: [] };
  for (const code of codes)
    for (const [slip, text] of slipsOf(code))
      for (const spelt of [text, text.replaceAll('-', '')]) {
        counts.slips++;
        if (kernel.readText(spelt) !== 0) continue;
        if (isLeftToReach(code, text)) counts.leftToReach++;
        else counts.accepted.push(`${code} as ${spelt}: ${slip}`);
      }
  return counts;
}
