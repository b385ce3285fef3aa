// docs/reference/settings.md is the page that its program prints, and has each variable of the settings.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { BUS_NAMES, flagsOf, SETTING_NAMES } from '#dist/config/config.js';

const page = readFileSync('docs/reference/settings.md', 'utf8');

test('the committed page is the printed one', () => {
  expect(page).toBe(execFileSync(process.execPath, ['tools/settings-page.mjs'], { encoding: 'utf8' }));
});

test('every flag is on it', () => {
  const flags = [...flagsOf(SETTING_NAMES), ...flagsOf(BUS_NAMES)].map(({ flags }) => flags.split(' ')[0]!);
  expect(flags.length).toBeGreaterThan(40);
  expect(flags.filter((flag) => !page.includes(`\`${flag}`))).toEqual([]);
});
