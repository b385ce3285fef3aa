// Arbitrary bytes in every input area of the kernel: no call traps, and none writes outside its own output. Every round
// fills the areas, makes many calls, and compares all other memory with a copy, and the tables with the module's.
import type { Kernel } from '#hexcodes';
import type { Build } from './open-world.js';
import { below, pick, type Random } from './random.js';
import { bareKernel } from './region/made-partitions.js';
import { Wire } from './wire.js';

/** Where an area begins and ends, in bytes of the memory. */
type Area = readonly [from: number, to: number];

/** Calls and points between two looks at the memory. */
const ROUND_CALLS = 200_000;

export class KernelFuzz {
  /** Calls for one point or text, and points or rows of calls for many. */
  calls = 0;
  readonly faults: string[] = [];
  readonly #wire: Wire;
  readonly #memory: Buffer;
  /** The tables below INPUT as the module brings them; what is zero there may be a place where a call works. */
  readonly #tables: Buffer;
  readonly #areas: Readonly<Record<'input' | 'output' | 'scratch' | 'textIn' | 'textOut' | 'rows', Area>>;

  constructor(
    readonly kernel: Kernel,
    readonly random: Random,
    build: Build = 'kernel',
  ) {
    this.#wire = new Wire(kernel);
    const { exports } = kernel;
    const fresh = bareKernel(build);
    this.#tables = Buffer.from(fresh.memory.buffer.slice(0, fresh.INPUT.value));
    const at = (start: { value: number }, sizeBytes: number): Area => [start.value, start.value + sizeBytes];
    this.#memory = Buffer.from(exports.memory.buffer);
    this.#areas = {
      input: at(exports.INPUT, kernel.inputBytes.length),
      output: at(exports.OUTPUT, kernel.output.length),
      scratch: at(exports.SCRATCH, exports.SCRATCH_BYTES.value),
      textIn: at(exports.TEXT_IN, exports.TEXT_IN_BYTES.value),
      textOut: at(exports.TEXT_OUT, exports.TEXT_OUT_BYTES.value),
      // Rows are followed by the reach, which no call writes; resolutions and host rows by the index.
      rows: at(exports.ROWS, kernel.capacity * exports.ROW_BYTES.value),
    };
  }

  run(goesOn: (calls: number) => boolean): void {
    const { output, scratch, textIn, textOut, input, rows } = this.#areas;
    const { memory, gridEnd } = this.kernel.exports;
    const borders: Area = [gridEnd.value, memory.buffer.byteLength];
    const resolutions: Area = [this.kernel.exports.RESOLUTIONS.value, this.kernel.exports.INDEX.value];
    const rowAreas = [input, output, scratch, textIn, textOut, rows, resolutions];
    while (goesOn(this.calls) && this.faults.length === 0) {
      this.#round('points', [output, scratch, borders], () => this.#points());
      this.#round('single calls', [output, scratch, borders], () => this.#singles());
      this.#round('numbers', [output, scratch, textOut], () => this.#numbers());
      this.#round('rows', [...rowAreas, borders], () => this.#rows());
    }
  }

  /** @param may areas that the calls may write */
  #round(what: string, may: readonly Area[], calls: () => void): void {
    fill(this.kernel.inputBytes, this.random);
    fill(this.kernel.resolutions, this.random);
    fill(this.kernel.textIn.subarray(0, 2 * 64), this.random);
    const before = Buffer.from(this.#memory);
    try {
      calls();
    } catch (error) {
      this.faults.push(`${what}: ${String(error)}`);
    }
    const { length } = this.#tables;
    const at = this.#tables.findIndex((byte, i) => byte !== 0 && byte !== this.#memory[i]);
    if (at >= 0) this.faults.push(`${what}: the table at ${at} was written`);
    let from = length;
    for (const [start, end] of [...may, [this.#memory.length, 0] as const].toSorted((a, b) => a[0] - b[0])) {
      if (!before.subarray(from, start).equals(this.#memory.subarray(from, start))) {
        this.faults.push(`${what}: memory from ${from} to ${start} was written`);
      }
      from = end;
    }
  }

  #points(): void {
    const { exports, capacity } = this.kernel;
    for (let done = 0; done < ROUND_CALLS; ) {
      const count = below(capacity + 1, this.random);
      const resolution = below(256, this.random);
      exports.encodeBatch(count, resolution);
      exports.encodeCells(count, resolution);
      exports.decodeBatch(count);
      exports.locateBatch(count);
      exports.borderBatch(count);
      done += 5 * count;
      this.calls += 5 * count;
      // Answers are read as the input of the next calls, and so are bytes that no call would write.
      if (this.random() < 0.3) this.kernel.output.copyWithin(0, below(4000, this.random));
    }
  }

  #singles(): void {
    const { exports } = this.kernel;
    const doubles = this.kernel.input;
    const cells = new BigUint64Array(doubles.buffer, doubles.byteOffset, doubles.length);
    for (let i = 0; i + 1 < doubles.length; i++) {
      const resolution = below(256, this.random);
      exports.encodeOne(doubles[i]!, doubles[i + 1]!, resolution);
      exports.cellOf(doubles[i]!, doubles[i + 1]!, resolution);
      exports.centerOf(cells[i]!);
      exports.pack(cells[i]!, below(256, this.random));
      exports.regionOf(doubles[i]!, doubles[i + 1]!);
      exports.unitOf(doubles[i]!, doubles[i + 1]!);
      exports.borderOf(doubles[i]!, doubles[i + 1]!);
      exports.neighbourOf(doubles[i]!, doubles[i + 1]!);
      exports.readText(below(66, this.random));
      exports.readAscii(below(66, this.random));
    }
    this.calls += 10 * doubles.length;
  }

  #numbers(): void {
    const { exports, input } = this.kernel;
    const end = exports.TEXT_OUT.value;
    for (const value of input) {
      const behind = exports.printNumber(value, end);
      if (behind > end) exports.readNumber(end, this.random() < 0.5);
    }
    this.calls += 2 * input.length;
  }

  /** Bodies of arbitrary bytes by way of the wire, which scans and writes them in the kernel. */
  #rows(): void {
    const input = pick(['csv', 'ndjson', 'frames'] as const, this.random);
    const output = pick(['csv', 'ndjson', input] as const, this.random);
    const operation = pick(['encode', 'decode'] as const, this.random);
    const certainty = operation === 'encode' && output !== 'frames' && this.random() < 0.5;
    // Bodies of CSV are refused unless they are UTF-8.
    const alphabet = pick(input === 'csv' ? ALPHABETS.slice(1) : ALPHABETS, this.random);
    const text = Buffer.alloc(below(100_000, this.random));
    fill(text, this.random);
    if (alphabet !== '')
      for (let i = 0; i < text.length; i++) text[i] = alphabet.charCodeAt(text[i]! % alphabet.length);
    const head = input === 'csv' ? (operation === 'encode' ? 'lat,lng,resolution\n' : 'hexcodes\n') : '';
    try {
      const asked = { operation, input, output, resolution: 9, certainty };
      const { job, blocks } = this.#wire.cut(asked, [Buffer.concat([Buffer.from(head), text])]);
      for (const block of blocks) this.calls += this.#wire.block(job, block).rows;
    } catch (error) {
      if ((error as Error).name !== 'BulkInputError') throw error;
    }
  }
}

const ALPHABETS = [
  '',
  '0123456789.,-eE\n',
  '{}[]":,lat ng0123456789.\n\\u',
  'HN-26GP483RF",\r\n ',
  '\u0001,"\n\u007f',
  '"\n,',
];

/** Fills with bytes of a cheap generator: as doubles they are of every size, some of them positions. */
function fill(bytes: Uint8Array, random: Random): void {
  let state = Math.floor(random() * 2 ** 32) | 1;
  for (let i = 0; i < bytes.length; i++) {
    state = (Math.imul(state, 1664525) + 1013904223) | 0;
    bytes[i] = state >>> 24;
  }
  if (random() < 0.5 && bytes.byteOffset % 8 === 0) {
    const doubles = new Float64Array(bytes.buffer, bytes.byteOffset, bytes.length >> 3);
    for (let i = 0; i < doubles.length; i++)
      doubles[i] = i % 2 === 0 ? 4 + random() * 22 : 99 + random() * 21;
  }
}
