// Converts files, and texts in columns, in this process as the command does.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { convertFiles } from '#files';
import type { Hexcodes } from '#hexcodes';

export type ConvertFiles = typeof convertFiles;
export type Request = Parameters<ConvertFiles>[1];
type Given = Partial<Request> & Pick<Request, 'inputs' | 'output'>;
type Options = {
  keep?: readonly string[];
  drop?: readonly string[];
  errors?: string;
  lat?: string;
  lng?: string;
} & Partial<Pick<Request, 'operation' | 'sort'>>;

/**
 * A conversion with the options of the command that are not given, by one thread.
 * @throws CliFailure as the command says it
 */
export const convert = (library: Hexcodes, given: Given, say: (line: string) => void = () => undefined) =>
  convertFiles(
    library,
    {
      ...{ operation: 'encode', from: null, to: null, resolution: 13, isFormer: false, sort: null },
      ...{ columns: { prefix: '' }, csv: { delimiter: null, decimal: '.', hasHeader: true }, input: {} },
      ...{ errors: { kind: 'keep' }, isResume: false, threads: 1, isQuiet: true },
      ...given,
    },
    say,
  );

/**
 * `hexcodes encode INPUT -o OUTPUT`, or another operation; paths, whose extensions are the formats.
 * @throws CliFailure as the command says it
 */
export async function encodeFile(
  library: Hexcodes,
  input: string,
  output: string,
  { keep, drop, errors, lat, lng, ...more }: Options = {},
): Promise<void> {
  await convert(library, {
    ...{ inputs: [input], output, columns: { prefix: '', keep, drop, lat, lng }, ...more },
    errors: errors === undefined ? { kind: 'keep' } : { kind: 'file', path: errors },
  });
}

// Texts in columns of CSV as the command reads them.

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
