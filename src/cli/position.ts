// A position and a resolution typed on the command line.

import { readResolution } from '../wire/params/resolution.js';
import { CliFailure, EXIT } from './exit-codes.js';

export interface Position {
  readonly latDeg: number;
  readonly lngDeg: number;
}

const POSITION =
  /^\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)\s*[,;\s]\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)\s*$/i;

/** Reads `21.0288,105.8525`; null if the text is no pair of numbers. */
export function parsePosition(text: string): Position | null {
  const match = POSITION.exec(text);
  return match === null ? null : { latDeg: Number(match[1]), lngDeg: Number(match[2]) };
}

/** The position of an option. @throws CliFailure USAGE if it is none on Earth */
export function requirePosition(text: string, option: string): Position {
  const position = parsePosition(text);
  if (position === null || Math.abs(position.latDeg) > 90 || Math.abs(position.lngDeg) > 180) {
    throw new CliFailure(
      EXIT.USAGE,
      `${option} ${text}: must be a position in degrees, like 21.0288,105.8525`,
    );
  }
  return position;
}

/** The resolution of `--resolution`. @throws CliFailure USAGE if it is no integer from 0 to 15 */
export function requireResolution(text: string): number {
  const resolution = readResolution(text);
  if (resolution >= 0) return resolution;
  throw new CliFailure(EXIT.USAGE, `--resolution ${text}: must be an integer from 0 to 15`);
}
