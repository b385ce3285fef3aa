// The file formats the command reads and writes, by name, by extension and by first bytes.

import { CliFailure, EXIT } from '../exit-codes.js';

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
};

export interface NamedFormat {
  readonly format: FileFormat | null;
  readonly gzip: boolean;
}

/** What a file's name says about its format; `null` if nothing. */
export function formatOfName(path: string): NamedFormat {
  const gzip = /\.gz$/i.test(path);
  const extension = /\.([^./\\]+)$/.exec(gzip ? path.slice(0, -3) : path)?.[1]?.toLowerCase();
  return { format: (extension === undefined ? undefined : BY_EXTENSION[extension]) ?? null, gzip };
}

/** A format named on the command line. */
export function requireFormat(name: string, option: string): FileFormat {
  const format = FILE_FORMATS.find((each) => each === name.toLowerCase());
  if (format === undefined) {
    throw new CliFailure(EXIT.USAGE, `${option} ${name}: must be one of ${FILE_FORMATS.join(', ')}`);
  }
  return format;
}

/** What the first bytes of a text or binary look like; `csv` for whatever has no mark of its own. */
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
  return firstLine.includes('\t') && !firstLine.includes(',') ? 'tsv' : 'csv';
}

export function isGzip(head: Uint8Array): boolean {
  return head[0] === 0x1f && head[1] === 0x8b;
}
