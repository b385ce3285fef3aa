// Comments and identifiers that `npm run check` refuses: each fault is planted once, and plain words pass.
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { ownFolder } from '../../support/shared.js';

const folder = ownFolder('words');

interface Words {
  wordFaults: (path: string, text: string) => string[];
}
const program = resolve('tools/words.mjs');
const { wordFaults } = (await import(pathToFileURL(program).href)) as Words;

const check = (text: string, path = 'src/files/planted.ts'): string[] => wordFaults(path, text);

const LONG = `${'word '.repeat(23)}words`;

test.each([
  ...['Of', 'By', 'For', 'Below', 'Above', 'Once'].map(
    (word) => `/** ${word} all machines. */\nexport const a = 1;`,
  ),
  ...['The same of a key.', 'Those that end.', 'Such a key.', 'They end.', 'It ends.', 'These end.'].map(
    (text) => `/** ${text} */\nexport const a = 1;`,
  ),
  '// Of several, the first.\nexport const a = 1;',
  'export const a = 1; // For tests.',
  '/**\n * By cost.\n */\nexport const a = 1;',
  '/** Fine. What comes next is read. */\nexport const a = 1;',
  '/** The queue is filled anew. */\nexport const a = 1;',
  '/** Memory that lies fallow. */\nexport const a = 1;',
  '/** A reader waits for ever. */\nexport const a = 1;',
  '/** After so many connections it ends. */\nexport const a = 1;',
  '/** A thread without work ends after so long. */\nexport const a = 1;',
  '/** The server reads so long as a peer sends. */\nexport const a = 1;',
  '/** A text that is no number. */\nexport const a = 1;',
  '/** Bytes which are no frame. */\nexport const a = 1;',
  '/** The binary holds the bytes. */\nexport const a = 1;',
  `// ${LONG}\nexport const a = 1;`,
  `/**\n * Fine.\n * ${LONG}\n */\nexport const a = 1;`,
  `export const a = 1; // ${LONG.slice(0, 105)}`,
  'export const place = 1;',
  'export const freeSlots = 1;',
  'export class A {\n  #hasRoom = true;\n}',
])('refuses %s', (text) => {
  const faults = check(`${text}\n`);
  expect(faults).toHaveLength(1);
  expect(faults[0]).toMatch(/^src\/files\/planted\.ts:\d+ /);
});

test.each([
  '/** Price of one core for one hour. */\nexport const price = 1;',
  '// The first line\n// Of a sentence that goes on.\nexport const a = 1;',
  "export const a = '/** Of a string */';",
  'export const a = `// For a template, anew`;',
  '/** A key that is no longer valid. */\nexport const a = 1;',
  'export const replaced = { headroom: 1 };',
])('accepts %s', (text) => {
  expect(check(`${text}\n`)).toEqual([]);
});

test('tests may say place, and the console calls the chosen position so', () => {
  for (const path of ['test/unit/planted.test.ts', 'src/console/place/planted.ts']) {
    expect(check('export const place = 1;\n', path)).toEqual([]);
  }
});

test('the program reads whole folders and exits with 1', () => {
  mkdirSync(join(folder, 'src'));
  const run = () => spawnSync(process.execPath, [program, 'src'], { cwd: folder, encoding: 'utf8' });
  writeFileSync(join(folder, 'src/good.ts'), 'export const a = 1;\n');
  expect(run()).toMatchObject({ stdout: '', status: 0 });
  writeFileSync(join(folder, 'src/planted.ts'), '/** Of all. */\nexport const a = 1;\n');
  expect(run()).toMatchObject({ stdout: expect.stringMatching(/^src\/planted\.ts:1 .*\n$/), status: 1 });
});
