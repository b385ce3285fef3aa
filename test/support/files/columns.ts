// Texts in columns of CSV as the command reads them.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Hexcodes } from '#hexcodes';
import { convert } from './convert.js';

/** The code of each row at resolution 15: null outside the provinces, undefined where the row is refused. */
export async function codesInColumns(
  library: Hexcodes,
  columns: string,
  rows: readonly (readonly string[])[],
): Promise<(string | null | undefined)[]> {
  const folder = mkdtempSync(join(tmpdir(), 'hexcodes-columns-'));
  const [input, output] = [join(folder, 'in.csv'), join(folder, 'out.ndjson')];
  const lines = rows.map((row) => row.map((text) => `"${text.replaceAll('"', '""')}"`).join());
  try {
    writeFileSync(input, `${[columns, ...lines].join('\n')}\n`);
    await convert(library, { inputs: [input], output, resolution: 15 });
    const answers = readFileSync(output, 'utf8').trim().split('\n');
    if (answers.length !== rows.length) throw new Error(`${answers.length} answers to ${rows.length} rows`);
    return answers.map((line) => {
      const { hexcodes, status } = JSON.parse(line) as { hexcodes: string | null; status: string };
      return status === 'INVALID_REQUEST' ? undefined : hexcodes;
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}
