// test/trials.md answers for every mark, and SECURITY.md for those of which something is left.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

/** Rows of the first table below a heading: mark and last column. */
function rowsBelow(page: string, heading: string): [mark: string, state: string][] {
  const section = readFileSync(page, 'utf8').split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
  return [...section.matchAll(/^\| ([A-Z]+\d+) \|.*\| (.*) \|$/gm)].map((row) => [
    row[1] ?? '',
    row[2] ?? '',
  ]);
}

const numbered = (letter: string, count: number) =>
  Array.from({ length: count }, (_, i) => `${letter}${i + 1}`);

const attacked = rowsBelow('test/trials.md', 'Attacked');
const checked = rowsBelow('test/trials.md', 'Checked');

test('every mark has its row', () => {
  const marks = [...numbered('C', 4), ...numbered('H', 7), ...numbered('M', 13), ...numbered('L', 11)];
  expect(attacked.map(([mark]) => mark)).toEqual(marks);
  expect(checked.map(([mark]) => mark)).toEqual(numbered('C', 8));
});

test('what is mended by code names its test; the rest is left, with a reason', () => {
  for (const [mark, state] of attacked) {
    const isMended = state.startsWith('mended') && /`test\/[\w/-]+`/.test(state);
    expect([mark, isMended || /^left: ./.test(state)]).toEqual([mark, true]);
  }
});

test('what is left stands in SECURITY.md', () => {
  const left = attacked.filter(([, state]) => /\b[Ll]eft\b/.test(state)).map(([mark]) => mark);
  expect(rowsBelow('SECURITY.md', 'What is left').map(([mark]) => mark)).toEqual(left);
});
