// The boundary between TypeScript and the AssemblyScript module: every export of kernel.wasm with its type, and the
// check that a module has them. docs/kernel-abi.md tells what each call reads and writes, assembly/memory.ts draws
// where.

import { HexcodesError } from '../errors.js';
import { RECORD_BYTES } from './output-layout.js';

type Address = WebAssembly.Global<'i32'>;
type Size = WebAssembly.Global<'i32'>;
type Variable = WebAssembly.Global<'i32'>;

/** Addresses, sizes and variables of the module, and its memory. */
interface KernelGlobals {
  readonly memory: WebAssembly.Memory;
  /** The version of this interface. */
  readonly ABI_VERSION: Size;
  /** Most points or records of a call. */
  readonly CAPACITY: Size;
  /** Size of a record. */
  readonly RECORD_BYTES: Size;
  /** The points or records of a batch: CAPACITY × RECORD_BYTES bytes. */
  readonly INPUT: Address;
  /** The answers of calls: CAPACITY × RECORD_BYTES bytes. */
  readonly OUTPUT: Address;
  /** Arrays between the passes of one call. */
  readonly SCRATCH: Address;
  readonly SCRATCH_BYTES: Size;
  /** The UTF-16 units that readText reads; also holds TAILS, STATUS_COUNTS, ADMIN_COUNTS and BLOCK_TEXT. */
  readonly TEXT_IN: Address;
  readonly TEXT_IN_BYTES: Size;
  /** Ends of answers by row status, TAIL_BYTES each, written by the host. */
  readonly TAILS: Address;
  readonly TAIL_BYTES: Size;
  /** u32 for each row status: rows written since the host cleared them. */
  readonly STATUS_COUNTS: Address;
  /** u32 for each admin number: OK rows that were counted since the host cleared them. */
  readonly ADMIN_COUNTS: Address;
  /** Text to be scanned, to the end of TEXT_IN. */
  readonly BLOCK_TEXT: Address;
  /** The text of csvRows. */
  readonly CSV_PIECE: Address;
  readonly CSV_PIECE_BYTES: Size;
  /** Text that was written, or answers of the calls that end in `To`. */
  readonly TEXT_OUT: Address;
  readonly TEXT_OUT_BYTES: Size;
  /** The scanned rows, ROW_BYTES each. */
  readonly ROWS: Address;
  readonly ROW_BYTES: Size;
  /** The reach table: 16 × 401 masks of 64 bits. */
  readonly REACH: Address;
  readonly REACH_BYTES: Size;
  /** One resolution a point, for batches of mixed resolutions: CAPACITY bytes. */
  readonly RESOLUTIONS: Address;
  /** u16: numbers of the rows that the last scan left to the host, in order. */
  readonly HOST_ROWS: Address;
  /** How many rows the last scan left to the host. */
  readonly hostRowCount: Variable;
  /** Names of the units, written by the host: u8 size and UTF-8, UNIT_NAME_BYTES in all. */
  readonly UNIT_NAMES: Address;
  readonly UNIT_NAME_BYTES: Size;
  /** Shares by distance to a border, written by the host: u32 metres, u8 size, text; BAND_COUNT of BAND_BYTES. */
  readonly BANDS: Address;
  readonly BAND_BYTES: Size;
  readonly BAND_COUNT: Size;
  /** The upper half of TEXT_OUT, where a scan of CSV notes fields. */
  readonly FIELDS: Address;
  readonly FIELDS_BYTES: Size;
  /** Lists of what writeRows writes after rows that are OK, and after others: PIECE_LIST_BYTES each. */
  readonly PIECES: Address;
  readonly PIECE_LIST_BYTES: Size;
  /** Names that lines must not have, written by the host: u64 value, u64 mask; at most LINE_NAME_COUNT. */
  readonly LINE_NAMES: Address;
  readonly LINE_NAME_COUNT: Size;
  /** Columns that scanMembers reads lines into, with their names, written by the host (member-memory.ts). */
  readonly MEMBERS: Address;
  readonly MEMBERS_BYTES: Size;
  /** Where the last scanMembers stopped. */
  readonly membersEnd: Variable;
  /** Blank lines that the last scan of lines passed. */
  readonly blankLines: Variable;
  /** The boundary index, and after it the grid that useIndex makes. */
  readonly INDEX: Address;
  /** End of the grid. From here to the end of the memory lie the lists of borderOf, neighbourOf and borderBatch. */
  readonly gridEnd: Variable;
  /** Where the last scanCsv stopped. */
  readonly csvEnd: Variable;
  /** Fields that the rows of the last scanCsv lack, all together. */
  readonly csvMissing: Variable;
  /** Where the last scanNdjson or scanArray stopped. */
  readonly jsonEnd: Variable;
  /** Why the last scanArray stopped: JSON_OPEN, JSON_CLOSED, or another number where it met no JSON. */
  readonly jsonState: Variable;
  /** Brackets that are open where the last skipArray stopped. */
  readonly skipDepth: Variable;
  /** Commas between elements of the array before that position. */
  readonly skipCommas: Variable;
  /** 1 if that position is inside a string, else 0. */
  readonly skipInString: Variable;
  /** The first free byte of TEXT_OUT. */
  readonly textEnd: Variable;
  /** Kind of the text that the last readNumber read: 0 a number, 1 one whose value the host must find, 2 no number. */
  readonly numberKind: Variable;
  /** The address after the text that the last readNumber read. */
  readonly numberEnd: Variable;
  /** 1 if the text equals its printed value, else 0. */
  readonly numberIsPlain: Variable;
}

