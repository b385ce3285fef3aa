// Writes hexcodes over h3-js by the rules of docs/code-format.md:
// hexcodeOf(latLngToCell(21.0288, 105.8525, 13), 'HN') is HN-6GHP4-83RFR.
import { getBaseCellNumber, getResolution } from 'h3-js';

const SYMBOLS = '23456789CFGHJKMPQRVX';
const HEADS = '32/- 32/0 32/1 32/4 32/5 32/6 50/- 50/0 50/2 50/4 50/6 52/- 52/0 52/4 52/5 52/6'.split(' ');
const A = [0, 2, 3, 1];

/** The hexcode of an H3 cell in hexadecimal and an admin code; null where there is none. Knows nothing of the reach. */
export function hexcodeOf(cell, adminCode) {
  const index = BigInt(`0x${cell}`);
  const digits = Array.from({ length: getResolution(cell) }, (_, i) =>
    Number((index >> BigInt(42 - 3 * i)) & 7n),
  );
  const head = HEADS.indexOf(`${getBaseCellNumber(cell)}/${digits.shift() ?? '-'}`);
  if (head < 0) return null;
  const symbols = [head];
  while (digits.length > 0) {
    const [a, b, c] = digits.splice(0, 3);
    const number = 57 * a + 1 + (b === undefined ? 0 : 8 * b + 1 + (c === undefined ? 0 : c + 1));
    symbols.push(Math.floor(number / 20), number % 20);
  }
  let p = 0;
  let q = 0;
  for (const value of [...[...adminCode].map((letter) => (letter.charCodeAt(0) - 65) % 20), ...symbols]) {
    p = A[p] ^ (value % 4);
    q = (2 * q + value) % 5;
  }
  symbols.push((5 * A[p] + 16 * ((5 - ((2 * q) % 5)) % 5)) % 20);
  const text = symbols.map((value) => SYMBOLS[value]).join('');
  return `${adminCode}-${text.replace(/.{5}(?=.)/g, '$&-')}`;
}
