// A second implementation of the writing half of hexcode format 1, from its specification, over h3-js: strings and
// digits, no tables shared with the kernel. The peer of the file proofs makes its codes with it.

import { getBaseCellNumber, getResolution, latLngToCell } from 'h3-js';

const ALPHABET = '23456789CFGHJKMPQRVX';
const HEADS = '32/- 32/0 32/1 32/4 32/5 32/6 50/- 50/0 50/2 50/4 50/6 52/- 52/0 52/4 52/5 52/6'.split(' ');

/** α·v in GF(4) written 0..3. */
const TIMES_ALPHA = [0, 2, 3, 1];

function digitsOf(cell: string): number[] {
  const index = BigInt(`0x${cell}`);
  return Array.from({ length: getResolution(cell) }, (_, i) => Number((index >> BigInt(42 - 3 * i)) & 7n));
}

/** The check symbol's value over letters and symbol values: solves acc·g + c = 0 in GF(4) × Z/5, g = (α, 2). */
function checkOf(values: readonly number[]): number {
  let inGf4 = 0;
  let inZ5 = 0;
  for (const value of values) {
    inGf4 = (TIMES_ALPHA[inGf4] as number) ^ (value % 4);
    inZ5 = (inZ5 * 2 + value) % 5;
  }
  const c4 = TIMES_ALPHA[inGf4] as number;
  const c5 = (5 - ((inZ5 * 2) % 5)) % 5;
  return (5 * c4 + 16 * c5) % 20;
}

/** The canonical hexcode of an H3 cell (as h3-js writes it) and an admin code; null where the cell is under no head. */
export function packByPeer(cell: string, adminCode: string): string | null {
  const digits = digitsOf(cell);
  const head = HEADS.indexOf(`${getBaseCellNumber(cell)}/${digits[0] ?? '-'}`);
  if (head < 0) return null;
  const values = [head];
  for (let i = 1; i < digits.length; i += 3) {
    const [a, b, c] = digits.slice(i, i + 3) as [number, number?, number?];
    const value = 1 + 57 * a + (b === undefined ? 0 : 1 + 8 * b + (c === undefined ? 0 : 1 + c));
    values.push(Math.floor(value / 20), value % 20);
  }
  values.push(checkOf([...[...adminCode].map((letter) => (letter.charCodeAt(0) - 65) % 20), ...values]));
  const payload = values.map((value) => ALPHABET[value]).join('');
  return `${adminCode}-${payload.replace(/.{5}(?=.)/g, '$&-')}`;
}

/** The canonical hexcode of a position whose admin code is known. */
export function encodeByPeer(
  latDeg: number,
  lngDeg: number,
  resolution: number,
  adminCode: string,
): string | null {
  return packByPeer(latLngToCell(latDeg, lngDeg, resolution), adminCode);
}
