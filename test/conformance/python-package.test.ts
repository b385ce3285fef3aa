// The Python package hexcodes, installed from its wheel (.ci/python), against the library: random positions,
// positions beside borders, mangled texts, suggestions; and its own tests, its types, and what its archives hold.
// Then the reader that people copy.

import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ADMIN_UNITS, Hexcodes } from '#hexcodes';
import { boundary, children, neighbors, parent, suggest } from '#hexcodes/geometry';
import { openKernel, randomFrom } from '../support/open-world.js';
import { noPackage, PYTHON, packageNote, runPython } from '../support/python-env.js';
import { placesAlong } from '../support/region/map-checks.js';
import { ownFolder } from '../support/shared.js';
import { shippedKernel } from '../support/shipped.js';
import { mangledTexts } from '../support/typos.js';
import { CODE_ROWS, READING_ROWS } from '../support/vectors.js';

const SEED = 38;
const RANDOM_POINTS = 200_000;
const BORDER_EVERY_M = 5000;
const TEXTS = 20_000;
const RESOLUTIONS = [5, 13, 15];
const PYRIGHT = ['test/judges/node_modules/pyright/index.js', '--pythonpath', PYTHON];

const folder = ownFolder('package');
const write = (name: string, content: string | ArrayBufferView): void =>
  writeFileSync(
    join(folder, name),
    typeof content === 'string'
      ? content
      : Buffer.from(content.buffer, content.byteOffset, content.byteLength),
  );

/** Random positions in and around Viet Nam, none, and positions beside each line of the map. */
function somePoints(): Float64Array {
  const random = randomFrom(SEED);
  const beside = placesAlong(shippedKernel().arcs, BORDER_EVERY_M);
  const points = new Float64Array(2 * RANDOM_POINTS + beside.length);
  for (let i = 0; i < 2 * RANDOM_POINTS; i += 2) {
    points[i] = random() < 0.001 ? Number.NaN : 7 + 17.5 * random();
    points[i + 1] = 102 + 15 * random();
  }
  points.set(beside, 2 * RANDOM_POINTS);
  return points;
}

/** The cells that the records of encodeBatch name. */
function cellsOf(library: Hexcodes, points: Float64Array, resolution: number): BigUint64Array {
  const { exports, input, outputCells, capacity } = library.kernel;
  const cells = new BigUint64Array(points.length / 2);
  for (let from = 0; from < cells.length; from += capacity) {
    const block = Math.min(capacity, cells.length - from);
    input.set(points.subarray(2 * from, 2 * (from + block)));
    exports.encodeCells(block, resolution);
    cells.set(outputCells.subarray(0, block), from);
  }
  return cells;
}

