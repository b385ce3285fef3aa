// Files of every format with damaged bytes, and what the command's readers make of them.
import { CliFailure } from '#dist/cli/exit-codes.js';
import { openInput } from '#dist/cli/files/disk/input.js';
import { formatOfName } from '#dist/cli/files/format.js';
import { dialectOf } from '#dist/cli/files/formats/csv-dialect.js';
import { openSource } from '#dist/cli/files/formats/open.js';
import { below, type Random } from '../mutate.js';

export type Damage = 'changed' | 'cut off' | 'left out';

/** A changed byte in a Parquet page, which has no checksum, can keep hyparquet in a loop for minutes. */
export function damagesOf(name: string): readonly Damage[] {
  return name.endsWith('.parquet') ? ['cut off', 'left out'] : ['changed', 'cut off', 'left out'];
}

export function damagedBytes(whole: Buffer, damage: Damage, random: Random): Buffer {
  const bytes = Buffer.from(whole);
  const at = below(bytes.length, random);
  if (damage === 'cut off') return bytes.subarray(0, at);
  if (damage === 'left out')
    return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1 + below(64, random))]);
  for (let i = 0; i < 4; i++) bytes[below(bytes.length, random)] = below(256, random);
  return bytes;
}

/** The number of rows of a file, or its fault; throws what is no CliFailure. */
export async function outcomeOf(
  path: string,
): Promise<{ rows: number } | { fault: string; exitCode: number }> {
  try {
    const input = await openInput(path);
    const format = formatOfName(path).format ?? 'csv';
    const choice = { delimiter: null, decimal: '.', hasHeader: true } as const;
    const dialect = dialectOf(input.head, format, choice, () => false);
    const source = await openSource(input, format, 'types', dialect);
    let rows = 0;
    for await (const { rowCount } of source.batches()) rows += rowCount;
    return { rows };
  } catch (error) {
    if (error instanceof CliFailure) return { fault: error.message, exitCode: error.exitCode };
    throw error;
  }
}
