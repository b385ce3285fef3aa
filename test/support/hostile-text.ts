// Rows of CSV and NDJSON, JSON batches and JSON frames of every kind of trouble, through two builds of the library or
// two ways of one: both must give the same bytes, or the same error.

import type { BulkRequest, Operation } from '#dist/hexcodes/wire/job.js';
import type { Kernel } from '#hexcodes';

/** The modules of a build that convert text, and a kernel of it. */
export interface TextWay {
  readonly kernel: Kernel;
  readonly convertBlock: typeof import('#dist/hexcodes/wire/bulk/convert-block.js').convertBlock;
  readonly BulkReader: typeof import('#dist/hexcodes/wire/bulk/reader.js').BulkReader;
  readonly ByteSink: typeof import('#dist/hexcodes/wire/bytes/byte-sink.js').ByteSink;
  readonly batch: typeof import('#dist/hexcodes/wire/rows/batch.js');
  readonly answerJsonFrame: typeof import('#dist/hexcodes/wire/rows/json-frame.js').answerJsonFrame;
}

const ROWS = 400;

const ODD_NUMBERS =
  '0 -0 90 -90.0 180 1e1 2.1E+1 1e400 1e-9 .5 5. +5 1e 0x10 NaN 01 - 1.2.3 9007199254740993e-14 21.02850000000000000000001'.split(
    ' ',
  );
const ODD_CODES = [
  'HN-6GHMK-53FMF',
  'hn6ghmk53fmf',
  'HN',
  '',
  'HUẾ-6HQ64-HHGRR',
  'HN-6GHMK-53F\\u0041',
  'x'.repeat(70),
];
const ODD_VALUES = [
  'null',
  'tru',
  '[1,]',
  '{"a":[{}]}',
  '"\\x"',
  '"\\ud800"',
  '"é[{"',
  '"\\\\"',
  '"',
  '[[[]]]',
];
const SPACES = ['', '', '', '', ' ', '\t', '  ', '\r'];

export class HostileText {
  rows = 0;
  /** Texts, and those among them that both ways refuse. */
  texts = 0;
  refused = 0;
  readonly wrong: string[] = [];
  readonly #sinks;

  constructor(
    readonly one: TextWay,
    readonly other: TextWay,
    readonly random: () => number,
  ) {
    this.#sinks = [one, other].map((way) => new way.ByteSink());
  }

