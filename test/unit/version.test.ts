// The version in the code is the version of the package.

import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { VERSION } from '#dist/hexcodes/version.js';

test('VERSION is package.json’s', () => {
  expect(VERSION).toBe(JSON.parse(readFileSync('package.json', 'utf8')).version);
});
