// Decimal texts and doubles of every difficult kind. The kernel must read and print them like Number and String, to
// the bit and the byte; numbers that it leaves to the host are counted.

import type { Kernel, KernelExports } from '#hexcodes';

const CSV_GRAMMAR = /^-?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$/;
const JSON_GRAMMAR = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;

const NUMBER = 0;
const HARD = 1;

export interface NumberCounts {
  read: number;
  /** Numbers by their grammar that are left to the host. */
  hard: number;
  /** Rows whose coordinates both are the text. */
  rows: number;
  printed: number;
  /** Doubles beyond the range of printing. */
  unprinted: number;
  wrong: string[];
}

export class NumberChecker {
  readonly counts: NumberCounts = { read: 0, hard: 0, rows: 0, printed: 0, unprinted: 0, wrong: [] };
  readonly #bytes: Uint8Array;
  readonly #kernel: Kernel;
  readonly #kernelBytes: Uint8Array;

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
    this.#kernelBytes = new Uint8Array(kernel.exports.memory.buffer);
    this.#bytes = this.#kernelBytes.subarray(kernel.exports.BLOCK_TEXT.value);
  }

  /** Reads the text by both grammars, alone and as the coordinates of rows. */
  read(text: string): void {
    this.#readAs(text, false, CSV_GRAMMAR);
    this.#readAs(text, true, JSON_GRAMMAR);
    const { exports } = this.#kernel;
    exports.useCsvColumns(2, 0, 1, -1, 44);
    this.#readRow(text, `${text},${text}`, exports.scanCsv, CSV_GRAMMAR);
    this.#readRow(text, `[${text}, ${text}]`, exports.scanNdjson, JSON_GRAMMAR);
    this.#readRow(text, `{"lat":${text},"lng":${text}}`, exports.scanNdjson, JSON_GRAMMAR);
  }

  /** A row whose two coordinates are both the text. */
  #readRow(text: string, row: string, scan: KernelExports['scanCsv'], grammar: RegExp): void {
    const { exports } = this.#kernel;
    const blockAt = exports.BLOCK_TEXT.value;
    this.#write(row);
    const count = scan(blockAt, blockAt + row.length, 2, false, 13);
    if (count !== 1) this.#note(row, `is ${count} rows`);
    this.counts.rows++;
    const rowAt = exports.ROWS.value;
    const byte = (offset: number): number => this.#kernelBytes[rowAt + offset]!;
    if (byte(27) !== 0 || exports.hostRowCount.value > 0) {
      if (byte(27) !== 0 && grammar.test(text)) this.#note(row, 'is refused');
      return;
    }
    if (!grammar.test(text)) this.#note(row, 'is taken');
    for (const place of [0, 1]) {
      const value = this.#kernel.input[place]!;
      if (!Object.is(value, Number(text))) this.#note(row, `is read as ${value}`);
      const plainBytes = byte(20 + 2 * place) | (byte(21 + 2 * place) << 8);
      if (plainBytes > 0 && String(value) !== text.slice(0, plainBytes))
        this.#note(row, `prints as ${plainBytes} bytes of it`);
    }
  }

  #readAs(text: string, json: boolean, grammar: RegExp): void {
    const { exports } = this.#kernel;
    const blockAt = exports.BLOCK_TEXT.value;
    this.#write(`${text},`);
    const value = exports.readNumber(blockAt, json);
    const kind = exports.numberKind.value;
    const isWhole = exports.numberEnd.value === blockAt + text.length;
    this.counts.read++;
    const isNumber = (kind === NUMBER || kind === HARD) && isWhole;
    if (isNumber !== grammar.test(text)) this.#note(text, json ? 'JSON grammar' : 'CSV grammar');
    if (!isNumber) return;
    if (kind === HARD) {
      this.counts.hard++;
      return;
    }
    const wanted = Number(text);
    if (!Object.is(value, wanted)) this.#note(text, `read as ${value}`);
    if (exports.numberIsPlain.value && String(wanted) !== text)
      this.#note(text, 'is not what printing gives');
  }

  #write(text: string): void {
    for (let i = 0; i < text.length; i++) this.#bytes[i] = text.charCodeAt(i);
  }

  print(value: number): void {
    const { exports } = this.#kernel;
    const blockAt = exports.BLOCK_TEXT.value;
    const end = exports.printNumber(value, blockAt);
    if (end === 0) {
      this.counts.unprinted++;
      const size = Math.abs(value);
      if (size === 0 || (size >= 1e-6 && size < 1024)) this.#note(String(value), 'is not printed');
      return;
    }
    this.counts.printed++;
    const wanted = String(value);
    let same = 0;
    while (same < wanted.length && this.#bytes[same] === wanted.charCodeAt(same)) same++;
    if (same === wanted.length && end === blockAt + same) return;
    const text = String.fromCharCode(...this.#bytes.subarray(0, end - blockAt));
    this.#note(wanted, `is printed as ${text}`);
  }

  #note(text: string, what: string): void {
    if (this.counts.wrong.length < 20) this.counts.wrong.push(`${text}: ${what}`);
  }
}

