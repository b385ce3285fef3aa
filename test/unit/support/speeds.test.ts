// Every pattern of test/support/speeds.ts names files that exist, and no file has two speeds.
import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { LONG_UNITS, REST, ROADS } from '../../support/speeds.js';

const FILES = readdirSync('test', { recursive: true, encoding: 'utf8' }).map((name) => `test/${name}`);

/** The test files that a pattern names: `**` for folders, `*` within a name, `{a,b}`. */
function filesOf(pattern: string): string[] {
  const source = pattern
    .replaceAll('.', '\\.')
    .replaceAll('**/', '(.*\u0000/)?')
    .replaceAll('*/', '[^/]*/')
    .replaceAll(/(?<!\.)\*/g, '[^/]*')
    .replaceAll('\u0000', '')
    .replaceAll(/\{([^}]*)\}/g, (_, names: string) => `(${names.replaceAll(',', '|')})`);
  const whole = new RegExp(`^${source}$`);
  return FILES.filter((file) => whole.test(file));
}

test.each([...LONG_UNITS, ...ROADS, ...REST])('%s names test files', (pattern) => {
  expect(filesOf(pattern).filter((file) => file.endsWith('.test.ts'))).not.toEqual([]);
});

test('no test file has two speeds', () => {
  const all = [LONG_UNITS, ROADS, REST].map((patterns) => new Set(patterns.flatMap(filesOf)));
  for (const [at, files] of all.entries())
    for (const other of all.slice(at + 1)) expect([...files].filter((file) => other.has(file))).toEqual([]);
});
