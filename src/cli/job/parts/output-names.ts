// The names of a job's outputs below its output folder: those of the inputs below the folder that all of them have in
// common, with a number for each part and the ending of another format.

import { posix } from 'node:path';
import { CliFailure, EXIT } from '../../../files/exit-codes.js';
import { type FileFormat, formatOfName } from '../../../files/format.js';

export interface NamedInput {
  /** Relative to the shared folder, with slashes. */
  readonly path: string;
  /** Format of the output. */
  readonly format: FileFormat;
  readonly partCount: number;
}

const ENDINGS: Readonly<Record<FileFormat, string>> = {
  csv: '.csv',
  tsv: '.tsv',
  ndjson: '.ndjson',
  geojson: '.geojson',
  parquet: '.parquet',
  arrow: '.arrow',
};
const PACKED = /\.(?:gz|zst)$/i;
const WORKBOOK = /\.xls[xm]$/i;
const LEAST_DIGITS = 4;

/**
 * @param isCaseIgnored whether names that differ in case alone are one
 * @returns the names of all parts of each input
 * @throws CliFailure USAGE for two outputs of one name
 */
export function outputNames(inputs: readonly NamedInput[], isCaseIgnored = false): string[][] {
  const spelled = (name: string): string => (isCaseIgnored ? name.normalize().toLowerCase() : name);
  const folder = commonFolder(inputs.map(({ path }) => path));
  const below = inputs.map(({ path }) => posix.relative(folder, path));
  const plain = inputs.map((input, i) => partNames(below[i]!, input, false));
  const counts = new Map<string, number>();
  for (const name of plain.flat().map(spelled)) counts.set(name, (counts.get(name) ?? 0) + 1);
  // x.csv and x.parquet become x.csv.csv and x.parquet.csv as CSV.
  const names = plain.map((each, i) =>
    each.some((name) => counts.get(spelled(name))! > 1) ? partNames(below[i]!, inputs[i]!, true) : each,
  );
  const owners = new Map<string, string>();
  for (const [i, each] of names.entries())
    for (const name of each) {
      const other = owners.get(spelled(name));
      if (other !== undefined)
        throw new CliFailure(EXIT.USAGE, `${other} and ${inputs[i]!.path} would both become ${name}`);
      owners.set(spelled(name), inputs[i]!.path);
    }
  return names;
}

function partNames(path: string, { format, partCount }: NamedInput, isWhole: boolean): string[] {
  const { dir, base } = posix.parse(path);
  const isGzip = /\.gz$/i.test(base) && format !== 'parquet' && format !== 'arrow';
  const bare = base.replace(PACKED, '');
  const named = WORKBOOK.test(bare) ? 'workbook' : formatOfName(bare).format;
  const ownEnding = named === null ? '' : posix.extname(bare);
  const stem = isWhole ? bare : bare.slice(0, bare.length - ownEnding.length);
  const ending = !isWhole && named === format ? ownEnding : ENDINGS[format];
  const digits = Math.max(LEAST_DIGITS, `${partCount}`.length);
  return Array.from({ length: partCount }, (_, i) => {
    const number = partCount === 1 ? '' : `.${`${i + 1}`.padStart(digits, '0')}`;
    return posix.join(dir, `${stem}${number}${ending}${isGzip ? '.gz' : ''}`);
  });
}

/** The deepest folder that holds all files. */
function commonFolder(paths: readonly string[]): string {
  let common = posix.dirname(paths[0] ?? '.').split('/');
  for (const path of paths) {
    const folder = posix.dirname(path).split('/');
    const differs = common.findIndex((word, i) => folder[i] !== word);
    if (differs >= 0) common = common.slice(0, differs);
  }
  return common.join('/') || '.';
}
