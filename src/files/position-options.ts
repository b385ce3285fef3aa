// The options that hold a position or a resolution.

import { readResolution } from '../hexcodes/wire/params/resolution.js';
import { type Position, parsePosition } from '../hexcodes/wire/rows/position-text.js';
import { CliFailure, EXIT } from './exit-codes.js';

/** The position of an option. @throws CliFailure USAGE if it is none on Earth */
export function requirePosition(text: string, option: string): Position {
  const found = parsePosition(text);
  if (found === null || Math.abs(found.latDeg) > 90 || Math.abs(found.lngDeg) > 180) {
    throw new CliFailure(
      EXIT.USAGE,
      `${option} ${text}: must be a position in degrees, like 21.0288,105.8525`,
    );
  }
  return found;
}

/** The resolution of `--resolution`. @throws CliFailure USAGE if it is no integer from 0 to 15 */
export function requireResolution(text: string): number {
  const resolution = readResolution(text);
  if (resolution >= 0) return resolution;
  throw new CliFailure(EXIT.USAGE, `--resolution ${text}: must be an integer from 0 to 15`);
}