/** Texts and numbers that are known to be difficult. */
export const HARD_TEXTS = [
  ...[
    '',
    '-',
    '.',
    '-.',
    '1.',
    '.5',
    '-.5',
    '1e',
    '1e+',
    '1e5',
    '01',
    '00.5',
    '-0',
    '-0.0',
    '0',
    '0.0',
    '+1',
    '1.e5',
    '.e5',
  ],
  ...'9007199254740993 9007199254740992.5 9007199254740991.5 9007199254740993e-15 1e22 1e23 8.5e22'.split(
    ' ',
  ),
  ...'0.000001 0.0000001 0.00000099999999999999999 180 179.99999999999999 179.999999999999985789'.split(' '),
  ...'2.2250738585072011e-308 2.2250738585072014e-308 4.9e-324 5e-324 2.4703282292062327e-324 1e400'.split(
    ' ',
  ),
  ...[
    '17976931348623157e292',
    '17976931348623159e292',
    '18446744073709551615',
    '18446744073709551616',
    '1e-400',
  ],
  ...[
    '1234567890123456789',
    '12345678901234567890',
    '0.1234567890123456789',
    '00000000000000000001',
    '1e00000000022',
  ],
  ...[
    'NaN',
    'Infinity',
    '0x10',
    '1_0',
    '1,5',
    '1e1.5',
    '--1',
    '1-',
    '1e--1',
    '1E+007',
    '9'.repeat(400),
    `0.${'0'.repeat(400)}1`,
  ],
];

