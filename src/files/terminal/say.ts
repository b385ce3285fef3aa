// Messages for people on standard error. If standard error is full or closed, the message is lost and the run
// continues.

import { maskKeyTexts } from '../../config/mask.js';

export { shellWord } from '../../tables/table-error.js';

const STYLES = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
} as const;

export type Paint = (style: keyof typeof STYLES, text: string) => string;

/** Paints text for one stream; leaves it unchanged where that takes no colours. */
export function paintFor(stream: { isTTY?: boolean }): Paint {
  const { NO_COLOR, TERM } = process.env;
  if (stream.isTTY !== true || (NO_COLOR !== undefined && NO_COLOR !== '') || TERM === 'dumb') {
    return (_style, text) => text;
  }
  return (style, text) => {
    const [on, off] = STYLES[style];
    return `\u001b[${on}m${text}\u001b[${off}m`;
  };
}

/** A number with its digits in groups: 1234567 → `1,234,567`. */
export function grouped(value: number): string {
  return Math.round(value)
    .toString()
    .replace(/\B(?=(\d{3})+$)/g, ',');
}

/** A number of things: "1 row", "2 rows". */
export const counted = (count: number, thing: string): string =>
  `${grouped(count)} ${thing}${count === 1 ? '' : 's'}`;

/** A length in metres or kilometres, three digits: `4.35 m`, `1.22 km`. */
export function metres(lengthM: number): string {
  return lengthM < 1000 ? `${significant(lengthM)} m` : `${significant(lengthM / 1000)} km`;
}

/** An area in m² or km², three digits. */
export function squareMetres(areaM2: number): string {
  return areaM2 < 1e6 ? `${significant(areaM2)} m²` : `${significant(areaM2 / 1e6)} km²`;
}

function significant(value: number): string {
  return value >= 100 ? grouped(value) : value.toPrecision(3).replace(/\.?0+$/, '');
}

const isControl = (code: number): boolean => code < 0x20 || (code >= 0x7f && code <= 0x9f);
const isDirection = (code: number): boolean =>
  code === 0x061c ||
  code === 0x200e ||
  code === 0x200f ||
  (code >= 0x2028 && code <= 0x202e) ||
  (code >= 0x2066 && code <= 0x2069);

/** One line: everything that is not plain text becomes `\uXXXX`. */
export function visible(text: string): string {
  return escaped(text, '');
}

/** Several lines: their ends and tabs stay. */
export function visibleLines(text: string): string {
  return escaped(text, '\n\t');
}

/** A message of our own that may quote foreign text: line ends and tabs stay, keys are masked. */
export function visibleMessage(text: string): string {
  return maskKeyTexts(escaped(text, '\n\t'));
}

function escaped(text: string, kept: string): string {
  let shown = '';
  for (const character of text) {
    const code = character.codePointAt(0) as number;
    const isShown = kept.includes(character) || !(isControl(code) || isDirection(code));
    shown += isShown ? character : `\\u${code.toString(16).padStart(4, '0')}`;
  }
  return shown;
}

let isWatched = false;

/** Writes a message as it is; the caller ends its lines. */
export function say(text: string): void {
  if (!isWatched) process.stderr.on('error', () => {});
  isWatched = true;
  process.stderr.write(text);
}
