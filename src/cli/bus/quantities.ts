// Sizes, times and counts as options give them: 512M, 24h, 32.
import { CliFailure, EXIT } from '../../files/exit-codes.js';

const SIZE_UNITS: Readonly<Record<string, number>> = {
  '': 1,
  k: 2 ** 10,
  m: 2 ** 20,
  g: 2 ** 30,
  t: 2 ** 40,
};
const TIME_UNITS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** Bytes: a number, and K, M, G or T of 1,024 each. */
export function requireSize(flag: string, text: string): number {
  const [, number = '', unit = ''] = /^(\d{1,9}(?:\.\d+)?)([kmgt]?)$/i.exec(text) ?? [];
  const sizeBytes = Math.round(Number(number) * SIZE_UNITS[unit.toLowerCase()]!);
  if (number === '' || sizeBytes < 1)
    throw new CliFailure(EXIT.USAGE, `${flag} ${text}: must be a size, as 512M or 10G`);
  return sizeBytes;
}

/** Milliseconds: a number and ms, s, m, h or d. */
export function requireTime(flag: string, text: string): number {
  const [, number = '', unit = ''] = /^(\d{1,9}(?:\.\d+)?)(ms|s|m|h|d)$/.exec(text) ?? [];
  const ms = Math.round(Number(number) * (TIME_UNITS[unit] ?? 0));
  if (number === '' || ms < 1)
    throw new CliFailure(EXIT.USAGE, `${flag} ${text}: must be a time, as 500ms, 5s, 24h or 7d`);
  return ms;
}

export function requireCount(flag: string, text: string, least: number, most: number): number {
  const count = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (count >= least && count <= most) return count;
  throw new CliFailure(EXIT.USAGE, `${flag} ${text}: must be a whole number from ${least} to ${most}`);
}
