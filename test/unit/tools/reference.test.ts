// The pages of docs/reference/ and the table of bench/README.md are those that code and results give today, and the
// page of settings has each flag.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { BUS_NAMES, flagsOf, SETTING_NAMES } from '#dist/config/config.js';

const program = pathToFileURL(resolve('tools/reference.mjs')).href;
const { referencePages } = (await import(program)) as {
  referencePages: () => Promise<Record<string, string>>;
};
const pages = await referencePages();

test('the committed pages are the printed ones', () => {
  expect(Object.keys(pages).sort()).toEqual([
    'bench/README.md',
    ...['command', 'http', 'settings'].map((name) => `docs/reference/${name}.md`),
  ]);
  for (const [path, text] of Object.entries(pages)) expect(readFileSync(path, 'utf8')).toBe(text);
});

test('every flag of a setting is on its page', () => {
  const page = pages['docs/reference/settings.md'];
  const flags = [...flagsOf(SETTING_NAMES), ...flagsOf(BUS_NAMES)].map(({ flags }) => flags.split(' ')[0]!);
  expect(flags.length).toBeGreaterThan(40);
  expect(flags.filter((flag) => !page?.includes(`\`${flag}`))).toEqual([]);
});
