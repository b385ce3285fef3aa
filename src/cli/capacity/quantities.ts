// Durations, shares and counts as people write them on the command line: `5s`, `40%`, `2e9`, `50k`.
import { InvalidArgumentError } from 'commander';
import { grouped } from '../../files/terminal/paint.js';

const MS_OF: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  min: 60_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  y: 365 * 86_400_000,
};
const DIGITS_OF: Readonly<Record<string, number>> = { '': 0, k: 3, M: 6, G: 9 };
const MOST_YEARS = 100;
const MOST_GROWTH = 1000;
const MOST_NIGHTLY_POINTS = 1e15;

/** @returns milliseconds, above 0 */
export function readDuration(text: string): number {
  const match = /^(\d+(?:\.\d+)?) ?(ms|s|min|m|h|d|y)$/.exec(text.trim());
  const ms = match === null ? 0 : Number(match[1]) * MS_OF[match[2]!]!;
  if (ms > 0 && ms <= MOST_YEARS * MS_OF.y!) return ms;
  throw new InvalidArgumentError(`Write a time as 50ms, 5s, 10min, 6h or 2d, up to ${MOST_YEARS}y.`);
}

/** `40%` or `0.4`. @returns 0 to 1 */
export function readShare(text: string): number {
  const share = shareOf(text);
  if (share <= 1) return share;
  throw new InvalidArgumentError('Write a share as 40% or 0.4.');
}

/** NaN where it is none. */
function shareOf(text: string): number {
  const match = /^(\d+(?:\.\d+)?) ?(%?)$/.exec(text.trim());
  return match === null ? Number.NaN : Number(match[1]) / (match[2] === '%' ? 100 : 1);
}

/** `50000`, `50k`, `2e9`, `1.5M`, `50,000`; NaN where it is none. */
function numberOf(text: string): number {
  const match = /^(\d+(?:\.\d+)?)(?:e(\d+))? ?([kMG]?)$/.exec(
    text.trim().replace(/(?<=\d)[_,](?=\d{3})/g, ''),
  );
  if (match === null) return Number.NaN;
  const [, digits, exponent = '0', unit = ''] = match;
  // As one literal: 1.005 × 1000 is not 1005 in binary.
  return Number(`${digits}e${Number(exponent) + DIGITS_OF[unit]!}`);
}

/** @returns a reader of numbers within bounds, whole or not */
export function numberFrom(least: number, most: number): (text: string) => number {
  return (text) => {
    const count = numberOf(text);
    if (count >= least && count <= most) return count;
    throw new InvalidArgumentError(
      `Write a number from ${grouped(least)} to ${grouped(most)}, as 2.5, 50000, 50k or 2e9.`,
    );
  };
}

/** @returns a reader of whole numbers within bounds */
export function wholeFrom(least: number, most: number): (text: string) => number {
  return (text) => {
    const count = numberOf(text);
    if (Number.isInteger(count) && count >= least && count <= most) return count;
    throw new InvalidArgumentError(
      `Write a whole number from ${grouped(least)} to ${grouped(most)}, as 3, 5000, 5k or 2e3.`,
    );
  };
}

/** `2e9:6h`: a number of points within a window of every night. */
export function readNightly(text: string): { points: number; windowMs: number } {
  const [points, window, ...rest] = text.split(':');
  if (points === undefined || window === undefined || rest.some((each) => each !== 'csv'))
    throw new InvalidArgumentError('Write it as 2e9:6h, points and the time in which they come.');
  const windowMs = readDuration(window);
  if (windowMs > MS_OF.d!) throw new InvalidArgumentError('The time of every night is a day at most.');
  return { points: wholeFrom(1, MOST_NIGHTLY_POINTS)(points), windowMs };
}

/** `30%/y:2y`: the share of a year, which may be above 100 %, and for how long. @returns the factor, 1 or more */
export function readGrowth(text: string): number {
  const match = /^([^/]+)\/y:(.+)$/.exec(text.trim());
  const share = match === null ? Number.NaN : shareOf(match[1]!);
  if (Number.isNaN(share))
    throw new InvalidArgumentError('Write it as 30%/y:2y, growth of a year and the time.');
  const factor = (1 + share) ** (readDuration(match![2]!) / MS_OF.y!);
  if (factor <= MOST_GROWTH) return factor;
  throw new InvalidArgumentError(`No more than ${grouped(MOST_GROWTH)} times the fleet in all.`);
}
