// Numbers of requests: the grammar, exactness against Number(), the text that is echoed; and the numbers of the
// kernel.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decimalText, readDecimal, readResolution } from '#dist/hexcodes/wire/params/number.js';
import { openKernel, randomFrom } from '../../support/open-world.js';
import {
  checkRound,
  checkUsual,
  HARD_TEXTS,
  NumberChecker,
  USUAL_PRINTINGS,
} from '../../support/text-numbers.js';

const GRAMMAR = /^-?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$/;
const seed = Number(process.env.SEED ?? Date.now() % 2 ** 31);

function check(text: string): void {
  const value = readDecimal(text);
  if (!GRAMMAR.test(text)) {
    expect(value, text).toBeNaN();
    return;
  }
  expect(Object.is(value, Number(text)), `${text} → ${value} (seed ${seed})`).toBe(true);
  expect(Number(decimalText(text, value)) === value, text).toBe(true);
  if (Number.isFinite(value)) expect(decimalText(text, value), text).toBe(String(value));
}

test('texts at the edges of the grammar', () => {
  for (const text of [
    ...[
      '0',
      '-0',
      '00',
      '1',
      '-1',
      '1.',
      '.5',
      '-.5',
      '.',
      '-',
      '',
      '+1',
      '1e',
      '1e+',
      '1e5',
      '1E-5',
      '1.e2',
      '.e2',
    ],
    ...[
      '1e400',
      '-1e400',
      '1e-400',
      ' 1',
      '1 ',
      '0x10',
      '1_0',
      'NaN',
      'Infinity',
      '1..2',
      '--1',
      '1-',
      '1e5.',
      '١',
    ],
    ...[
      '21.0288',
      '105.8525',
      '9.999999999999999',
      '0.1',
      '0.000001',
      '0.0000001',
      '100',
      '1.10',
      '12345678901234.5',
    ],
    ...[
      '123456789012345',
      '1234567890123456',
      '999999999999999.9',
      '1.5e3',
      '90',
      '-90',
      '179.99999999999997',
    ],
    ...['0.30000000000000004', '5e-324', '2.2250738585072011e-308', '17.9769313486231580793e307'],
  ]) {
    check(text);
  }
});

test('random decimals are read as Number() reads them', () => {
  const decimal = fc
    .tuple(
      fc.boolean(),
      fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: 0, maxLength: 20 }),
      fc.option(fc.string({ unit: fc.constantFrom(...'0123456789'), maxLength: 25 }), { nil: undefined }),
      fc.option(fc.integer({ min: -330, max: 330 }), { nil: undefined, freq: 5 }),
    )
    .map(([negative, whole, fraction, exponent]) => {
      const text = (negative ? '-' : '') + whole + (fraction === undefined ? '' : `.${fraction}`);
      return exponent === undefined ? text : `${text}e${exponent}`;
    });
  fc.assert(fc.property(decimal, check), { seed, numRuns: 4000 });
});

test('any short text of the grammar’s characters', () => {
  const text = fc.string({ unit: fc.constantFrom(...'-+.eE0159'), maxLength: 8 });
  fc.assert(fc.property(text, check), { seed, numRuns: 4000 });
});

test('resolutions', () => {
  for (let n = 0; n <= 15; n++) expect(readResolution(String(n))).toBe(n);
  for (const text of ['', '16', '-1', '13.0', '+13', '013', '1e1', ' 1', '1 ', '99', 'a', '1a', '100', '٣']) {
    expect(readResolution(text), text).toBe(-1);
  }
});

// The kernel's numbers, read and printed, against Number and String; `npm run proof -- numbers` runs far more.

const SEED = 20261121;
/** About 40 readings and 50 printings each. */
const ROUNDS = { kernel: 1250, 'kernel.debug': 250 } as const;

test.each(Object.entries(ROUNDS))('%s reads and prints as JavaScript does', (build, rounds) => {
  const checker = new NumberChecker(openKernel(build as keyof typeof ROUNDS));
  for (const text of HARD_TEXTS) checker.read(text);
  const random = randomFrom(SEED);
  for (let round = 0; round < rounds; round++) checkRound(checker, random);
  expect(checker.counts.printed).toBeGreaterThan(rounds * 4);
  const before = checker.counts.printed;
  for (let round = 0; round < rounds; round++) checkUsual(checker, random);
  const { wrong, read, printed } = checker.counts;
  expect(wrong, `seed ${SEED}`).toEqual([]);
  expect(read).toBeGreaterThan(rounds * 40);
  expect(printed).toBe(before + rounds * USUAL_PRINTINGS);
});