/**
 * Points are (f64 lat, f64 lng) in degrees, records 20 bytes, admin numbers indexes in ADMIN_UNITS; `count` is at most
 * CAPACITY; a status is one of OK, OUTSIDE_COVERAGE, NOT_A_COORDINATE, INVALID_HEXCODE (kernel.ts). Addresses are bytes
 * of the memory.
 */
interface KernelCalls {
  /** Takes the table at REACH into use. 0, or 1 if a mask has a bit beyond the 34 provinces. */
  useReach(): number;
  /** Takes the file at INDEX into use; may grow the memory. 0, or why it was refused. */
  useIndex(sizeBytes: number): number;

  /** Points at INPUT → records at OUTPUT; how many failed. Resolution 255 reads RESOLUTIONS. */
  encodeBatch(count: number, resolution: number): number;
  /** `encodeBatch` with the records at an address in TEXT_OUT. */
  encodeBatchTo(count: number, resolution: number, address: number): number;
  /** Points at INPUT → u64 cell × count, u8 admin number × count, u8 status × count at OUTPUT; how many failed. */
  encodeCells(count: number, resolution: number): number;
  /** `encodeCells` with the answer at an address in TEXT_OUT. */
  encodeCellsTo(count: number, resolution: number, address: number): number;
  /** One record at OUTPUT; the status. Only resolutions 0 to 15. */
  encodeOne(lat: number, lng: number, resolution: number): number;
  /**
   * Records at INPUT, each up to its first NUL → (f64, f64) × count, u8 resolution × count, u8 status × count at
   * OUTPUT; how many failed. A failed record gives NaN, NaN, 255.
   */
  decodeBatch(count: number): number;
  /** `decodeBatch` with the answer at an address in TEXT_OUT. */
  decodeBatchTo(count: number, address: number): number;
  /**
   * UTF-16 units at TEXT_IN, none of which is read where there are more than 64 → f64 latDeg, f64 lngDeg, u64 cell, u8
   * resolution, u8 admin number at OUTPUT, the canonical record at OUTPUT + 32; the status.
   */
  readText(units: number): number;
  /**
   * Bytes of ASCII at TEXT_IN → the answer of readText, and u8 at OUTPUT + 26: 1 where the text is its own canonical
   * record, else 0; the status. For hosts whose texts are bytes.
   */
  readAscii(length: number): number;
  /** A cell and an admin number → record at OUTPUT; the status. */
  pack(cell: bigint, admin: number): number;
  /** The H3 cell of a position, as a signed 64-bit number; 0 outside 5-25 N, 100-119 E. */
  cellOf(lat: number, lng: number, resolution: number): bigint;
  /** The centre of a cell: f64 lat, f64 lng in degrees at OUTPUT; the status. */
  centerOf(cell: bigint): number;
  /** Admin number of a position, 255 outside. */
  regionOf(lat: number, lng: number): number;
  /** Unit of the index (province before July 2025) of a position, 255 outside. */
  unitOf(lat: number, lng: number): number;
  /** Whole metres from a position to the nearest border between two provinces, 65535 beyond 5 km. */
  borderOf(lat: number, lng: number): number;
  /**
   * Admin number of the province behind that border, 255 where there is none within 5 km or the position's own is on
   * neither side.
   */
  neighbourOf(lat: number, lng: number): number;
  /** Points at INPUT → u16 × count at OUTPUT, as borderOf gives them. */
  borderBatch(count: number): void;
  /** Points at INPUT → u8 admin number × count at OUTPUT, 255 outside. */
  locateBatch(count: number): void;
  /** Points at INPUT → u8 unit × count at OUTPUT, as unitOf gives them. */
  unitBatch(count: number): void;

