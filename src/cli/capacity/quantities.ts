// Durations as people write them on the command line: `50ms`, `5s`.
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

/** @returns milliseconds, above 0 */
export function readDuration(text: string): number {
  const match = /^(\d+(?:\.\d+)?) ?(ms|s|min|m|h|d|y)$/.exec(text.trim());
  const ms = match === null ? 0 : Number(match[1]) * MS_OF[match[2]!]!;
  if (ms > 0) return ms;
  throw new InvalidArgumentError('Write a time as 50ms, 5s, 10min, 6h or 2d.');
}
