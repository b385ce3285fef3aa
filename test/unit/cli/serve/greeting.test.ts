// The greeting of `hexcodes serve`: more for a person at a terminal.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { greetingLines } from '#dist/cli/serve/greeting.js';

const folder = mkdtempSync(join(tmpdir(), 'hexcodes-greeting-'));
afterAll(() => rmSync(folder, { recursive: true }));
const firstKeyFile = join(folder, 'first-key');
writeFileSync(firstKeyFile, 'hx_secret\n');
const greeting = { host: '0.0.0.0', port: 8080, firstKeyFile, transport: { name: 't', version: '1' } };

test('a person gets the page, the documents, a first call and the key', () => {
  const text = greetingLines(greeting, true).join('\n');
  for (const part of ['http://127.0.0.1:8080/\n', 'http://127.0.0.1:8080/docs', firstKeyFile, 'hx_secret'])
    expect(text).toContain(part);
});

test('a log gets no key', () => {
  const text = greetingLines(greeting, false).join('\n');
  expect(text).toContain('answers on http://127.0.0.1:8080');
  expect(text).not.toContain('hx_secret');
});
