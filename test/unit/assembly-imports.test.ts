// Who may import whom, held over the import lines of assembly/. Circles are looked for by imports.test.ts.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = 'assembly';

/** Each room or file, and what it may import besides itself. */
const MAY_IMPORT: Record<string, readonly string[]> = {
  memory: [],
  'output-layout': ['memory'],
  scratch: ['memory'],
  h3: [],
  hexcode: ['memory', 'h3'],
  face5: ['memory', 'scratch', 'h3', 'hexcode'],
  region: ['memory', 'scratch', 'h3/trig', 'hexcode/admin'],
  'text/chars': [],
  'text/row': ['memory'],
  'text/numbers': ['text/chars'],
  'text/scan': ['memory', 'text/chars', 'text/row', 'text/numbers'],
  'text/write': ['memory', 'output-layout', 'hexcode', 'region', 'text/chars', 'text/row', 'text/numbers'],
  'find-center': ['h3', 'face5'],
  locate: ['memory', 'scratch', 'hexcode/admin', 'region'],
  encode: ['memory', 'output-layout', 'scratch', 'h3', 'face5', 'hexcode', 'region'],
  decode: ['memory', 'output-layout', 'scratch', 'h3', 'face5', 'hexcode', 'find-center'],
  index: ['memory', 'h3', 'hexcode', 'region', 'text', 'locate', 'encode', 'decode'],
};

const files = readdirSync(ROOT, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => name.slice(0, -3));

const isIn = (name: string, room: string): boolean => name === room || name.startsWith(`${room}/`);

/** [file, what it imports] of every line. */
const imports = files.flatMap((file) =>
  [
    ...readFileSync(join(ROOT, `${file}.ts`), 'utf8').matchAll(/^(?:import|export|\}).*? from "([^"]+)";$/gm),
  ].map((match) => [file, relative(ROOT, normalize(join(ROOT, dirname(file), match[1]!)))] as const),
);

test('every import names a file', () => {
  expect(imports.length).toBeGreaterThan(100);
  expect(imports.filter(([, to]) => !files.includes(to))).toEqual([]);
});

test('rooms import only the rooms below them', () => {
  const roomOf = (file: string): string => Object.keys(MAY_IMPORT).find((room) => isIn(file, room)) ?? '';
  const wrong = imports.filter(
    ([from, to]) =>
      !isIn(to, roomOf(from)) && !MAY_IMPORT[roomOf(from)]?.some((allowed) => isIn(to, allowed)),
  );
  expect(wrong.map(([from, to]) => `${from} imports ${to}`)).toEqual([]);
});
