// A position typed on the command line, and what may be wrong with it.

import type { Hexcodes } from '../library/node.js';
import { CliFailure, EXIT } from './exit-codes.js';

export interface Position {
  readonly latDeg: number;
  readonly lngDeg: number;
}

const POSITION =
  /^\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)\s*[,;\s]\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)\s*$/i;

/** `21.0288,105.8525` as a position; null if the text is none. */
export function parsePosition(text: string): Position | null {
  const match = POSITION.exec(text);
  return match === null ? null : { latDeg: Number(match[1]), lngDeg: Number(match[2]) };
}

/** A position that an option needs. */
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

/** Whether a position that has no code has one with latitude and longitude exchanged. */
export function looksSwapped(hexcodes: Hexcodes, latDeg: number, lngDeg: number): boolean {
  return hexcodes.adminCodeOf(latDeg, lngDeg) === null && hexcodes.adminCodeOf(lngDeg, latDeg) !== null;
}

/** `--resolution` and the like: an integer of 0 to 15. */
export function requireResolution(text: string): number {
  if (!/^(?:\d|1[0-5])$/.test(text)) {
    throw new CliFailure(EXIT.USAGE, `--resolution ${text}: must be an integer from 0 to 15`);
  }
  return Number(text);
}
