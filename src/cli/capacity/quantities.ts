// Durations, shares and counts as people write them on the command line: `5s`, `40%`, `2e9`, `50k`.
import { InvalidArgumentError } from 'commander';

const MS_OF: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  min: 60_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  y: 365 * 86_400_000,
};
const FACTOR_OF: Readonly<Record<string, number>> = { '': 1, k: 1e3, M: 1e6, G: 1e9 };

/** @returns milliseconds, above 0 */
export function readDuration(text: string): number {
  const match = /^(\d+(?:\.\d+)?) ?(ms|s|min|m|h|d|y)$/.exec(text.trim());
  const ms = match === null ? 0 : Number(match[1]) * MS_OF[match[2]!]!;
  if (ms > 0) return ms;
  throw new InvalidArgumentError('Write a time as 50ms, 5s, 10min, 6h or 2d.');
}

/** `40%` or `0.4`. @returns 0 to 1 */
export function readShare(text: string): number {
  const match = /^(\d+(?:\.\d+)?) ?(%?)$/.exec(text.trim());
  const share = match === null ? Number.NaN : Number(match[1]) / (match[2] === '%' ? 100 : 1);
  if (share >= 0 && share <= 1) return share;
  throw new InvalidArgumentError('Write a share as 40% or 0.4.');
}

/** `50000`, `50k`, `2e9`, `1.5M`. @returns above 0 */
export function readCount(text: string): number {
  const match = /^(\d+(?:\.\d+)?(?:e\d+)?) ?([kMG]?)$/.exec(text.trim().replace(/(?<=\d)[_,](?=\d{3})/g, ''));
  const count = match === null ? 0 : Number(match[1]) * FACTOR_OF[match[2]!]!;
  if (count > 0 && Number.isFinite(count)) return count;
  throw new InvalidArgumentError('Write a number as 50000, 50k or 2e9.');
}

/** The same, whole. @returns from 0 on */
export function readWholeNumber(text: string): number {
  if (text.trim() === '0') return 0;
  const count = readCount(text);
  if (Number.isInteger(count)) return count;
  throw new InvalidArgumentError('Write a whole number.');
}

/** `2e9:6h`: so many points within a window of every night. */
export function readNightly(text: string): { points: number; windowMs: number } {
  const [points, window, ...rest] = text.split(':');
  if (points === undefined || window === undefined || rest.some((each) => each !== 'csv'))
    throw new InvalidArgumentError('Write it as 2e9:6h, points and the time in which they come.');
  return { points: readCount(points), windowMs: readDuration(window) };
}

/** `30%/y:2y`: the share of a year, and for how long. @returns the factor, 1 or more */
export function readGrowth(text: string): number {
  const match = /^([^/]+)\/y:(.+)$/.exec(text.trim());
  if (match === null) throw new InvalidArgumentError('Write it as 30%/y:2y, growth of a year and the time.');
  return (1 + readShare(match[1]!)) ** (readDuration(match[2]!) / MS_OF.y!);
}
