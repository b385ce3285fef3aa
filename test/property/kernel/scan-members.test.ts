// Lines of NDJSON as the kernel reads them into columns, against JSON.parse: kinds, texts, numbers to the bit,
// points; plain lines are read, and of a line that is left nothing is noted. Last arbitrary bytes in the kernel's
// input areas.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  AS_BOOLEAN,
  AS_DOUBLE,
  AS_LONG,
  AS_RAW,
  AS_TEXT,
  KINDS,
  MemberMemory,
} from '#dist/hexcodes/kernel/member-memory.js';
import { anyLetter } from '../../support/any-letter.js';
import { KernelFuzz } from '../../support/fuzz-kernel.js';
import { openKernel, randomFrom } from '../../support/open-world.js';

const kernel = openKernel();
const NAMES = ['lat', 'lng', 'id', 'é "x"', 'a name of more than sixteen bytes', 'on'];
const ROLES = [AS_DOUBLE, AS_DOUBLE, AS_LONG, AS_TEXT, AS_RAW, AS_BOOLEAN];
/** Where the host has the text, and where the numbers of columns. */
const TEXT_AT = 1000;
const BASES = [0, 50_000, 100_000, 0, 0, 150_000];

const members = new MemberMemory(kernel);
members.set(NAMES.map((name, c) => ({ name, role: ROLES[c]!, axis: c === 0 ? 1 : c === 1 ? 2 : 0 })));
for (const [c, base] of BASES.entries()) members.setBase(c, base);

const usual = fc.oneof(
  fc.integer({ min: -1_000_000, max: 1_000_000 }).map(String),
  fc.integer({ min: -180e6, max: 180e6 }).map((micro) => String(micro / 1e6)),
  fc
    .double({ noNaN: true, min: -180, max: 180 })
    .filter((value) => Math.abs(value) > 0.01)
    .map(String),
  fc.constantFrom(
    '0',
    '-0',
    '0.0',
    '-0.0',
    '2.0',
    '21.50',
    '1e3',
    '1E-2',
    '9007199254740991',
    '123456789012345',
  ),
  fc.string({ unit: anyLetter, maxLength: 40 }).map((text) => JSON.stringify(text)),
  fc.constantFrom('true', 'false', 'null', '""', '"\\u00e9"', '"\\"\\\\\\/"'),
  fc.constantFrom('[]', '{}', '[1, "]"]', '{"a": {"b": [null, "\\"}"]}}'),
);
const odd = fc.constantFrom(
  ...'9007199254740992 1e400 01 1. - +1 .5 1e nul tru falsy [1,] {"a"} [1}'.split(' '),
  ...['"\\x"', '"\\u12g4"', '"a', '"\u0001"', '1.00000000000000000001', '12345678901234567890123', ''],
);
const space = fc.constantFrom('', '', '', ' ', '  ', '\t', '\r');
const line = fc
  .tuple(
    fc.uniqueArray(fc.nat(NAMES.length - 1), { maxLength: NAMES.length }),
    fc.array(usual, { minLength: 6, maxLength: 6 }),
    fc.oneof({ weight: 3, arbitrary: fc.constant(null) }, odd),
    fc.oneof({ weight: 5, arbitrary: fc.constant('') }, fc.constantFrom(',"other":1', ',"lat":1', ',', 'x')),
    fc.array(space, { minLength: 4, maxLength: 4 }),
    fc.boolean(),
  )
  .map(([order, values, strange, tail, [before, around, behind, end], isSorted]) => {
    const columns = isSorted ? order.toSorted((a, b) => a - b) : order;
    const texts = columns.map((c, i) => {
      const value = strange !== null && i === 0 ? strange : values[i]!;
      return `${JSON.stringify(NAMES[c])}${behind}:${around}${value}${behind}`;
    });
    const isPlain = tail === '' && strange === null;
    return { text: `${before}{${texts.join(`,${around}`)}${tail}}${end}`, isPlain };
  });

