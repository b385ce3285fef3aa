// Converts files in this process, as the command does.
import { convertFiles } from '#dist/files/run.js';
import type { Hexcodes } from '#hexcodes';

/**
 * `hexcodes encode INPUT -o OUTPUT`; paths, whose extensions are the formats.
 * @throws CliFailure as the command says it
 */
export async function encodeFile(
  library: Hexcodes,
  input: string,
  output: string,
  { keep, errors, lat, lng }: { keep?: readonly string[]; errors?: string; lat?: string; lng?: string } = {},
): Promise<void> {
  await convertFiles(
    library,
    {
      operation: 'encode',
      inputs: [input],
      output,
      from: null,
      to: null,
      resolution: 13,
      isFormer: false,
      sort: null,
      columns: { prefix: '', keep, lat, lng },
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
