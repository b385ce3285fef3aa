// The file formats, each described once: help, documents, messages, readers and the page use this list.
// files/formats/open.ts opens the formats for the command.

// Recognises UTF-16 of XML by its first bytes.

/** Byte order, known by a mark, or by `<` and a letter (XML 1.0, F.1); undefined for any other encoding. */
export function utf16Of([a, b, c, d]: Uint8Array): 'utf-16le' | 'utf-16be' | undefined {
  if ((a === 0xff && b === 0xfe) || (a === 0x3c && b === 0 && c !== 0 && d === 0)) return 'utf-16le';
  return (a === 0xfe && b === 0xff) || (a === 0 && b === 0x3c && c === 0 && d !== 0) ? 'utf-16be' : undefined;
}

interface Format {
  /** Name for people. */
  readonly title: string;
  /** In lower case; the first one is for outputs. */
  readonly extensions: readonly string[];
  /** The format to which content is converted before its rows are read; null if rows are read directly. */
  readonly readAs: 'csv' | null;
  readonly isWritten: boolean;
  /**
   * Whether content has this format.
   * @param text the first 4,096 bytes as Latin-1
   * @param start the text without leading marks and blanks
   */
  sniff(text: string, start: string): boolean;
  /** Whether it is text, which gzip compresses well and which can be cut between two lines. */
  readonly isText: boolean;
  /** Whether output can be cut off after a row and continued. */
  readonly isResumable: boolean;
  /** Formats of fields between delimiters: their usual one, and whether another may be chosen. */
  readonly delimiter: { readonly usual: ',' | '\t'; readonly isFixed: boolean } | null;
  readonly hasTypes: boolean;
  /** Whether rows are JSON objects: sources then know their columns only after all rows. */
  readonly isJson: boolean;
  /** Formats whose JSON objects are passed on into this format with our members added. */
  readonly passesOn: readonly string[];
  readonly needsPosition: boolean;
}

const NONE = {
  readAs: null,
  isWritten: true,
  isText: true,
  isResumable: false,
  delimiter: null,
  hasTypes: false,
  isJson: false,
  passesOn: [],
  needsPosition: false,
} as const;

const JSON_FORMAT = { ...NONE, isJson: true } as const;
const TYPED = { ...NONE, isText: false, hasTypes: true } as const;
const BROUGHT = { ...NONE, readAs: 'csv', isWritten: false } as const;

const firstLine = (text: string): string => text.slice(0, text.search(/[\r\n]|$/));
const hasFeatures = (text: string): boolean =>
  /"(?:FeatureCollection|Feature)"/.test(text) || BARE_GEOMETRY.test(text);
