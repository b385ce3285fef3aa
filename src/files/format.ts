// The formats of src/tables/formats.ts as the command asks for them.

import {
  FILE_FORMATS,
  type FileFormat,
  formatOfBytes,
  formatOfName,
  readFormatOf,
  WRITTEN_FORMATS,
} from '../tables/formats.js';
import { CliFailure, EXIT } from './exit-codes.js';

export {
  FILE_FORMATS,
  type FileFormat,
  FORMAT_TITLES,
  FORMATS,
  formatOfBytes,
  formatOfName,
  isGzipName,
  WRITTEN_FORMATS,
} from '../tables/formats.js';

/** A format named on the command line: of outputs one that is written. @throws CliFailure USAGE for any other word */
export function requireFormat(name: string, option: '--from' | '--to' | '--format'): FileFormat {
  const known = option === '--from' ? FILE_FORMATS : WRITTEN_FORMATS;
  const format = known.find((each) => each === name.toLowerCase());
  if (format === undefined) {
    throw new CliFailure(EXIT.USAGE, `${option} ${name}: must be one of ${known.join(', ')}`);
  }
  return format;
}

/** The format of an input's rows: the one that the user names, else that of its name, else that of its first bytes. */
export function formatOf(
  { path, head }: { readonly path: string | null; readonly head: Uint8Array },
  from: FileFormat | null = null,
): FileFormat {
  return readFormatOf(from ?? (path === null ? null : formatOfName(path).format) ?? formatOfBytes(head));
}