/** One round: about 32 readings and 10 printings, from `random` numbers of [0, 1). */
export function checkRound(checker: NumberChecker, random: () => number): void {
  const upTo = (n: number): number => Math.floor(random() * n);
  const degrees = (random() - 0.5) * 360;
  checker.read(String(degrees));
  checker.read(degrees.toFixed(upTo(20)));
  checker.read(degrees.toPrecision(1 + upTo(25)));
  // As positions are usually written, and the same with one character changed.
  const usual = Math.abs(degrees).toFixed(upTo(15));
  const changed = upTo(usual.length);
  checker.read(usual);
  checker.read(`${usual.slice(0, changed)}${'0123456789.eE+-x'[upTo(16)]}${usual.slice(changed + upTo(2))}`);
  checker.read(degrees.toExponential(upTo(18)));
  const digits = `${upTo(2 ** 31)}${upTo(2 ** 31)}${upTo(2 ** 31)}`.slice(0, 1 + upTo(28));
  checker.read(`${digits}e${upTo(700) - 350}`);
  checker.read(`${digits}e${upTo(60) - 38}`);
  const point = upTo(digits.length + 1);
  checker.read(`-${digits.slice(0, point)}.${digits.slice(point)}`);
  // Any double at all, subnormals too.
  float[0] = 0;
  bits[0] = (BigInt(upTo(2 ** 32)) << 32n) | BigInt(upTo(2 ** 32));
  if (Number.isFinite(float[0])) checker.read(String(float[0]));
  bits[0] = BigInt(upTo(2 ** 32)) << BigInt(upTo(21));
  checker.read(String(float[0]));
  // Halfway between two doubles, exactly, and one last digit beside it.
  const odd = (((1n << 52n) + (BigInt(upTo(2 ** 26)) << 26n) + BigInt(upTo(2 ** 26))) << 1n) + 1n;
  const halvings = BigInt(upTo(5));
  const decimal = odd * 5n ** halvings;
  for (const near of [decimal - 1n, decimal, decimal + 1n]) {
    checker.read(`${near}e-${halvings}`);
    checker.read(`${near}${'0'.repeat(upTo(3))}e-${Number(halvings) + upTo(20)}`);
  }
  // Positions: the middle of two neighbouring doubles has far more digits than any text; cut it where texts end.
  float[0] = degrees;
  const middle = middleOf(bits[0]!);
  if (middle !== undefined)
    for (const size of [17, 18, 19, 20, 21, 60]) checker.read(middle.slice(0, size + 5));

  checker.print(degrees);
  checker.print(Number(degrees.toFixed(upTo(16))));
  checker.print(random() * 10 ** (upTo(12) - 8));
  bits[0] = (BigInt(1003 + upTo(31)) << 52n) + BigInt(upTo(41)) - 20n;
  checker.print(float[0]);
  checker.print(-float[0]);
  bits[0] = (BigInt(995 + upTo(45)) << 52n) | (BigInt(upTo(2 ** 26)) << 26n) | BigInt(upTo(2 ** 26));
  checker.print(float[0]);
}

/** Doubles printed by a call of `checkUsual`. */
export const USUAL_PRINTINGS = 50;

/**
 * 50 printings of the size that coordinates have, 8 to 256, which the kernel prints in a way of its own: any double,
 * few decimals and the doubles around them, exact halves of the last decimal, and doubles beside integers and powers
 * of two.
 */
export function checkUsual(checker: NumberChecker, random: () => number): void {
  const upTo = (n: number): number => Math.floor(random() * n);
  const print = (value: number, sign: number): void => checker.print(sign * value);
  for (let i = 0; i < 14; i++) {
    bits[0] = (BigInt(1026 + upTo(5)) << 52n) | BigInt(upTo(2 ** 52));
    print(float[0]!, i === 0 ? -1 : 1);
  }
  const near = (value: number, steps: number): void => {
    float[0] = value;
    bits[0]! += BigInt(steps);
    print(float[0]!, 1);
  };
  for (let i = 0; i < 3; i++) {
    const decimal = Number((8 + random() * 248).toFixed(upTo(16)));
    for (let step = -3; step <= 3; step++) near(decimal, step);
  }
  // Sixteen binary places are 15.5 of the last decimals below 64, fifteen those from there on.
  for (let i = 0; i < 6; i++) {
    print(8 + upTo(56) + (2 * upTo(2 ** 15) + 1) / 2 ** 16, 1);
    print(64 + upTo(192) + (2 * upTo(2 ** 14) + 1) / 2 ** 15, 1);
  }
  near(8 + upTo(248), upTo(2001) - 1000);
  near(2 ** (3 + upTo(6)), upTo(2001) - 1000);
  near(8 + upTo(248) + upTo(2 ** 12) / 2 ** 12, upTo(3) - 1);
}

const float = new Float64Array(1);
const bits = new BigUint64Array(float.buffer);

/** The exact decimal of the middle between a double of 2^-8 to 2^10 and the next one. */
function middleOf(pattern: bigint): string | undefined {
  const exponent = Number((pattern >> 52n) & 0x7ffn) - 1075;
  if (exponent < -62 || exponent > -43) return undefined;
  const mantissa = (((pattern & ((1n << 52n) - 1n)) | (1n << 52n)) << 1n) + 1n;
  const places = 1 - exponent;
  const scaled = (mantissa * 5n ** BigInt(places)).toString().padStart(places + 1, '0');
  const text = `${scaled.slice(0, -places)}.${scaled.slice(-places)}`;
  return pattern >> 63n ? `-${text}` : text;
}
