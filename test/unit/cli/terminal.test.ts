// The command as people see it: texts of others, the greeting, quantities, and the file of results.

import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  numberFrom,
  readDuration,
  readGrowth,
  readNightly,
  readShare,
  wholeFrom,
} from '#dist/cli/capacity/plan-flags.js';
import { ResultsOutput } from '#dist/cli/capacity/results-output.js';
import { planJson } from '#dist/cli/commands/plan.js';
import { greetingLines } from '#dist/cli/serve/greeting.js';
import { visible, visibleMessage } from '#dist/files/terminal/say.js';
import { ownFolder } from '../../support/own-folder.js';

// Texts of others on a terminal: nothing but plain text is left.
describe('texts of others', () => {
  test('control characters, separators and marks of direction become escapes', () => {
    const codes = [0, 7, 8, 9, 10, 13, 0x1b, 0x7f, 0x80, 0x9b, 0x9f, 0x061c, 0x200e, 0x200f];
    codes.push(0x2028, 0x2029, 0x202a, 0x202e, 0x2066, 0x2069);
    for (const code of codes) {
      expect(visible(`a${String.fromCharCode(code)}b`)).toBe(`a\\u${code.toString(16).padStart(4, '0')}b`);
    }
    expect(visible('Hà Nội – 河内 😀 \\u001b')).toBe('Hà Nội – 河内 😀 \\u001b');
  });

  test('a message keeps its lines, and masks keys', () => {
    expect(visibleMessage('a\n\tb\u001b[2J hxk_0123456789abcdef')).toBe('a\n\tb\\u001b[2J hxk_…');
  });
});

// The greeting of `hexcodes serve`: more for a person at a terminal.
describe('the greeting', () => {
  const folder = ownFolder('greeting');
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
});

// Values of the flags of plan and bench: what is read, and that nothing beyond a bound is.
describe('quantities', () => {
  const LONG = '9'.repeat(400);

  test.each([
    ['50000', 50_000],
    ['50k', 50_000],
    ['1.005k', 1005],
    ['2e9', 2e9],
    ['2e3 k', 2e6],
    ['1,234,567', 1_234_567],
    ['16G', 16e9],
  ])('the whole number %j', (text, value) => {
    expect(wholeFrom(1, 1e12)(text)).toBe(value);
  });

  test.each([
    '0',
    '-1',
    '0.4',
    '1.5',
    '50.000',
    '1,23',
    '1,2345',
    '1e13',
    '1e400',
    LONG,
    'NaN',
    'Infinity',
    '',
    'k',
    '5 %',
  ])('%j is not a whole number from 1 to 1e12', (text) => {
    expect(() => wholeFrom(1, 1e12)(text)).toThrow('Write a whole number from 1 to 1,000,000,000,000');
  });

  test('0 is one where it may be', () => {
    expect(wholeFrom(0, 9)('0')).toBe(0);
  });

  test('numbers within bounds', () => {
    expect(numberFrom(1, 10)('2.5')).toBe(2.5);
    for (const text of ['0.1', '11', 'x']) expect(() => numberFrom(1, 10)(text)).toThrow('from 1 to 10');
  });

  test('durations are above 0 and not without end', () => {
    expect(readDuration('1.5min')).toBe(90_000);
    for (const text of ['0s', '5', '101y', `${LONG}s`])
      expect(() => readDuration(text)).toThrow('Write a time');
  });

  test('shares are at most a whole, growth may be more', () => {
    expect(readShare('40%')).toBe(0.4);
    expect(() => readShare('150%')).toThrow('Write a share');
    expect(readGrowth('30%/y:2y').factor).toBeCloseTo(1.69);
    expect(readGrowth('150%/y:1y')).toEqual({ factor: 2.5, ms: 365 * 86_400_000 });
    expect(() => readGrowth('100%/y:10y')).toThrow('No more than 1,000 times');
    expect(() => readGrowth(`${LONG}/y:1y`)).toThrow('No more than 1,000 times');
  });

  test('a nightly load comes within a day', () => {
    expect(readNightly('2e9:6h')).toEqual({ points: 2e9, windowMs: 21_600_000 });
    expect(() => readNightly('2e9:25h')).toThrow('a day at most');
    expect(() => readNightly('0:6h')).toThrow('whole number');
  });
});

// Plans as JSON.
describe('plans as JSON', () => {
  test('a figure without bound is a text, and null stays what was not measured', () => {
    const plan = { p99Us: { low: 1.5, high: Number.POSITIVE_INFINITY }, memory: null };
    expect(planJson(plan)).toBe('{"p99Us":{"low":1.5,"high":"Infinity"},"memory":null}\n');
  });
});

// The file of `hexcodes bench --json`: an older one keeps its content until the new one is whole, and a faulty path
// is found out early.
describe('the file of results', () => {
  const folder = ownFolder('results');

  test('before the write nothing is changed or left behind, after it the new text is whole', async () => {
    const path = join(folder, 'old.json.gz');
    writeFileSync(path, 'old', { mode: 0o640 });
    const output = new ResultsOutput(path);
    expect(output.isStandardOutput).toBe(false);
    expect(readdirSync(folder)).toEqual(['old.json.gz']);
    expect(readFileSync(path, 'utf8')).toBe('old');
    await output.write('new');
    expect(readFileSync(path, 'utf8')).toBe('new');
    expect(readdirSync(folder)).toEqual(['old.json.gz']);
  });

  test('a write that fails late leaves nothing behind', async () => {
    const inner = join(folder, 'inner');
    mkdirSync(inner);
    const output = new ResultsOutput(join(inner, 'x.json'));
    rmSync(inner, { recursive: true });
    await expect(output.write('new')).rejects.toMatchObject({ name: 'CliFailure', exitCode: 4 });
  });

  test.each(['none/x.json', '', '.'])('%j cannot be written', (path) => {
    expect(() => new ResultsOutput(path === '' ? '' : join(folder, path))).toThrow(
      expect.objectContaining({ name: 'CliFailure', exitCode: 4 }),
    );
  });

  test('- is standard output', () => {
    expect(new ResultsOutput('-').isStandardOutput).toBe(true);
  });
});
