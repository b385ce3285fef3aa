// Files of every format with damaged bytes, and what the command's readers make of them.

import { openInput } from '#dist/files/disk/input.js';
import { FORMATS, formatOfName, WRITTEN_FORMATS } from '#dist/files/format.js';
import { dialectOf } from '#dist/files/formats/csv/dialect.js';
import { openSource } from '#dist/files/formats/open.js';
import { below, pick, type Random } from '../mutate.js';

/** Undamaged files: one of each format that is written and has rows of its own, and CSV packed. */
export const NAMES = [
  ...WRITTEN_FORMATS.filter((format) => FORMATS[format].readAs === null).map((format) => `whole.${format}`),
  'whole.csv.gz',
];

/** The exit code of the command for an input that it cannot read. */
export const BAD_INPUT = 3;

export type Damage = 'changed' | 'cut off' | 'left out' | 'claims';

export const DAMAGES: readonly Damage[] = ['changed', 'cut off', 'left out', 'claims'];

/**
 * Numbers as sizes and counts have them when they lie: little-endian of 1, 2, 4 and 8 bytes, and of seven bits a byte.
 */
const CLAIMS = [
  'ff',
  '7f',
  'ffff',
  'ffff03',
  'ffffff7f',
  'ffffffff',
  '00000001',
  'ffffffffffffff7f',
  'ffffffff0f',
  'feffffff0f',
].map((hex) => Buffer.from(hex, 'hex'));

export function damagedBytes(whole: Buffer, damage: Damage, random: Random): Buffer {
  const bytes = Buffer.from(whole);
  const at = below(bytes.length, random);
  if (damage === 'cut off') return bytes.subarray(0, at);
  if (damage === 'left out')
    return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1 + below(64, random))]);
  if (damage === 'claims') pick(CLAIMS, random).copy(bytes, at);
  else for (let i = 0; i < 4; i++) bytes[below(bytes.length, random)] = below(256, random);
  return bytes;
}

/** Opens a file as the command does. @param target 'types' for a format with types, 'any' for one of text */
export async function sourceOf(path: string, target: 'types' | 'any' = 'types') {
  const input = await openInput(path);
  const format = formatOfName(path).format ?? 'csv';
  const choice = { delimiter: null, decimal: '.', hasHeader: true } as const;
  const dialect = dialectOf(input.head, format, choice, () => false);
  try {
    return { input, source: await openSource(input, format, target, dialect) };
  } catch (error) {
    input.close();
    throw error;
  }
}

/** The number of rows of a file, or its fault; throws what is not a CliFailure. */
export async function outcomeOf(
  path: string,
): Promise<{ rows: number } | { fault: string; exitCode: number }> {
  let close = (): void => undefined;
  try {
    const { input, source } = await sourceOf(path);
    close = () => input.close();
    let rows = 0;
    for await (const { rowCount } of source.batches()) rows += rowCount;
    return { rows };
  } catch (error) {
    const { name, message, exitCode } = error as Error & { exitCode?: number };
    if (name !== 'CliFailure') throw error;
    return { fault: message, exitCode: exitCode! };
  } finally {
    close();
  }
}