const objectOf = (text: string): Record<string, unknown> | null => {
  try {
    const value = JSON.parse(text) as unknown;
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
};

/** Each value of a row as the kernel noted it, by name. */
function noted(block: Buffer, row: number, rows: number): Record<string, unknown> {
  const found: Record<string, unknown> = {};
  for (const [c, name] of NAMES.entries()) {
    const kind = members.kinds(c, rows)[row]!;
    const [start, end] = [members.starts(c, rows)[row]!, members.ends(c, rows)[row]!];
    if (kind === 0 || kind === KINDS.null) expect(start).toBe(-1);
    if (kind === 0) continue;
    if (kind === KINDS.null) {
      found[name] = null;
      continue;
    }
    const text = (): string => block.toString('utf8', start - TEXT_AT, end - TEXT_AT);
    const isInteger = (kind & KINDS.integer) !== 0;
    const isNumber = isInteger || (kind & KINDS.fraction) !== 0;
    const isKept =
      (ROLES[c] === AS_DOUBLE && isNumber) ||
      (ROLES[c] === AS_LONG && isInteger) ||
      (ROLES[c] === AS_BOOLEAN && kind === KINDS.boolean);
    const stored = members.values(c, rows).slice(8 * row, 8 * row + 8);
    const view = new DataView(stored.buffer);
    if (isKept) {
      const size = ROLES[c] === AS_BOOLEAN ? 1 : 8;
      expect([start, end]).toEqual([BASES[c]! + 8 * row, BASES[c]! + 8 * row + size]);
      found[name] =
        ROLES[c] === AS_LONG
          ? Number(view.getBigInt64(0, true))
          : ROLES[c] === AS_BOOLEAN
            ? stored[0] === 1
            : view.getFloat64(0, true);
    } else if ((kind & (KINDS.text | KINDS.escaped)) !== 0) {
      const json = ROLES[c] === AS_RAW ? text() : `"${text()}"`;
      expect(json.includes('\\')).toBe(kind === KINDS.escaped);
      found[name] = JSON.parse(json);
    } else {
      found[name] = JSON.parse(text());
      if (isNumber) {
        const isWhole = !/[.eE]/.test(text());
        expect(isInteger).toBe(isWhole);
        // A number that is not odd is written as it is printed.
        if ((kind & KINDS.odd) === 0) expect(String(found[name])).toBe(text());
        expect(view.getFloat64(0, true)).toBe(found[name]);
      }
    }
  }
  return found;
}

/** An object with the sign of no zero, as an integer of 64 bits has none. */
const unsigned = (values: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, value === 0 ? 0 : value]));

test('lines are read as JSON.parse reads them, or are left', () => {
  fc.assert(
    fc.property(fc.array(line, { minLength: 1, maxLength: 40 }), fc.boolean(), (lines, isKindsOnly) => {
      const block = Buffer.from(lines.map(({ text }) => text).join('\n'));
      members.text.block.set(block);
      kernel.input.fill(0);
      const [rows, sizeBytes] = members.scan(0, block.length, 4096, TEXT_AT, isKindsOnly);
      // A line without a byte, or a return alone, is blank.
      const filled = lines.filter(({ text }) => text !== '' && text !== '\r');
      expect([rows, sizeBytes]).toEqual([filled.length, block.length]);
      expect(members.blankLines).toBe(lines.filter((each) => !filled.includes(each)).length);
      const left = new Set(members.text.hostRows.slice(0, members.text.hostRowCount));
      const met = NAMES.map(() => 0);
      for (const [row, { text, isPlain }] of filled.entries()) {
        const value = objectOf(text);
        if (isPlain) expect(left.has(row), text).toBe(false);
        const [start, end] = members.text.rowBounds(row);
        expect(block.toString('utf8', start, end)).toBe(text);
        const kinds = NAMES.map((_, c) => members.kinds(c, rows)[row]!);
        for (const [c, kind] of kinds.entries()) met[c]! |= kind;
        if (left.has(row)) expect(kinds.every((kind) => kind === 0)).toBe(true);
        else expect(value, text).not.toBeNull();
        if (isKindsOnly) continue;
        const axes = [kernel.input[2 * row], kernel.input[2 * row + 1]];
        const degrees = (name: string): number =>
          !left.has(row) && typeof value![name] === 'number' ? value![name] : Number.NaN;
        expect(axes).toEqual([degrees('lat'), degrees('lng')]);
        if (left.has(row)) expect(noted(block, row, rows)).toEqual({});
        else expect(unsigned(noted(block, row, rows))).toEqual(unsigned(value!));
      }
      expect(NAMES.map((_, c) => members.kindsMet(c))).toEqual(met);
      for (const [c] of NAMES.entries()) {
        const kinds = [...members.kinds(c, rows)];
        expect(members.isEverywhere(c)).toBe(kinds.every((kind) => kind !== 0 && kind !== KINDS.null));
      }
    }),
    { numRuns: 400 },
  );
});

