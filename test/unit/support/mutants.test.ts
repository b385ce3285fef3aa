// The list of faults for the proof `mutants`: each text is in its file exactly once and changes it, and its tests are
// there.
import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { mutated, readMutants } from '../../support/mutants.js';

const ROOMS = [
  'server',
  'server/keys',
  'pool',
  'cli',
  'files',
  ...['wire', 'client', 'kernel', 'library', 'geometry'].map((room) => `hexcodes/${room}`),
];

test.each(readMutants())('$file: $text', (mutant) => {
  const source = readFileSync(mutant.file, 'utf8');
  expect(mutated(source, mutant)).not.toBe(source);
  expect(mutant.tests.filter((path) => !existsSync(path))).toEqual([]);
});

test('there are sixty faults and more, no two alike, and every room has some', () => {
  const mutants = readMutants();
  expect(mutants.length).toBeGreaterThanOrEqual(60);
  const names = mutants.map(({ file, text, replacement }) => `${file} ${text} ${replacement}`);
  expect(new Set(names).size).toBe(names.length);
  for (const room of [...ROOMS.map((name) => `src/${name}/`), 'assembly/', 'data/map/'])
    expect([room, mutants.some(({ file }) => file.startsWith(room))]).toEqual([room, true]);
});

test('a list that is not as its head says is refused', () => {
  expect(() => readMutants('src/a.ts\n- a\n+ b\n')).toThrow('not a file, -, + and =');
  const mutant = { file: 'src/a.ts', text: 'a', replacement: 'b', tests: [] };
  expect(mutated('xay', mutant)).toBe('xby');
  expect(() => mutated('aa', mutant)).toThrow('not there once');
  expect(() => mutated('xy', mutant)).toThrow('not there once');
});
