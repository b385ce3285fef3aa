// Each figure of README.md that can be measured has its row in `npm run claims`, word for word.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { CLAIMS } from '../../bench/claims/list.js';

/** A number with a unit of speed, time, size or share. */
const FIGURE =
  /\d[\d.,]*(?: to \d[\d.,]*)?(?: of 100\b| ?(?:million|µs|ns|ms|s|seconds|minutes|%|×|m²|[KMG]i?B|times)(?![\w/]))/g;

const README = readFileSync('README.md', 'utf8')
  .replaceAll(/```[\s\S]*?```/g, '')
  .replaceAll('\n', ' ');

/** Figures in a text, without those that stand in the words of a claim. */
const unclaimed = (text: string): string[] => {
  const rest = CLAIMS.reduce((left, { text: words }) => left.replaceAll(words, ' '), text);
  return rest.match(FIGURE) ?? [];
};

test('README.md has no figure without a row of `npm run claims`', () => {
  expect(unclaimed(README)).toEqual([]);
});

test('each row is in README.md', () => {
  expect(CLAIMS.filter(({ text }) => !README.includes(text)).map(({ text }) => text)).toEqual([]);
});

test.each([
  '40 million points',
  'in 3.5 µs',
  '7 % of points',
  '2 to 9 times',
  '3.5 MB',
  '0.4 s of CPU',
  '97 of 100',
])('a new figure is noticed: %s', (text) => {
  expect(unclaimed(`${README} ${text}`)).toHaveLength(1);
});
