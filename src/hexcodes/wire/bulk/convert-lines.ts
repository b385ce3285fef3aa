// Lines of NDJSON with our members added, a block of whole lines at a time: the same shape and block give the same
// bytes in every thread. A block with a line that the kernel does not know how to copy is left to another road.

import { isUtf8 } from 'node:buffer';
import { ADMIN_UNITS } from '../../admin-units.js';
import { type Kernel, OK } from '../../kernel/kernel.js';
import { RECORD_TEXT_BYTES, recordStatusAt } from '../../kernel/output-layout.js';
import { type TextMemory, textMemoryOf } from '../../kernel/text-memory.js';
import { BLOCK_BYTES, ROW_STATUSES } from '../job.js';

/** How lines are encoded, as plain data. */
export interface LineShape {
  readonly resolution: number;
  /** Names of the code, the resolution, the admin code and the status. */
  readonly names: readonly string[];
  /** Whether blocks with failed rows are left too. */
  readonly leavesFailed: boolean;
}

/** The answer to a block. */
export interface ConvertedLines {
  readonly bytes: Uint8Array;
  readonly rows: number;
  /** OK rows, at the admin numbers. */
  readonly byAdmin: Uint32Array;
  /** Number in the block from 0, and status, of each failed row. */
  readonly failures: readonly { readonly row: number; readonly status: number }[];
}

/** The shortest line with a position: `{"lat":1,"lng":1}` and its end. */
const MIN_LINE_BYTES = 18;
/** The writers want so much space behind a line. */
const MARGIN_BYTES = 2048;

/** The members that are added, as pieces around what differs from row to row. */
function piecesOf({ resolution, names }: LineShape): string[] {
  const [code, level, admin, status] = names.map((name) => JSON.stringify(name));
  const end = (word: string): string => `,${status}:"${word}"}\n`;
  return [
    `,${code}:"`,
    `",${level}:${resolution},${admin}:"`,
    `"${end('OK')}`,
    ...ROW_STATUSES.map((word) => `,${code}:null,${level}:${resolution},${admin}:null${end(word)}`),
  ];
}

export class LineConverter {
  /** Most bytes of a block. */
  readonly blockBytes: number;
  readonly #kernel: Kernel;
  readonly #memory: TextMemory;
  readonly #shape: LineShape;

  private constructor(kernel: Kernel, shape: LineShape, pieces: readonly string[]) {
    this.#kernel = kernel;
    this.#memory = textMemoryOf(kernel);
    this.#shape = shape;
    const longestAdmin = Math.max(...ADMIN_UNITS.map(({ code }) => code.length));
    const ok = pieces.slice(0, 3).reduce((sum, piece) => sum + Buffer.byteLength(piece), 0);
    const failed = Math.max(...pieces.slice(3).map((piece) => Buffer.byteLength(piece)));
    const added = Math.max(ok + RECORD_TEXT_BYTES + longestAdmin, failed);
    const space = this.#memory.textOut.length - MARGIN_BYTES;
    this.blockBytes = Math.min(BLOCK_BYTES, Math.floor(space / (1 + added / MIN_LINE_BYTES)));
    for (const [n, piece] of pieces.entries()) this.#memory.setLinePiece(n, piece);
    this.#memory.setLineNames(shape.names.map((name) => JSON.stringify(name)));
  }

  /** @returns null where the names are too long for it; of all converters of a kernel, only the last one is right */
  static of(kernel: Kernel, shape: LineShape): LineConverter | null {
    const pieces = piecesOf(shape);
    const most = kernel.exports.LINE_PIECE_BYTES.value - 4;
    if (shape.names.length !== kernel.exports.LINE_NAME_COUNT.value) return null;
    if (pieces.some((piece) => Buffer.byteLength(piece) > most)) return null;
    return new LineConverter(kernel, shape, pieces);
  }

  /**
   * @param block whole lines, at most blockBytes; the last may have no end
   * @returns null for a block that is left; its bytes are a view of TEXT_OUT
   */
  convert(block: Buffer): ConvertedLines | null {
    if (block.length > this.blockBytes || !isUtf8(block) || block.includes(0)) return null;
    const { exports, capacity } = this.#kernel;
    const { resolution, leavesFailed } = this.#shape;
    const memory = this.#memory;
    const { blockAt, textOutAt, textOut } = memory;
    memory.block.set(block);
    memory.adminCounts.fill(0);
    exports.setTextEnd(textOutAt);
    const end = blockAt + block.length;
    const failures: { row: number; status: number }[] = [];
    let rows = 0;
    for (let at = blockAt; at < end; at = exports.jsonEnd.value) {
      const count = exports.scanNdjson(at, end, capacity, false, resolution);
      if (count === 0 || memory.hostRowCount > 0 || exports.lineNamesMet.value !== 0) return null;
      const failed = exports.encodeBatch(count, resolution);
      if (failed > 0 && leavesFailed) return null;
      if (exports.writeLines(count, at) < count) return null;
      exports.countEncoded(count);
      if (failed > 0) this.#addFailures(failures, rows, count);
      rows += count;
    }
    const bytes = textOut.subarray(0, memory.textEnd - textOutAt);
    return { bytes, rows, byAdmin: memory.adminCounts.slice(), failures };
  }

  #addFailures(failures: { row: number; status: number }[], before: number, count: number): void {
    const { output } = this.#kernel;
    for (let i = 0; i < count; i++) {
      const status = output[recordStatusAt(i)]!;
      if (status !== OK) failures.push({ row: before + i, status });
    }
  }
}
