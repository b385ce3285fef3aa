// The columns of all rows of NDJSON for a target with types, by bytes: lines of plain members in names that were met
// are read where they stand, all other lines value by value, as formats/json/ surveys them.

import { isUtf8 } from 'node:buffer';
import { type Input, type InputOptions, openInput } from '../disk/input.js';
import { FieldSurvey, MET_IN, parseObject, surveyedValue } from '../formats/json/json-columns.js';
import { MAX_LINE_BYTES, textOfLine, tooLongLine } from '../formats/lines.js';
import type { TableColumn } from '../formats/table.js';
import { blocksOf } from './read-ndjson.js';
import { BOOLEAN, ESCAPED, FRACTION, INTEGER, LineScanner, TEXT } from './scan-line.js';

const LF = 10;
/** Bits that a survey notes for each kind of values. */
const MET = new Uint8Array(8);
MET[TEXT] = MET_IN.text;
MET[ESCAPED] = MET_IN.text;
MET[INTEGER] = MET_IN.integer;
MET[FRACTION] = MET_IN.fraction;
MET[BOOLEAN] = MET_IN.boolean;

/**
 * @param tick is called after each block; may throw to end the survey
 * @param mostColumns after which it ends
 * @throws CliFailure BAD_INPUT for what is not JSON
 */
export async function surveyByLines(
  paths: readonly string[],
  options: InputOptions,
  mostColumns: number,
  tick: () => void,
): Promise<TableColumn[]> {
  const survey = new LineSurvey(mostColumns);
  for (const path of paths) {
    const input = await openInput(path, options);
    try {
      await survey.add(input, tick);
    } finally {
      input.close();
    }
  }
  return survey.columns();
}

class LineSurvey {
  readonly #mostColumns: number;
  readonly #survey = new FieldSurvey();
  #scanner = new LineScanner([]);
  #met = new Uint8Array(0);

  constructor(mostColumns: number) {
    this.#mostColumns = mostColumns;
  }

  columns(): TableColumn[] {
    this.#note();
    return this.#survey.columns(true);
  }

  async add(input: Input, tick: () => void): Promise<void> {
    let lines = 0;
    for await (const block of blocksOf(input, () => lines + 1)) {
      const isSound = isUtf8(block) && !block.includes(0);
      for (let at = 0; at < block.length; ) {
        const feed = block.indexOf(LF, at);
        const stop = feed < 0 ? block.length : feed;
        lines++;
        if (stop - at > MAX_LINE_BYTES) throw tooLongLine(input.name, lines);
        if (isSound && this.#scanner.scan(block, at, stop)) {
          const { kinds } = this.#scanner;
          for (let column = 0; column < kinds.length; column++) this.#met[column]! |= MET[kinds[column]!]!;
        } else this.#addSlowly(block.subarray(at, stop), input.name, lines);
        at = stop + 1;
      }
      tick();
    }
  }

  #addSlowly(bytes: Uint8Array, file: string, line: number): void {
    const json = textOfLine(bytes, file, line);
    if (json === '') return;
    this.#survey.add(surveyedValue(parseObject(json, file, line)));
    const { size } = this.#survey;
    if (size === this.#met.length) return;
    if (size > this.#mostColumns) throw new Error('too many columns');
    this.#note();
    this.#scanner = new LineScanner(this.#survey.names);
    this.#met = new Uint8Array(size);
  }

  /** Tells the survey what was met since the names changed. */
  #note(): void {
    for (const [column, name] of this.#survey.names.slice(0, this.#met.length).entries())
      this.#survey.meet(name, this.#met[column]!);
  }
}
