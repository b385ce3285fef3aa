// Converts files in this process, as the command does.
import { convertFiles } from '#dist/files/run.js';
import type { Hexcodes } from '#hexcodes';

type Options = {
  keep?: readonly string[];
  drop?: readonly string[];
  errors?: string;
  lat?: string;
  lng?: string;
} & Partial<Pick<Parameters<typeof convertFiles>[1], 'operation' | 'sort'>>;

/**
 * `hexcodes encode INPUT -o OUTPUT`, or another operation; paths, whose extensions are the formats.
 * @throws CliFailure as the command says it
 */
export async function encodeFile(
  library: Hexcodes,
  input: string,
  output: string,
  { keep, drop, errors, lat, lng, operation = 'encode', sort = null }: Options = {},
): Promise<void> {
  await convertFiles(
    library,
    {
      operation,
      inputs: [input],
      output,
      from: null,
      to: null,
      resolution: 13,
      isFormer: false,
      sort,
      columns: { prefix: '', keep, drop, lat, lng },
      csv: { delimiter: null, decimal: '.', hasHeader: true },
      input: {},
      errors: errors === undefined ? { kind: 'keep' } : { kind: 'file', path: errors },
      isResume: false,
      threads: 1,
      isQuiet: true,
    },
    () => undefined,
  );
}
