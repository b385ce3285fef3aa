// examples/hexcode_reader.py, a second implementation of reading and checking that people copy, against the recorded
// vectors and against the kernel.
import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { Hexcodes } from '#hexcodes';
import { openKernel, randomFrom } from '../support/open-world.js';
import { mangledTexts } from '../support/typos.js';
import { CODE_ROWS, READING_ROWS } from '../support/vectors.js';

const SEED = 65;
const TEXTS = 30_000;
const hasPython = spawnSync('python3', ['--version']).status === 0;

function readByPython(texts: readonly string[], flags: readonly string[]): string[] {
  const { stdout, stderr } = spawnSync('python3', ['examples/hexcode_reader.py', '--json', ...flags], {
    input: texts.map((text) => `${JSON.stringify(text)}\n`).join(''),
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  expect(stderr).toBe('');
  return stdout.split('\n').slice(0, -1);
}

test.skipIf(!hasPython)('needs python3: texts of the vectors as people type them', () => {
  const answers = readByPython(
    READING_ROWS.map(({ text }) => text),
    [],
  );
  expect(answers).toEqual(READING_ROWS.map(({ code }) => code ?? 'INVALID'));
});

test.skipIf(!hasPython)('needs python3: codes and cells of the vectors', () => {
  const answers = readByPython(
    CODE_ROWS.map(({ code }) => code),
    ['--cells'],
  );
  expect(answers).toEqual(CODE_ROWS.map(({ code, cell }) => `${code},${cell}`));
});

test.skipIf(!hasPython)(
  `needs python3: ${TEXTS} mangled texts as the kernel, with and without the reach`,
  async () => {
    const library = await Hexcodes.load();
    const kernel = openKernel();
    const supply = mangledTexts(kernel, randomFrom(SEED));
    const texts = Array.from({ length: TEXTS }, () => supply.next().value as string);
    const withReach = readByPython(texts, ['--cells', '--reach', 'data/reach.bin']);
    const without = readByPython(texts, []);
    const wrong = texts.filter((text, i) => {
      const read = library.read(text);
      const due = read === null ? 'INVALID' : `${read.hexcodes},${read.cell.toString(16)}`;
      const dueWithout = kernel.readText(text) === 0 ? kernel.textAt(32) : 'INVALID';
      return withReach[i] !== due || without[i] !== dueWithout;
    });
    expect(wrong, `seed ${SEED}`).toEqual([]);
    const accepted = [withReach, without].map((answers) => answers.filter((a) => a !== 'INVALID').length);
    expect(accepted[0]).toBeGreaterThan(100);
    expect(accepted[1]).toBeGreaterThan(TEXTS / 20);
  },
);

test.skipIf(!hasPython)('needs python3: a damaged reach table is refused', () => {
  const script = `import sys; sys.path.insert(0, 'examples'); from hexcode_reader import Reach
table = bytearray(open('data/reach.bin', 'rb').read())
table[40] ^= 1
try: Reach(bytes(table))
except ValueError as fault: print(fault)`;
  expect(spawnSync('python3', ['-c', script], { encoding: 'utf8' }).stdout).toBe(
    'the reach table is damaged\n',
  );
});
