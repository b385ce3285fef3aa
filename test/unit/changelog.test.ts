// CHANGELOG.md: Unreleased, then releases, newest first, the newest of which is this version; in each one order of
// kinds.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { VERSION } from '#dist/hexcodes/version.js';

const KINDS = ['Breaking', 'Added', 'Changed', 'Fixed'];

const sections = readFileSync('CHANGELOG.md', 'utf8')
  .split(/^## /m)
  .slice(1)
  .map((text) => ({
    title: text.slice(0, text.indexOf('\n')),
    kinds: [...text.matchAll(/^#+ (.*)$/gm)].map(([, kind]) => kind as string),
  }));
const releases = sections.slice(1);

test('Unreleased is first, and the newest release is this version', () => {
  expect(sections[0]?.title).toBe('Unreleased');
  expect(releases[0]?.title.split(', ')[0]).toBe(VERSION);
});

test('releases have a date, and are in order', () => {
  for (const { title } of releases) expect(title).toMatch(/^\d+\.\d+\.\d+, \d{4}-\d\d-\d\d$/);
  const days = releases.map(({ title }) => title.split(', ')[1] as string);
  expect(days).toEqual([...days].sort().reverse());
});

test.each(sections)('$title: kinds in one order, each once', ({ kinds }) => {
  expect(kinds).toEqual(KINDS.filter((kind) => kinds.includes(kind)));
});
