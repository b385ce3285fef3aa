// Codes over the telephone: every letter has a word of its own that begins with it, in both languages.
import { expect, test } from 'vitest';
import { consoleModule } from '../../../support/console-module.js';

interface Symbol {
  readonly symbol: string;
  readonly word: string;
}
const { spelt, spelling } = await consoleModule<{
  spelt(code: string, language: string): Symbol[][];
  spelling(code: string, language: string): string;
}>('words/spelling.ts');

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';

test.each(['vi', 'en'])('%s: letters and digits', (language) => {
  const [letters = [], digits = []] = spelt(`${LETTERS}-0123456789`, language);
  for (const { symbol, word } of letters) expect(word.startsWith(symbol), `${symbol} ${word}`).toBe(true);
  expect(new Set(letters.map(({ word }) => word)).size).toBe(26);
  expect(new Set(digits.map(({ word }) => word)).size).toBe(10);
  expect(digits.every(({ word }) => /^\p{L}+$/u.test(word))).toBe(true);
});

test('a code as one text', () => {
  expect(spelling('HN-6GHP4', 'vi')).toBe(
    'H như Huế, N như Ninh Bình; sáu, G như Gia Lai, H như Huế, P như Phú Quốc, bốn',
  );
  expect(spelling('HUE-6H', 'en')).toBe('H as in Hotel, U as in Uniform, E as in Echo; six, H as in Hotel');
});