  /** The columns of the CSV to be scanned, from 0: lat and lng, or the code and -1; the resolution or -1. */
  useCsvColumns(columns: number, first: number, second: number, resolution: number, delimiter: number): void;
  /**
   * Has the next scan of CSV note the bounds of all fields of at most `limit` rows, counted from `origin` → FIELDS:
   * for each column i32 starts of `limit` rows, then i32 ends. Until the columns are set again.
   */
  useCsvFields(limit: number, origin: number): void;
  /**
   * The state after the bytes of CSV_PIECE (0: a quote opens a field, 1: it does not, 2: inside quotes), plus 4 × the
   * offset where the last row ends.
   */
  csvRows(sizeBytes: number, delimiter: number, state: number): number;
  /** Rows of CSV from `at` to `end`, at most `limit` → ROWS, INPUT, RESOLUTIONS, HOST_ROWS, csvEnd; how many. */
  scanCsv(at: number, end: number, limit: number, isDecode: boolean, resolution: number): number;
  /** Rows of lines of NDJSON, with the outputs of scanCsv; sets jsonEnd and blankLines. */
  scanNdjson(at: number, end: number, limit: number, isDecode: boolean, resolution: number): number;
  /**
   * Rows of lines of a file, to which members will be added: the first `columns` of MEMBERS are lat, lng and, where
   * rows have their own, the resolution; or one, the code. `names`: 1 where these are lat and lng, 2 where no name is
   * beyond ASCII.
   */
  scanLines(
    at: number,
    end: number,
    limit: number,
    resolution: number,
    columns: number,
    names: number,
  ): number;
  /**
   * Members in the columns of MEMBERS, of at most `limit` lines, a multiple of 16 → ROWS, HOST_ROWS, TEXT_OUT,
   * INPUT, kinds in MEMBERS, membersEnd, blankLines. Texts are counted from `origin`; with `isKindsOnly`, only kinds
   * are stored.
   */
  scanMembers(
    at: number,
    end: number,
    limit: number,
    columns: number,
    origin: number,
    isKindsOnly: boolean,
  ): number;
  /**
   * The address after an array, or `to` while skipDepth is not 0: then the next call goes on. The first call is at its
   * opening bracket.
   */
  skipArray(at: number, to: number, isFirst: boolean): number;
  /** As scanNdjson, for elements of an array, after its opening bracket or a comma; sets jsonEnd and jsonState. */
  scanArray(
    at: number,
    end: number,
    limit: number,
    isDecode: boolean,
    resolution: number,
    mayClose: boolean,
  ): number;
  /**
   * Sets which members of a line of scanLines writeRows and writeDecodedRows write: with `isKeep` those that columns
   * `from` to `to` of MEMBERS name, at most 254, in the order of the columns, else all others.
   */
  chooseMembers(from: number, to: number, isKeep: boolean): void;
  /** Sets textEnd. */
  setTextEnd(address: number): void;
  /**
   * Rows `from` to `to` of an encode answer from textEnd on: rows of CSV or lines as they came, or nothing of rows from
   * other sources, and PIECES after it. Returns the row where it stopped, for want of space or as the host must write
   * it.
   */
  writeRows(
    from: number,
    to: number,
    source: number,
    delimiter: number,
    feed: number,
    refusal: number,
  ): number;
  /** Rows `from` to `to` of a decode answer to `count` rows, as writeRows does. */
  writeDecodedRows(count: number, from: number, to: number, source: number, delimiter: number): number;
  /** Rows `from` to `to` of a decode answer to `count` rows as CSV from textEnd on; the row where it stopped. */
  writeDecodedCsv(
    count: number,
    from: number,
    to: number,
    columns: number,
    source: number,
    delimiter: number,
    feed: number,
    refusal: number,
  ): number;
  /** Rows `from` to `to` of an encode answer as JSON bodies from textEnd on; the row where it stopped. */
  writeEncodedJson(from: number, to: number, columns: number, separator: number, refusal: number): number;
  /** As writeEncodedJson, for a decode answer to `count` rows. */
  writeDecodedJson(
    count: number,
    from: number,
    to: number,
    source: number,
    separator: number,
    refusal: number,
  ): number;
  /** Adds the rows that are OK, by province, to ADMIN_COUNTS, once their answers are written. */
  countEncoded(count: number): void;
  /** Counts a decode answer as countEncoded counts one of encode. */
  countDecoded(count: number): void;
  /**
   * The number whose text starts at `at`, by the grammar of JSON or of CSV; sets numberKind, numberEnd and
   * numberIsPlain.
   */
  readNumber(at: number, json: boolean): number;
  /** Writes the shortest text of a number; the first free byte after it, or 0 if the host must print it. */
  printNumber(value: number, at: number): number;
}

/** All that kernel.wasm exports. */
export interface KernelExports extends KernelGlobals, KernelCalls {}