describe.skipIf(noPackage !== undefined)(`the Python package${packageNote}`, () => {
  test(`equals the library: ${RANDOM_POINTS} random positions, those beside lines, ${TEXTS} mangled texts`, async () => {
    const library = new Hexcodes(shippedKernel());
    const points = somePoints();
    expect(points.length / 2).toBeGreaterThan(RANDOM_POINTS + 20_000);
    write('points', points);
    for (const resolution of RESOLUTIONS) {
      const records = library.encodeBatch(points, resolution);
      const { latLng, resolution: resolutions } = library.decodeBatch(records);
      write(`records-${resolution}`, records);
      write(
        `lat-${resolution}`,
        latLng.filter((_, i) => i % 2 === 0),
      );
      write(
        `lng-${resolution}`,
        latLng.filter((_, i) => i % 2 === 1),
      );
      write(`resolution-${resolution}`, resolutions);
      write(`cells-${resolution}`, cellsOf(library, points, resolution));
    }
    const pairs = Array.from({ length: points.length / 2 }, (_, i) => [points[2 * i]!, points[2 * i + 1]!]);
    write('provinces', pairs.map(([lat, lng]) => library.adminCodeOf(lat!, lng!) ?? '').join('\n'));
    const some = pairs.slice(0, 100_000);
    write('former', some.map(([lat, lng]) => library.formerProvinceOf(lat!, lng!) ?? '').join('\n'));

    write('metres', library.borderBatch(points));
    const borders = pairs
      .filter(([lat]) => !Number.isNaN(lat!))
      .slice(-2000)
      .map(([lat, lng]) => {
        const border = library.borderOf(lat!, lng!);
        return [lat, lng, border && [border.border_m, border.certainty, border.neighbour_code]];
      });
    write('borders', JSON.stringify(borders));
    const families = pairs.slice(-2000).flatMap(([lat, lng], n) => {
      const resolution = n % 16;
      const status = library.adminCodeOf(lat!, lng!);
      if (status === null) return [];
      const text = library.encode(lat!, lng!, resolution).hexcodes;
      const above = resolution === 0 ? null : parent(library, text);
      const below = resolution === 15 ? [] : children(library, text);
      return [[text, resolution, [above, below, neighbors(library, text).sort(), boundary(library, text)]]];
    });
    expect(families.length).toBeGreaterThan(500);
    write('families', JSON.stringify(families));

    const supply = mangledTexts(openKernel(), randomFrom(SEED));
    const texts = Array.from({ length: TEXTS }, () => supply.next().value as string);
    const read = texts.map((text) => {
      const code = library.read(text);
      return [
        text,
        code && [code.hexcodes, String(code.cell), code.lat, code.lng, code.resolution, code.admin_code],
      ];
    });
    expect(read.filter(([, code]) => code !== null).length).toBeGreaterThan(100);
    write('texts', JSON.stringify(read));
    const near = [21.03, 105.85] as const;
    const asked = [
      ...[
        'HN-6GHP4-B3RFR',
        'hn6ghp4 83rfr',
        'HN/6GHP4-83RRF',
        'HN-6GHP4-83RF',
        'nope',
        'HN-6GHP4-83RFRR',
        '',
        '6GHP4-83RFR',
        '\u00a06ghp4 83rfr\ufeff',
        '6GHP4-83J',
        '83RFR',
        ...['', '83rfr ', '', '83RFS', '', '8-3rf r', '', '83RFQ'],
      ],
      ...texts.slice(0, 40),
    ];
    const suggested = asked.flatMap((text, n) => {
      const options = n % 2 === 0 ? { near } : {};
      const found = suggest(library, text, options).map(({ hexcodes, slip }) => [hexcodes, slip]);
      return [[text, n % 2 === 0 ? near : null, found]];
    });
    write('suggestions', JSON.stringify(suggested));

    const { code, stdout, stderr } = await runPython([
      'test/support/check_package.py',
      folder,
      JSON.stringify(RESOLUTIONS),
    ]);
    expect([code, stderr]).toEqual([0, '']);
    expect(JSON.parse(stdout)).toEqual({
      points: points.length / 2,
      texts: TEXTS,
      provinces: ADMIN_UNITS.map((unit) => [unit.code, unit.name]),
      faults: [],
    });
  });

  test('passes its own tests', async () => {
    const { code, stderr } = await runPython(['-m', 'unittest', 'discover', '-s', 'clients/python/tests']);
    expect(stderr).toMatch(/^Ran \d\d tests/m);
    expect([code, stderr]).toEqual([0, expect.stringMatching(/\nOK\n$/)]);
  });

  describe('has types for its users', () => {
    const right = [
      'from typing import List, Optional, Tuple',
      'import numpy as np',
      'import numpy.typing as npt',
      'import hexcodes',
      'code: str = hexcodes.encode(21.0288, 105.8525)',
      'codes: List[Optional[str]] = hexcodes.encode([21.0288], [105.8525], 9)',
      'lats: npt.NDArray[np.float64] = np.array([21.0288])',
      'column: npt.NDArray[np.str_] = hexcodes.encode(lats, lats)',
      'found: Optional[hexcodes.Decoded] = hexcodes.decode(code)',
      'lat: float = found.lat if found is not None else 0.0',
      'every: List[Optional[hexcodes.Decoded]] = hexcodes.decode(codes)',
      'cells: npt.NDArray[np.uint64] = hexcodes.cells(lats, lats)',
      'province: Optional[str] = hexcodes.provinces(21.0288, 105.8525)',
      'border: Optional[hexcodes.Border] = hexcodes.borders(21.0288, 105.8525)',
      'near: List[str] = hexcodes.neighbors(code) + hexcodes.children(code) + [hexcodes.parent(code)]',
      'corners: List[Tuple[float, float]] = hexcodes.boundary(code)',
      'slip: str = hexcodes.suggest(code)[0].slip',
    ];
    const wrong = [
      'wrong: int = hexcodes.encode(21.0288, 105.8525)',
      'hexcodes.decode("HN").lat',
      'border.certainty',
    ];
    test('mypy --strict', async () => {
      write('use.py', [...right, ...wrong, ''].join('\n'));
      const options = ['-m', 'mypy', '--strict', '--cache-dir', '/dev/null'];
      const { stdout } = await runPython([...options, join(folder, 'use.py')]);
      const lines = [...stdout.matchAll(/use\.py:(\d+): error/g)].map(([, line]) => Number(line));
      expect([...new Set(lines)], stdout).toEqual(wrong.map((_, n) => right.length + 1 + n));
    });

    test('pyright and mypy, strict, find nothing in the sources', async () => {
      const config = ['--config-file', 'clients/python/pyproject.toml', '--cache-dir', '/dev/null'];
      const sources = ['clients/python/src/hexcodes', 'clients/python/hexcodes_client.py'];
      const mypy = await runPython(['-m', 'mypy', ...config, ...sources]);
      expect(mypy.stdout).toContain('Success: no issues found in 10 source files');
      const { stdout } = spawnSync(process.execPath, [...PYRIGHT, '-p', 'clients/python'], {
        encoding: 'utf8',
      });
      expect(stdout).toContain('0 errors, 0 warnings');
    });

    test('pyright, strict, takes right uses and no wrong one', () => {
      write('use.py', [...right, ...wrong, ''].join('\n'));
      write('pyrightconfig.json', '{"typeCheckingMode":"strict"}');
      const { stdout } = spawnSync(process.execPath, [...PYRIGHT, '-p', folder], { encoding: 'utf8' });
      const lines = [...stdout.matchAll(/use\.py:(\d+):\d+ - error/g)].map(([, line]) => Number(line));
      expect([...new Set(lines)], stdout).toEqual(wrong.map((_, n) => right.length + 1 + n));
    });
  });

  test('wheel and sdist hold the kernel, its data and the licences of both', () => {
    const files = readdirSync('build/python');
    expect(files.sort()).toEqual([
      expect.stringMatching(/^hexcodes-[\d.]+-py3-none-any\.whl$/),
      expect.stringMatching(/^hexcodes-[\d.]+\.tar\.gz$/),
    ]);
    for (const [file, module] of [
      [files[0]!, 'zipfile'],
      [files[1]!, 'tarfile'],
    ] as const) {
      const into = mkdtempSync(join(folder, 'unpacked-'));
      execFileSync(PYTHON, ['-m', module, '-e', join('build/python', file), into]);
      const held = execFileSync('find', ['.', '-type', 'f'], { cwd: into, encoding: 'utf8' }).split('\n');
      const one = (end: string): Buffer => {
        const path = held.find((name) => name.endsWith(end));
        expect(path, end).toBeDefined();
        return readFileSync(join(into, path!));
      };
      expect(one('hexcodes/data/kernel.wasm').equals(readFileSync('dist/kernel.wasm'))).toBe(true);
      expect(one('hexcodes/data/index.bin').equals(readFileSync('data/index.bin'))).toBe(true);
      expect(one('hexcodes/data/reach.bin').equals(readFileSync('data/reach.bin'))).toBe(true);
      expect(one('hexcodes/data/LICENSE').toString()).toContain('ODC Open Database License');
      expect(one('/NOTICE').toString()).toContain('Contains information from OpenStreetMap');
      expect(held.some((name) => /hexcodes-[^/]+\/(licenses\/)?LICENSE$/.test(name))).toBe(true);
      expect(one('hexcodes/client.py').equals(readFileSync('clients/python/hexcodes_client.py'))).toBe(true);
      expect(one('hexcodes/py.typed').length).toBe(0);
    }
  });
});

// examples/hexcode_reader.py, a second implementation of reading and checking that people copy, against the recorded
// vectors and against the kernel.

describe('the reader', () => {
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
});
