// Every pattern of test/support/speeds.ts names files that exist, no file has two speeds, and `npm test` needs no
// package of test/judges.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
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

/** The modules, types aside, that a file imports at its head, and those that they import. */
function importedBy(file: string, found = new Set<string>()): Set<string> {
  const source = readFileSync(file, 'utf8');
  for (const [, to = ''] of source.matchAll(/^(?:import|export) (?!type )[^;]*?'([^']+)';/gm)) {
    const path = to.startsWith('.') ? join(dirname(file), to).replace(/\.js$/, '.ts') : to;
    if (found.has(path)) continue;
    found.add(path);
    if (to.startsWith('.') && path.endsWith('.ts') && existsSync(path)) importedBy(path, found);
  }
  return found;
}

/** Packages of test/judges, which `npm ci` does not install, among what a file imports. */
function judgesOf(file: string): string[] {
  const { dependencies } = JSON.parse(readFileSync('test/judges/package.json', 'utf8'));
  const judges = Object.keys(dependencies);
  return [...importedBy(file)].filter((to) =>
    judges.some((name) => to === name || to.startsWith(`${name}/`)),
  );
}

test('what `npm test` runs imports no package of test/judges', () => {
  const rest = new Set(REST.flatMap(filesOf));
  const tests = FILES.filter((file) => /^test\/(?!judges|node_modules).*\.test\.ts$/.test(file));
  const wrong = tests.filter((file) => !rest.has(file) && judgesOf(file).length > 0);
  expect(wrong).toEqual([]);
  expect([...rest].filter((file) => judgesOf(file).length > 0).length).toBeGreaterThan(5);
});
