// A shape in the text of a column: well-known text, or binary in hexadecimal digits.

import { otherSystem } from '../../hexcodes/wire/rows/coordinate-system.js';
import { bytesOfHex, type Shape, shapeOfWkb } from '../../hexcodes/wire/rows/well-known-binary.js';
import { lonePoint, pointsOf } from './shapes.js';
import { shapeOfWkt } from './well-known-text.js';

const HEX_WKB = /^0[01](?:[0-9a-f]{2}){8,}$/i;

/** null for any other text, and for a shape of another system than WGS 84. */
export function shapeInText(text: string): Shape | null {
  const shape = anyShapeIn(text);
  return shape !== null && otherSystem(shape.system) === null ? shape : null;
}

/** The number of the system of a shape; null for any other text. */
export function systemInText(text: string): number | null {
  return anyShapeIn(text)?.system ?? null;
}

function anyShapeIn(text: string): Shape | null {
  const trimmed = text.trim();
  return HEX_WKB.test(trimmed) ? shapeOfWkb(bytesOfHex(trimmed)) : shapeOfWkt(trimmed);
}

/** Whether a shape is more than a point. */
export function isLineOrArea(shape: Shape): boolean {
  return lonePoint(shape) === null && pointsOf(shape, 'first').length > 0;
}