test.each([
  ['another value of a member', '1,"lat":2'],
  ['a null behind a value of a member', '1,"lat":null'],
  ['a fraction that rounds to an integer', '2.000000000000000001'],
  ['an integer beyond 2^53', '9007199254740993'],
  ['one below -2^53', '-9007199254740993'],
  ['a number beyond all doubles', '1e999'],
  ['a list that is not JSON', '[1,]'],
  ['lists nested more than 512 deep', `${'['.repeat(512)}${']'.repeat(512)}`],
  ['a zero before a digit', '00.5'],
  ['two points', '1.2.3'],
])('a line is left for %s', (_, value) => {
  const block = Buffer.from(`{"lat":${value},"lng":105.8}\n{"lat":21,"lng":105.8}\n`);
  members.text.block.set(block);
  for (const isKindsOnly of [false, true]) {
    members.scan(0, block.length, 4096, 0, isKindsOnly);
    expect([...members.text.hostRows.slice(0, members.text.hostRowCount)]).toEqual([0]);
    expect(members.kindsMet(0)).toBe(KINDS.integer);
  }
});

test('a scan stops at its limit, and resumes there', () => {
  const block = Buffer.from('{"lat":1,"lng":2}\n'.repeat(40));
  members.text.block.set(block);
  expect(members.scan(0, block.length, 16, 0, false)).toEqual([16, 18 * 16]);
  expect(members.scan(18 * 32, block.length, 16, 0, false)).toEqual([8, 18 * 8]);
});

test('columns that do not fit leave all lines to the host', () => {
  const other = new MemberMemory(openKernel());
  other.set(Array.from({ length: 700 }, (_, c) => ({ name: `${c}`.repeat(40), role: AS_TEXT, axis: 0 })));
  const block = Buffer.from('{"0":1}\n{}\n');
  other.text.block.set(block);
  expect(other.scan(0, block.length, 4096, 0, false)).toEqual([2, block.length]);
  expect(other.text.hostRowCount).toBe(1);
});

test('a line of many members in another order is left before it costs their square', () => {
  const other = new MemberMemory(openKernel());
  const names = Array.from({ length: 200 }, (_, c) => `c${c}`);
  other.set(names.map((name) => ({ name, role: AS_DOUBLE, axis: 0 })));
  const lineOf = (order: readonly string[]): string => `{${order.map((name) => `"${name}":1`).join(',')}}\n`;
  const block = Buffer.from(lineOf(names) + lineOf(names.toReversed()));
  other.text.block.set(block);
  expect(other.scan(0, block.length, 4096, 0, false)).toEqual([2, block.length]);
  expect([...other.text.hostRows.slice(0, other.text.hostRowCount)]).toEqual([1]);
});

// The kernel under arbitrary bytes, in both builds: the small twin of the proof `fuzz-kernel`.

const seed = Number(process.env.SEED ?? Date.now() % 2 ** 31);
console.log(`fuzz-kernel: seed ${seed}`);

test.each(['kernel', 'kernel.debug'] as const)('%s: no call traps or writes outside its output', (build) => {
  const fuzz = new KernelFuzz(openKernel(build), randomFrom(seed), build);
  fuzz.run((calls) => calls < 500_000);
  expect(fuzz.faults).toEqual([]);
});

test('a write outside is seen', () => {
  const kernel = openKernel();
  const fuzz = new KernelFuzz(kernel, randomFrom(seed));
  const { encodeBatch } = kernel.exports;
  const exports = {
    ...kernel.exports,
    encodeBatch: (count: number, resolution: number): number => {
      new Uint8Array(kernel.exports.memory.buffer)[kernel.exports.REACH.value]! ^= 1;
      return encodeBatch(count, resolution);
    },
  };
  Object.assign(kernel, { exports });
  // Which of the fuzz's steps calls encodeBatch first, and when, depends on the seed.
  fuzz.run((calls) => fuzz.faults.length === 0 && calls < 2_000_000);
  expect(fuzz.faults[0]).toMatch(/: memory .* was written$/);
});
