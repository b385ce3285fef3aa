// Lines of NDJSON with our members added, a block of whole lines at a time: the same shape and block give the same
// bytes in every thread. Lines that the kernel cannot read are left, with the offsets of their answers.

import { EACH_ITS_OWN, type Kernel } from '../../kernel/kernel.js';
import { MemberMemory } from '../../kernel/member-memory.js';
import { FROM_LINES, type TextMemory } from '../../kernel/text-memory.js';
import { copyBytes } from '../bytes/byte-sink.js';
import type { BlockReport, ConvertedRows } from '../job.js';
import { type AddedMember, memberPieces, preparedMemoryOf } from '../rows/convert-rows.js';
import { RowReport } from '../rows/row-report.js';
import { isText, linesIn } from './splitters.js';

/** The members of a line that are kept, in this order, or the members that are omitted. */
export interface MemberChoice {
  readonly isKept: boolean;
  readonly names: readonly string[];
}

/** How lines are converted, as plain data. */
export interface LineShape {
  /** Resolution of all lines, or of those without one of their own; null where codes are decoded. */
  readonly resolution: number | null;
  /** Names of members: the position, and the resolution where lines have one of their own; or the code alone. */
  readonly read: readonly string[];
  readonly added: readonly AddedMember[];
  /** null where lines are copied whole; a line that already has a member with an added name is then left. */
  readonly chosen: MemberChoice | null;
}

/** A line without an answer. */
export interface LeftLine {
  /** Line number in the block from 0; blank lines do not count. */
  readonly row: number;
  /** Bounds in the block, without its line end. */
  readonly start: number;
  readonly end: number;
  /** Offset of its answer among the answers to the other lines. */
  readonly at: number;
}

/** The answer to lines of a block. */
export interface ConvertedLines extends ConvertedRows {
  readonly bytes: Uint8Array;
  readonly report: BlockReport;
  /** Lines that are counted in `rows`, but neither in `byStatus` nor in the report. */
  readonly left: readonly LeftLine[];
  /** Lines, also blank ones. */
  readonly lines: number;
  /** Offset in the block of the lines to be converted next. */
  readonly restAt: number;
}

const LF = 10;
const USUAL_NAMES = 1;
const ASCII_NAMES = 2;
/** Longest name that is compared as a vector; names of positions are words. */
const MAX_NAME_BYTES = 128;
/** Members that are kept, or left out. */
const MAX_CHOSEN = 200;

// biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII
const ASCII = /^[\x00-\x7f]*$/;

export class LineConverter {
  readonly #memory: TextMemory;
  readonly #names: number;

  private constructor(
    private readonly kernel: Kernel,
    private readonly shape: LineShape,
    private readonly pieces: Uint8Array,
  ) {
    this.#memory = preparedMemoryOf(kernel);
    const { read, added, chosen } = shape;
    const columns = [...read, ...(chosen?.names ?? [])];
    new MemberMemory(kernel).set(columns.map((name) => ({ name, role: 0, axis: 0 })));
    kernel.exports.chooseMembers(read.length, columns.length, chosen?.isKept === true);
    const names = added.map(({ name }) => name);
    this.#memory.setLineNames(chosen === null ? names.map((name) => JSON.stringify(name)) : []);
    this.#names =
      (read[0] === 'lat' && read[1] === 'lng' ? USUAL_NAMES : 0) |
      ([...columns, ...names].every((name) => ASCII.test(name)) ? ASCII_NAMES : 0);
  }

  /**
   * A converter; only the last one made for a kernel is valid.
   * @returns null where the names are too long or too many
   */
  static of(kernel: Kernel, shape: LineShape): LineConverter | null {
    const { read, added, chosen } = shape;
    const given = chosen?.names ?? [];
    if (added.length > kernel.exports.LINE_NAME_COUNT.value || given.length > MAX_CHOSEN) return null;
    if ([...read, ...given].some((name) => Buffer.byteLength(name) > MAX_NAME_BYTES)) return null;
    const pieces = memberPieces(added, shape.resolution);
    return pieces === null ? null : new LineConverter(kernel, shape, pieces);
  }

  get blockBytes(): number {
    return this.#memory.blockBytes;
  }

  /**
   * Converts lines from an offset of a block on, to its end or as far as the kernel has space.
   * @param block whole lines; the last may lack its line end
   * @returns bytes that are a view of TEXT_OUT
   */
  convert(block: Buffer, from = 0): ConvertedLines {
    const { exports, capacity } = this.kernel;
    const { resolution, read } = this.shape;
    const memory = this.#memory;
    const { blockAt, textOutAt } = memory;
    memory.statusCounts.fill(0);
    const report = new RowReport(memory, resolution === null ? 'decode' : 'encode');
    const left: LeftLine[] = [];
    if (block.length > memory.blockBytes || !isText(block))
      return this.#answer(report, leaveAll(block, from), { rows: 0, lines: 0, restAt: block.length });
    copyBytes(memory.block.subarray(from, block.length), block.subarray(from));
    memory.usePieces(this.pieces);
    exports.setTextEnd(textOutAt);
    const end = blockAt + block.length;
    let rows = 0;
    let lines = 0;
    for (let at = blockAt + from; at < end; at = exports.jsonEnd.value) {
      const count = exports.scanLines(at, end, capacity, resolution ?? 0, read.length, this.#names);
      lines += count + exports.blankLines.value;
      if (resolution === null) exports.decodeBatch(count);
      else exports.encodeBatch(count, read.length > 2 ? EACH_ITS_OWN : resolution);
      for (let row = 0; ; row++) {
        const okBefore = memory.statusCounts[0]!;
        const stop =
          resolution === null
            ? exports.writeDecodedRows(count, row, count, FROM_LINES, 0)
            : exports.writeRows(row, count, FROM_LINES, 0, LF, 0);
        report.addWritten(row, stop, -textOutAt, okBefore);
        if (stop < count && memory.isLeftToHost(stop)) {
          const [start, lineEnd] = memory.rowBounds(stop);
          left.push({ row: rows + stop, start, end: lineEnd, at: memory.textEnd - textOutAt });
          row = stop;
          continue;
        }
        report.endScan(stop, true);
        rows += stop;
        if (stop === count) break;
        const [restAt] = memory.rowBounds(stop);
        return this.#answer(report, left, { rows, lines: linesIn(block, from, restAt), restAt });
      }
    }
    return this.#answer(report, left, { rows, lines, restAt: block.length });
  }

  #answer(
    report: RowReport,
    left: readonly LeftLine[],
    done: Pick<ConvertedLines, 'rows' | 'lines' | 'restAt'>,
  ): ConvertedLines {
    const memory = this.#memory;
    const byStatus = memory.statusCounts.slice();
    const failed = byStatus.reduce((sum, count) => sum + count, 0) - byStatus[0]!;
    const bytes = memory.textOut.subarray(0, done.rows === 0 ? 0 : memory.textEnd - memory.textOutAt);
    return { ...done, bytes, failed, byStatus, report: report.result(), left };
  }
}

/** Leaves all lines of a block that is not text, or is larger than the kernel accepts. */
function leaveAll(block: Buffer, from: number): LeftLine[] {
  const left: LeftLine[] = [];
  for (let start = from; start < block.length; ) {
    const feed = block.indexOf(LF, start);
    const end = feed < 0 ? block.length : feed;
    left.push({ row: left.length, start, end, at: 0 });
    start = end + 1;
  }
  return left;
}
