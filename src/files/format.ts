// The file formats that the command reads and writes, recognized by name, by extension or by first bytes.

import { CliFailure, EXIT } from './exit-codes.js';

export const FILE_FORMATS = ['csv', 'tsv', 'ndjson', 'geojson', 'parquet', 'arrow'] as const;
export type FileFormat = (typeof FILE_FORMATS)[number];

const BY_EXTENSION: Readonly<Record<string, FileFormat>> = {
  csv: 'csv',
  txt: 'csv',
  tsv: 'tsv',
  tab: 'tsv',
  ndjson: 'ndjson',
  jsonl: 'ndjson',
  geojson: 'geojson',
  json: 'geojson',
  parquet: 'parquet',
  pq: 'parquet',
  arrow: 'arrow',
  feather: 'arrow',
  arrows: 'arrow',
  ipc: 'arrow',
  xlsx: 'csv',
  xlsm: 'csv',
};

export interface NamedFormat {
  readonly format: FileFormat | null;
  readonly gzip: boolean;
}

/** The format that a file's name gives; null if its extension is of none. */
export function formatOfName(path: string): NamedFormat {
  const gzip = isGzipName(path);
  const extension = /\.([^./\\]+)$/.exec(path.replace(/\.(?:gz|zst)$/i, ''))?.[1]?.toLowerCase();
  return { format: (extension === undefined ? undefined : BY_EXTENSION[extension]) ?? null, gzip };
}

/** A format named on the command line. @throws CliFailure USAGE for any other word */
export function requireFormat(name: string, option: string): FileFormat {
  const format = FILE_FORMATS.find((each) => each === name.toLowerCase());
  if (format === undefined) {
    throw new CliFailure(EXIT.USAGE, `${option} ${name}: must be one of ${FILE_FORMATS.join(', ')}`);
  }
  return format;
}

/** The format that the first bytes of a content show; csv for content that has no mark of its own. */
export function formatOfBytes(head: Uint8Array): FileFormat {
  const text = Buffer.from(head.subarray(0, 4096)).toString('latin1');
  if (text.startsWith('PAR1')) return 'parquet';
  if (text.startsWith('ARROW1') || text.startsWith('\xff\xff\xff\xff')) return 'arrow';
  const start = text
    .replace(/^\xef\xbb\xbf/, '')
    .replace('\u001e', '')
    .trimStart();
  if (start.startsWith('{')) return /"(?:FeatureCollection|Feature)"/.test(start) ? 'geojson' : 'ndjson';
  const firstLine = start.slice(0, start.search(/[\r\n]|$/));
  return firstLine.includes('\t') && !/[,;|]/.test(firstLine) ? 'tsv' : 'csv';
}

/** Whether a name ends in `.gz`. An output of such a name is compressed; an input is judged by its bytes. */
export function isGzipName(path: string): boolean {
  return /\.gz$/i.test(path);
}