/** How many arguments each call takes. */
export const KERNEL_CALLS: { readonly [Name in keyof KernelCalls]: Parameters<KernelCalls[Name]>['length'] } =
  {
    useReach: 0,
    useIndex: 1,
    encodeBatch: 2,
    encodeBatchTo: 3,
    encodeCells: 2,
    encodeCellsTo: 3,
    encodeOne: 3,
    decodeBatch: 1,
    decodeBatchTo: 2,
    readText: 1,
    readAscii: 1,
    pack: 2,
    cellOf: 3,
    centerOf: 1,
    regionOf: 2,
    unitOf: 2,
    borderOf: 2,
    neighbourOf: 2,
    borderBatch: 1,
    locateBatch: 1,
    unitBatch: 1,
    useCsvColumns: 5,
    useCsvFields: 2,
    csvRows: 3,
    scanCsv: 5,
    scanNdjson: 5,
    scanArray: 6,
    scanLines: 6,
    scanMembers: 6,
    skipArray: 3,
    chooseMembers: 3,
    setTextEnd: 1,
    writeRows: 6,
    writeDecodedRows: 5,
    writeDecodedCsv: 8,
    writeEncodedJson: 5,
    writeDecodedJson: 6,
    readNumber: 2,
    printNumber: 2,
    countEncoded: 1,
    countDecoded: 1,
  };

const GLOBALS: { readonly [Name in Exclude<keyof KernelGlobals, 'memory'>]: true } = {
  ABI_VERSION: true,
  CAPACITY: true,
  RECORD_BYTES: true,
  INPUT: true,
  OUTPUT: true,
  SCRATCH: true,
  SCRATCH_BYTES: true,
  TEXT_IN: true,
  TEXT_IN_BYTES: true,
  TAILS: true,
  TAIL_BYTES: true,
  STATUS_COUNTS: true,
  ADMIN_COUNTS: true,
  BLOCK_TEXT: true,
  CSV_PIECE: true,
  CSV_PIECE_BYTES: true,
  TEXT_OUT: true,
  TEXT_OUT_BYTES: true,
  ROWS: true,
  ROW_BYTES: true,
  REACH: true,
  REACH_BYTES: true,
  RESOLUTIONS: true,
  HOST_ROWS: true,
  UNIT_NAMES: true,
  UNIT_NAME_BYTES: true,
  BANDS: true,
  BAND_BYTES: true,
  BAND_COUNT: true,
  FIELDS: true,
  FIELDS_BYTES: true,
  PIECES: true,
  PIECE_LIST_BYTES: true,
  LINE_NAMES: true,
  LINE_NAME_COUNT: true,
  MEMBERS: true,
  MEMBERS_BYTES: true,
  membersEnd: true,
  blankLines: true,
  hostRowCount: true,
  INDEX: true,
  gridEnd: true,
  csvEnd: true,
  csvMissing: true,
  jsonEnd: true,
  jsonState: true,
  skipDepth: true,
  skipCommas: true,
  skipInString: true,
  textEnd: true,
  numberKind: true,
  numberEnd: true,
  numberIsPlain: true,
};

/** Names of the exported globals. */
export const KERNEL_GLOBALS: readonly string[] = Object.keys(GLOBALS);

/** The version of docs/kernel-abi.md that this host keeps to. */
const ABI_VERSION = 1;

/** Bytes of a row of the table that scanning leaves, and of a tail: text-memory.ts reads and writes inside them. */
export const ROW_BYTES = 32;
export const TAIL_BYTES = 256;

/**
 * The exports of a new instance of a module.
 * @throws HexcodesError BAD_DATA if it is not a kernel of this build
 */
export function exportsOf(module: WebAssembly.Module): KernelExports {
  const { exports } = new WebAssembly.Instance(module);
  const { ABI_VERSION: version } = exports;
  if (version instanceof WebAssembly.Global && version.value !== ABI_VERSION)
    throw unusable(
      `it has version ${version.value} of the kernel's interface, this build reads ${ABI_VERSION}`,
    );
  requireKernel(exports);
  const isOfThisBuild =
    exports.RECORD_BYTES.value === RECORD_BYTES &&
    exports.ROW_BYTES.value === ROW_BYTES &&
    exports.TAIL_BYTES.value === TAIL_BYTES;
  if (!isOfThisBuild) throw unusable('it is of another build');
  return exports;
}

function requireKernel(exports: WebAssembly.Exports): asserts exports is WebAssembly.Exports & KernelExports {
  if (!(exports.memory instanceof WebAssembly.Memory)) throw unusable('it has no export memory');
  for (const name of KERNEL_GLOBALS)
    if (!(exports[name] instanceof WebAssembly.Global)) throw unusable(`it has no export ${name}`);
  for (const [name, arity] of Object.entries(KERNEL_CALLS)) {
    const call = exports[name];
    if (typeof call !== 'function') throw unusable(`it has no export ${name}`);
    if (call.length !== arity) throw unusable('it is of another build');
  }
}

export function unusable(reason: string): HexcodesError {
  return new HexcodesError('BAD_DATA', `The kernel cannot be used: ${reason}`);
}
