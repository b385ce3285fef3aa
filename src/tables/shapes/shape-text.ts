// A shape in the text of a column: well-known text, or binary in hexadecimal digits.

import { type Shape, shapeOfWkb } from '../../hexcodes/wire/rows/well-known-binary.js';
import { lonePoint, pointsOf } from './shapes.js';
import { shapeOfWkt } from './well-known-text.js';

const HEX_WKB = /^0[01](?:[0-9a-f]{2}){8,}$/i;
const DEGREES: ReadonlySet<number> = new Set([0, 4326]);

/** null for any other text. */
export function shapeInText(text: string): Shape | null {
  const trimmed = text.trim();
  const shape = HEX_WKB.test(trimmed) ? shapeOfWkb(bytesOfHex(trimmed)) : shapeOfWkt(trimmed);
  return shape !== null && DEGREES.has(shape.system) ? shape : null;
}

function bytesOfHex(digits: string): Uint8Array {
  const bytes = new Uint8Array(digits.length / 2);
  for (let i = 0; i < bytes.length; i++)
    bytes[i] = (digitOf(digits.charCodeAt(2 * i)) << 4) | digitOf(digits.charCodeAt(2 * i + 1));
  return bytes;
}

/** Letters of either case are nine more than their last four bits. */
const digitOf = (code: number): number => (code & 15) + 9 * (code >> 6);

/** Whether a shape is more than a point. */
export function isLineOrArea(shape: Shape): boolean {
  return lonePoint(shape) === null && pointsOf(shape, 'first').length > 0;
}