  /** About 4,800 rows: twelve texts of 400. */
  round(): void {
    const items = (operation: Operation, size: number): string[] =>
      Array.from({ length: size }, () => this.#item(operation));
    for (const operation of ['encode', 'decode'] as const) {
      const name = operation === 'encode' ? 'points' : 'hexcodes';
      const head = this.#pick(['', '"resolution":7, ', '"x":[1,"]"],', '"former":true,']);
      const tail = this.#pick(['', ' , "resolution":9', ',"points":3', ']', ',"certainty":true']);
      const array = `${head}"${name}"${this.#pick(SPACES)}:${this.#pick(SPACES)}[`;
      // With a clean array the answers are compared, with an odd one the errors too.
      const list = items(operation, ROWS)
        .filter((text) => isJson(text) || this.random() < 0.0005)
        .join(`${this.#pick(SPACES)},`);
      const closing = this.random() < 0.9 ? ']' : '';
      this.#compare(`{${array}${list}${closing}${tail}}`, ROWS, (way, bytes, sink) =>
        way.batch.batchBody(
          way.batch.convertBatch(way.kernel, way.batch.openBatch(operation, bytes, way.kernel), sink),
        ),
      );
      const frame = `{"seq":${this.#pick(['1', '-7', 'null', '"1"'])},"op":"${operation}",${array}${list}${closing}${tail}}`;
      this.#compare(frame, ROWS, (way, bytes, sink) => way.answerJsonFrame(way.kernel, bytes, sink).bytes);
      for (const output of ['csv', 'ndjson'] as const) {
        const lines = items(operation, ROWS).join(this.random() < 0.9 ? '\n' : '\r\n');
        this.#bulk(lines, { operation, input: 'ndjson', output, resolution: 13, prefix: '' });
        const columns = operation === 'encode' ? 'id,lat,lng' : 'id,hexcodes';
        const rows = Array.from({ length: ROWS }, () => this.#csvRow(operation)).join('\n');
        this.#bulk(`${columns}\n${rows}`, { operation, input: 'csv', output, resolution: 13, prefix: '' });
      }
    }
  }

  #bulk(text: string, request: BulkRequest): void {
    this.#compare(text, ROWS, (way, bytes, sink) => {
      const reader = new way.BulkReader(request, undefined, way.kernel);
      const blocks = [...reader.push(bytes), ...reader.end()];
      return Buffer.concat(
        blocks.map((block) =>
          Buffer.from(way.convertBlock(way.kernel, reader.job!, block, undefined, sink).bytes),
        ),
      );
    });
  }

  #compare(
    text: string,
    rows: number,
    answer: (way: TextWay, bytes: Uint8Array, sink: InstanceType<TextWay['ByteSink']>) => Uint8Array,
  ): void {
    const bytes = Buffer.from(text);
    const [one, other] = [this.one, this.other].map((way, i) => {
      try {
        return Buffer.from(answer(way, bytes, this.#sinks[i]!));
      } catch (error) {
        if (i === 0) this.refused++;
        return Buffer.from(String(error));
      }
    }) as [Buffer, Buffer];
    this.rows += rows;
    this.texts++;
    if (one.equals(other) || this.wrong.length > 20) return;
    let at = 0;
    while (one[at] === other[at]) at++;
    const near = (answered: Buffer): string => answered.subarray(Math.max(0, at - 60), at + 60).toString();
    this.wrong.push(`${near(one)}\n  other: ${near(other)}`);
  }

  #number(): string {
    const { random } = this;
    if (random() < 0.04) return this.#pick(ODD_NUMBERS);
    const value = random() < 0.5 ? 8 + random() * 16 : 101 + random() * 16;
    return random() < 0.3 ? String(value) : value.toFixed(Math.floor(random() * 20));
  }

  #code(): string {
    if (this.random() < 0.2) return this.#pick(ODD_CODES);
    const [lat, lng] = [9 + this.random() * 13, 103 + this.random() * 6];
    const { kernel } = this.one;
    const isCode = kernel.exports.encodeOne(lat, lng, Math.floor(this.random() * 16)) === 0;
    return isCode ? kernel.textAt(0) : 'HN-6GHMK-53FMF';
  }

  #item(operation: Operation): string {
    const { random } = this;
    const space = (): string => (random() < 0.9 ? '' : this.#pick(SPACES));
    const members: string[] = [];
    if (operation === 'encode') {
      if (random() < 0.1) return `[${this.#number()},${space()}${this.#number()}]`;
      members.push(`"lat":${space()}${this.#number()}`, `"lng":${this.#number()}`);
      if (random() < 0.1) members.push(`"resolution":${Math.floor(random() * 18)}`);
    } else {
      if (random() < 0.3) return `"${this.#code()}"`;
      members.push(`"hexcodes":${space()}"${this.#code()}"`);
    }
    if (random() < 0.6)
      members.push(`"id":${this.#pick(['7', '"a b"', '"é\\n"', '1.50', '123456789012345678901'])}`);
    if (random() < 0.05) members.push(`"x":${this.#pick(ODD_VALUES)}`);
    if (random() < 0.05) members.reverse();
    return `${space()}{${space()}${members.join(`${space()},${space()}`)}${space()}}`;
  }

  #csvRow(operation: Operation): string {
    const { random } = this;
    const quoted = (text: string): string =>
      random() < 0.05 ? `"${text.replaceAll('"', '""')}"` : random() < 0.02 ? ` ${text} ` : text;
    const id = this.#pick(['7', 'a', 'Phố', '"a ""b"""', '', '"x,y"', '"']);
    const fields = operation === 'encode' ? [this.#number(), this.#number()] : [this.#code()];
    const row = [id === '"' && random() < 0.99 ? '8' : id, ...fields.map(quoted)];
    if (random() < 0.03) row.push('more');
    if (random() < 0.03) row.pop();
    return row.join(',') + (random() < 0.05 ? '\r' : '');
  }

  #pick(from: readonly string[]): string {
    return from[Math.floor(this.random() * from.length)]!;
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