/** An object that is a geometry, by its first members. */
const BARE_GEOMETRY =
  /^\{\s*(?:"type"\s*:\s*"(?:(?:Multi)?(?:Point|LineString|Polygon)|GeometryCollection)"\s*,|"coordinates"\s*:\s*\[)/;
const ZIP = 'PK\x03\x04';

const LIST = {
  csv: {
    ...NONE,
    title: 'CSV',
    extensions: ['csv', 'txt'],
    // The fallback for content without a signature.
    sniff: () => true,
    isResumable: true,
    delimiter: { usual: ',', isFixed: false },
  },
  tsv: {
    ...NONE,
    title: 'TSV',
    extensions: ['tsv', 'tab'],
    sniff: (_, start) => firstLine(start).includes('\t') && !/[,;|]/.test(firstLine(start)),
    isResumable: true,
    delimiter: { usual: '\t', isFixed: true },
  },
  xlsx: {
    ...TYPED,
    title: 'Excel',
    extensions: ['xlsx', 'xlsm'],
    readAs: 'csv',
    sniff: (text) => text.startsWith(ZIP) && /\[Content_Types\]\.xml|xl\/|docProps\/|_rels\//.test(text),
  },
  ndjson: {
    ...JSON_FORMAT,
    title: 'NDJSON',
    extensions: ['ndjson', 'jsonl'],
    sniff: (_, start) => start.startsWith('{') && !hasFeatures(start),
    isResumable: true,
    passesOn: ['csv', 'tsv', 'ndjson', 'geojson', 'parquet', 'arrow'],
  },
  geojson: {
    ...JSON_FORMAT,
    title: 'GeoJSON',
    extensions: ['geojson', 'json'],
    sniff: (_, start) => start.startsWith('{') && hasFeatures(start),
    passesOn: ['geojson'],
    needsPosition: true,
  },
  parquet: {
    ...TYPED,
    title: 'Parquet',
    extensions: ['parquet', 'pq'],
    // PARE files are entirely encrypted, as the reader reports.
    sniff: (text) => text.startsWith('PAR1') || text.startsWith('PARE'),
  },
  arrow: {
    ...TYPED,
    title: 'Arrow IPC',
    extensions: ['arrow', 'feather', 'arrows', 'ipc'],
    sniff: (text) => text.startsWith('ARROW1') || text.startsWith('\xff\xff\xff\xff'),
  },
  gpx: {
    ...BROUGHT,
    title: 'GPX',
    extensions: ['gpx'],
    sniff: (_, start) => start.startsWith('<') && /<(?:\w+:)?gpx[\s>]/.test(start),
  },
  kml: {
    ...BROUGHT,
    title: 'KML',
    extensions: ['kml', 'kmz'],
    sniff: (text, start) =>
      (start.startsWith('<') && /<(?:\w+:)?kml[\s>]/.test(start)) ||
      (text.startsWith(ZIP) && /^.{30}(?:[^\0]{0,200}\.kml|(?:files|images|icons)\/)/is.test(text)),
  },
  gpkg: {
    ...TYPED,
    isWritten: false,
    title: 'GeoPackage',
    extensions: ['gpkg'],
    sniff: (text) => text.startsWith('SQLite format 3\0'),
  },
} as const satisfies Readonly<Record<string, Format>>;

export type FileFormat = keyof typeof LIST;
/** The formats with given properties. */
export type FormatWith<Part> = {
  [Name in FileFormat]: (typeof LIST)[Name] extends Part ? Name : never;
}[FileFormat];
/** The formats by name, as users type them. */
export const FORMATS: Readonly<Record<FileFormat, Format>> = LIST;
export const FILE_FORMATS = Object.keys(LIST) as readonly FileFormat[];
export const WRITTEN_FORMATS = FILE_FORMATS.filter((name) => FORMATS[name].isWritten);

/** `CSV, TSV, … or Arrow IPC`: the formats that are read. */
export const FORMAT_TITLES = FILE_FORMATS.map((name) => FORMATS[name].title)
  .join(', ')
  .replace(/, ([^,]*)$/, ' or $1');

const BY_EXTENSION = new Map(
  FILE_FORMATS.flatMap((name) => FORMATS[name].extensions.map((extension) => [extension, name])),
);

interface NamedFormat {
  readonly format: FileFormat | null;
  readonly gzip: boolean;
}

/** The format of a file name; null for an unknown extension. */
export function formatOfName(path: string): NamedFormat {
  const extension = /\.([^./\\]+)$/.exec(path.replace(/\.(?:gz|zst)$/i, ''))?.[1]?.toLowerCase();
  return { format: BY_EXTENSION.get(extension ?? '') ?? null, gzip: isGzipName(path) };
}

/** The format of the first bytes of a content; csv for content without a signature. */
export function formatOfBytes(head: Uint8Array): FileFormat {
  const text = beginningOf(head);
  const start = text
    .replace(/^\xef\xbb\xbf/, '')
    .replace('\u001e', '')
    .trimStart();
  // Tried from the last one, whose signature is the most certain, to the first, which accepts the rest.
  return FILE_FORMATS.findLast((name) => FORMATS[name].sniff(text, start)) ?? 'csv';
}

/** The first 4,096 bytes as Latin-1; XML in UTF-16 as its letters. */
function beginningOf(head: Uint8Array): string {
  const bytes = head.subarray(0, 4096);
  const wide = utf16Of(bytes);
  const text = wide === undefined ? '' : new TextDecoder(wide).decode(bytes);
  return text.trimStart().startsWith('<') ? text : String.fromCharCode(...bytes);
}

/** The format in which rows of an input are read. */
export function readFormatOf(format: FileFormat): FileFormat {
  return FORMATS[format].readAs ?? format;
}

/** The default output format for rows of an input. */
export function writtenFormatOf(format: FileFormat): FileFormat {
  return FORMATS[format].isWritten ? format : 'csv';
}

/** Whether a name ends in `.gz`. An output of such a name is compressed; an input is judged by its bytes. */
export function isGzipName(path: string): boolean {
  return /\.gz$/i.test(path);
}
