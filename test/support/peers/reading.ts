// A second implementation of the reading half of hexcode format 1, from its specification: Unicode normalisation of the
// platform, strings and regular expressions; no tables shared with the kernel. Reach is not part of it.

import { ADMIN_UNITS, type Kernel } from '#hexcodes';
import { packByPeer } from './code-format.js';

const ALPHABET = '23456789CFGHJKMPQRVX';
const HEADS = '32/- 32/0 32/1 32/4 32/5 32/6 50/- 50/0 50/2 50/4 50/6 52/- 52/0 52/4 52/5 52/6'.split(' ');
const ADMIN_CODES = new Set(ADMIN_UNITS.map((unit) => unit.code));

const SEPARATOR = /[\t-\r \u00a0\u00ad\u2000-\u2015\u202f\u205f\u2060\u2212\u3000\ufeff._-]/;

/** The pre-order tree of pairs, walked: value → its digits. */
const PAIRS: string[] = [];
function walk(digits: string): void {
  PAIRS.push(digits);
  if (digits.length < 3) for (let d = 0; d < 7; d++) walk(digits + d);
}
walk('');

/** One UTF-16 unit as it is read: a character, a separator (`-`), nothing, or null for a refusal. */
export function kept(unit: string): string | null {
  const code = unit.charCodeAt(0);
  if (code >= 0xff01 && code <= 0xff5e) return kept(String.fromCharCode(code - 0xfee0));
  if (SEPARATOR.test(unit)) return '-';
  if (/[\u0300-\u036f]/.test(unit)) return '';
  if (/[\u0110\u0111\u00d0\u00f0]/.test(unit)) return 'D';
  if (code >= 0xc0 && code <= 0x1ef9) {
    const [letter = '', ...marks] = unit.normalize('NFD');
    if (!/[A-Za-z]/.test(letter) || marks.length === 0 || !/^\p{M}+$/u.test(marks.join(''))) return null;
    return letter.toUpperCase();
  }
  return /[A-Za-z2-9]/.test(unit) ? unit.toUpperCase() : null;
}

/** The H3 cell (as h3-js writes it), admin code and canonical text of a text; null where it is not a hexcode. */
export function readByPeer(text: string): { cell: string; adminCode: string; canonical: string } | null {
  if (text.length > 64) return null;
  const units = text.split('').map(kept);
  if (units.includes(null)) return null;
  const spelt = units.join('').replace(/^-+/, '');
  const characters = spelt.replaceAll('-', '');
  if (characters.length < 4 || characters.length > 15) return null;
  const letters = characters.length % 2 === 0 ? 2 : 3;
  const claimed = spelt.indexOf('-');
  if ((claimed === 2 || claimed === 3) && claimed !== letters) return null;
  const adminCode = characters.slice(0, letters);
  if (!ADMIN_CODES.has(adminCode)) return null;

  const values = [...characters.slice(letters, -1)].map((symbol) => ALPHABET.indexOf(symbol));
  const head = HEADS[values.shift() as number];
  if (head === undefined || values.includes(-1)) return null;
  const [base, first] = head.split('/') as [string, string];
  if (first === '-' && values.length > 0) return null;
  let digits = first === '-' ? '' : first;
  while (values.length > 0) {
    const pair = PAIRS[20 * (values.shift() as number) + (values.shift() as number)] ?? '';
    if (pair === '' || (pair.length < 3 && values.length > 0)) return null;
    digits += pair;
  }
  if (digits.length > 15) return null;
  const index =
    (1n << 59n) |
    (BigInt(digits.length) << 52n) |
    (BigInt(base) << 45n) |
    BigInt(`0o${digits.padEnd(15, '7')}`);
  const cell = index.toString(16);
  // the check, and with it everything, by writing the code again
  const canonical = packByPeer(cell, adminCode);
  return canonical?.replaceAll('-', '') === characters ? { cell, adminCode, canonical } : null;
}

// Checks on every text that is read: an accepted text has one canonical text, which reads as itself.

export interface ReadingCounts {
  texts: number;
  accepted: number;
  /** Faults, in words. */
  wrong: string[];
}

/** Whether readAscii answers as readText did, and says whether the text is canonical. */
function readsAlikeAsBytes(kernel: Kernel, text: string, status: number, canonical: string | null): boolean {
  const { exports, output, textIn } = kernel;
  const answer = output.slice(0, 52);
  textIn.set(Buffer.from(text.slice(0, 65)));
  if (exports.readAscii(text.length) !== status || output[26] !== Number(text === canonical)) return false;
  output[26] = answer[26]!;
  return answer.every((byte, at) => byte === output[at]);
}

/**
 * Reads `count` texts of a supply. An accepted text's canonical text reads as itself and is what pack gives; every
 * `peerEvery`-th answer is compared with the second implementation. A trap of the kernel throws.
 */
export function checkReading(
  kernel: Kernel,
  texts: Iterator<string>,
  count: number,
  peerEvery: number,
): ReadingCounts {
  const counts: ReadingCounts = { texts: 0, accepted: 0, wrong: [] };
  const { exports, output, outputCells } = kernel;
  for (; counts.texts < count; counts.texts++) {
    const text = texts.next().value as string;
    const complain = (what: string) => counts.wrong.push(`${JSON.stringify(text)}: ${what}`);
    const status = kernel.readText(text);
    const canonical = status === 0 ? kernel.textAt(32) : null;
    if (/^[\0-\x7f]*$/.test(text) && !readsAlikeAsBytes(kernel, text, status, canonical))
      complain('its bytes are read in another way');
    if (canonical !== null) {
      counts.accepted++;
      const cell = outputCells[2] as bigint;
      const admin = output[25] as number;
      if (exports.pack(cell, admin) !== 0 || kernel.textAt(0) !== canonical)
        complain(`${canonical} is not what pack gives`);
      if (kernel.readText(canonical) !== 0 || kernel.textAt(32) !== canonical || outputCells[2] !== cell)
        complain(`${canonical} does not read as itself`);
      if (output[25] !== admin) complain(`${canonical} has another province`);
    } else if (status !== 3) complain(`status ${status}`);
    if (counts.texts % peerEvery === 0 && (readByPeer(text)?.canonical ?? null) !== canonical)
      complain(`kernel ${canonical}, peer ${readByPeer(text)?.canonical ?? null}`);
  }
  return counts;
}
