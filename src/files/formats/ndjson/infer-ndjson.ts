// The columns of all rows of NDJSON for a target with types: the kernel reports the kinds of values in lines with
// plain members of known names; all other lines are read value by value, as formats/json/ does.

import { isUtf8 } from 'node:buffer';
import type { Kernel } from '../../../hexcodes/kernel/kernel.js';
import { AS_TEXT, KINDS, MemberMemory } from '../../../hexcodes/kernel/member-memory.js';
import { linesIn } from '../../../hexcodes/wire/bulk/splitters.js';
import { type Input, openInput } from '../../disk/input.js';
import { badInput, CliFailure, reasonOf } from '../../exit-codes.js';
import type { Run } from '../../request.js';
import type { TableColumn } from '../table.js';
import { FieldInference, inferredValue, MET_IN } from '../values/json-columns.js';
import { boundsOfLines, documentIn, lineBlocks } from './ndjson.js';

/** Rows that are scanned at once while columns are new: more columns may come. */
const FEW_ROWS = 16;
/** Bytes of a block, whose lines the kernel usually reads in one call. */
export const LINES_BYTES = 200 * 1024;

/**
 * The columns of all inputs of a run, none of which is a pipe.
 * @throws CliFailure BAD_INPUT for invalid JSON
 */
export async function inferNdjson(run: Run): Promise<readonly TableColumn[]> {
  if (run.inferred !== undefined) return run.inferred;
  const inference = new LineInference(run.hexcodes.kernel, run.request.pipeline === 'values');
  await inferInputs(run, (input, tick) => inference.add(input, tick));
  run.inferred = inference.columns();
  return run.inferred;
}

/**
 * Reads all inputs before the run.
 * @throws CliFailure BAD_INPUT for invalid JSON
 */
export async function inferInputs(
  { request, sourceFormat, tick }: Run,
  infer: (input: Input, tick: () => void) => Promise<void>,
): Promise<void> {
  for (const path of request.inputs) {
    const input = await openInput(path, request.input);
    try {
      await infer(input, () => tick({ inputNumber: 0, inputOffset: 0, inputRows: 0 }));
    } catch (error) {
      if (error instanceof CliFailure) throw error;
      throw badInput({ file: path }, `cannot be read as ${sourceFormat} (${reasonOf(error)})`);
    } finally {
      input.close();
    }
  }
}

class LineInference {
  readonly #inference = new FieldInference();
  readonly #members: MemberMemory;
  readonly #isByValues: boolean;
  /** Kinds of values by column. */
  #met = new Uint8Array(0);
  #maxRows = FEW_ROWS;

  /** @param isByValues whether no line is read by the kernel */
  constructor(kernel: Kernel, isByValues: boolean) {
    this.#isByValues = isByValues;
    this.#members = new MemberMemory(kernel);
    this.#members.set([]);
  }

  columns(): TableColumn[] {
    this.#note();
    return this.#inference.columns(true);
  }

  async add(input: Input, tick: () => void): Promise<void> {
    let lines = 0;
    for await (const block of lineBlocks(input, LINES_BYTES)) {
      const isPlain = block.length <= this.#members.text.blockBytes && isUtf8(block);
      lines =
        isPlain && !this.#isByValues
          ? this.#addBlock(block, input.name, lines)
          : this.#addLines(block, input.name, lines);
      tick();
    }
  }

  /**
   * @param lines before the block
   * @returns the number of lines before the next
   */
  #addBlock(block: Buffer, file: string, lines: number): number {
    const members = this.#members;
    const { text } = members;
    text.block.set(block);
    let line = lines;
    for (let at = 0; at < block.length; ) {
      if (!members.fits) return this.#addLines(block.subarray(at), file, line);
      const [rows, sizeBytes] = members.scan(at, block.length, this.#maxRows, 0, true);
      const met = this.#met;
      for (let column = 0; column < met.length; column++) met[column]! |= members.kindsMet(column);
      let counted = at;
      let hostLine = line;
      let isNew = false;
      for (let i = 0; i < text.hostRowCount && !isNew; i++) {
        const [start, end] = text.rowBounds(text.hostRows[i]!);
        hostLine += linesIn(block, counted, start);
        counted = start;
        isNew = this.#addSlowly(block.subarray(start, end), file, hostLine + 1);
        if (isNew) {
          // Lines after it are scanned again.
          at = end + 1;
          line = hostLine + 1;
        }
      }
      this.#maxRows = isNew ? FEW_ROWS : Math.min(members.maxRows, 2 * this.#maxRows);
      if (isNew) continue;
      at += sizeBytes;
      line += rows + members.blankLines;
    }
    return line;
  }

  #addLines(block: Buffer, file: string, lines: number): number {
    let line = lines;
    for (const [start, end] of boundsOfLines(block))
      this.#addSlowly(block.subarray(start, end), file, ++line);
    return line;
  }

  /** @returns whether the line had new names */
  #addSlowly(bytes: Uint8Array, file: string, line: number): boolean {
    const document = documentIn(bytes, file, line);
    if (document === null) return false;
    this.#inference.add(inferredValue(document));
    const { size } = this.#inference;
    if (size === this.#met.length || !this.#members.fits) return false;
    this.#note();
    this.#members.set(this.#inference.names.map((name) => ({ name, role: AS_TEXT, axis: 0 })));
    this.#met = new Uint8Array(size);
    return true;
  }

  /** Adds the kinds of values seen since the last new name. */
  #note(): void {
    for (const [column, name] of this.#inference.names.slice(0, this.#met.length).entries())
      this.#inference.meet(name, metKinds(this.#met[column]!));
  }
}

/** Kinds of values, in the bits of inference. */
function metKinds(kinds: number): number {
  return (
    ((kinds & (KINDS.text | KINDS.escaped)) !== 0 ? MET_IN.text : 0) |
    ((kinds & KINDS.integer) !== 0 ? MET_IN.integer : 0) |
    ((kinds & KINDS.fraction) !== 0 ? MET_IN.fraction : 0) |
    ((kinds & KINDS.boolean) !== 0 ? MET_IN.boolean : 0) |
    ((kinds & KINDS.nested) !== 0 ? MET_IN.nested : 0)
  );
}
