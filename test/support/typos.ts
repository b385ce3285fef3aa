// Seeded valid hexcodes, the slips of a typist on them, and whether any slip is accepted; and mangled texts.

import { ADMIN_UNITS, type Kernel } from '#hexcodes';

export const SYMBOLS = '23456789CFGHJKMPQRVX';
/** Everything that may be in a text besides separators. */
const CHARACTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ23456789';

/** base cell and first digit of each head; 7 for the resolution-0 cell. */
const HEADS: readonly (readonly [number, readonly number[]])[] = [
  [32, [7, 0, 1, 4, 5, 6]],
  [50, [7, 0, 2, 4, 6]],
  [52, [7, 0, 4, 5, 6]],
];

/** A random cell with a code: a resolution, a head that fits, random digits. */
function randomCell(random: () => number, resolution: number): bigint {
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
function isLeftToReach(code: string, slip: string): boolean {
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

// Seeded texts to be read as hexcodes: codes as people spell them, codes with a few edits, and noise.

const SEPARATORS =
  '\t\n\v\f\r \u00a0\u00ad\u2000\u2007\u200b\u200d\u2010\u2013\u2015\u202f\u205f\u2060\u2212\u3000\ufeff-._';
/** Neighbours of every range that reading knows, and characters that look like symbols. */
const ODDITIES =
  '\0\x01\x08\x0e\x1f!,/01:;@[`{|}~\x7f\x80\u009f\u00a1\u00ac\u00ae\u00bf\u00c6\u00d7\u00df\u00f8\u0131\u0130\u0142\u0150\u01a0\u01b0\u0233\u0234\u02ff\u0370\u0391\u0410\u1dff\u1efa\u1fff\u2016\u202e\u2030\u205e\u2061\u2169\u2211\u2213\u2fff\u3001\ud83d\ude00\udfff\ufefe\uff00\uff01\uff0d\uff10\uff12\uff3a\uff5e\uff5f\uffff';
const LETTERS = 'ĐđÐðÀÉÊẾếỀỂỄỆĂÂÔƠƯươÝỲẪṔḞĞĤĴḰṀṖŘṼẌẍçÇ';
const MARKS = '\u0300\u0301\u0302\u0303\u0309\u0323\u031b\u036f';

type Draw = (n: number) => number;

function pick(draw: Draw, from: string): string {
  return from[draw(from.length)] as string;
}

function anyUnit(draw: Draw): string {
  switch (draw(8)) {
    case 0:
      return pick(draw, SEPARATORS);
    case 1:
      return pick(draw, ODDITIES);
    case 2:
      return pick(draw, LETTERS);
    case 3:
      return pick(draw, MARKS);
    case 4:
      return String.fromCharCode(draw(0x10000));
    case 5:
      return pick(draw, CHARACTERS).toLowerCase();
    case 6:
      return pick(draw, SYMBOLS);
    default:
      return pick(draw, CHARACTERS);
  }
}

/** Another spelling of the same: case, width, separators, marks. */
function respell(draw: Draw, code: string): string {
  let text = '';
  const bare = draw(2) === 0;
  for (const character of code) {
    if (character === '-') {
      if (!bare) text += draw(2) === 0 ? '-' : pick(draw, SEPARATORS);
      continue;
    }
    const style = draw(8);
    if (style === 0) text += character.toLowerCase();
    else if (style === 1) text += String.fromCharCode(character.charCodeAt(0) + 0xfee0);
    else if (style === 2 && character === 'D') text += pick(draw, 'ĐđÐð');
    else text += character;
    if (draw(12) === 0) text += pick(draw, MARKS);
    if (bare && draw(6) === 0 && text.length > 5) text += pick(draw, SEPARATORS);
  }
  return text;
}

function edit(draw: Draw, text: string): string {
  const at = draw(text.length + 1);
  switch (draw(5)) {
    case 0:
      return text.slice(0, at) + anyUnit(draw) + text.slice(at);
    case 1:
      return text.slice(0, at) + text.slice(at + 1);
    case 2:
      return text.slice(0, at) + anyUnit(draw) + text.slice(at + 1);
    case 3:
      return text.slice(0, at) + text.slice(at - 1, at) + text.slice(at);
    default:
      return text.slice(0, at) + text.slice(at + 1, at + 2) + text.slice(at, at + 1) + text.slice(at + 2);
  }
}

/** An endless supply. */
export function* mangledTexts(kernel: Kernel, random: () => number): Generator<string> {
  const draw: Draw = (n) => Math.floor(random() * n);
  const codes = randomCodes(kernel, random, 2);
  for (;;) {
    const kind = draw(10);
    if (kind === 0) {
      let text = '';
      for (let length = draw(80); length > 0; length--) text += anyUnit(draw);
      yield text;
    } else if (kind < 4) {
      // symbols at random: about one in ten with a good admin code is a code
      let text = (codes[draw(codes.length)] as string).replace(/-.*/, '');
      for (let pairs = 1 + draw(6); pairs > 0; pairs--) text += pick(draw, SYMBOLS) + pick(draw, SYMBOLS);
      yield text;
    } else {
      let text = respell(draw, codes[draw(codes.length)] as string);
      for (let edits = draw(4); edits > 0; edits--) text = edit(draw, text);
      yield text;
    }
  }
}
