// clients/go and clients/java: the files that are embedded are those of the build; their tests pass, which drive the
// vectors of doors.json and compare 200,000 random positions with the library.

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { ADMIN_UNITS, Hexcodes } from '#hexcodes';
import { suggest } from '#hexcodes/geometry';
import { JAR, JVM_EXAMPLES, noJar } from '../support/java.js';
import { OPEN_INDEX, randomFrom } from '../support/open-world.js';
import { ownFolder } from '../support/shared.js';
import { shippedKernel } from '../support/shipped.js';

// Answers of the library in files, with which hosts of the kernel in other languages are compared.

/** Provinces, certainty and suggestions as the library has them. */
function answersOfTheLibrary(library: Hexcodes, random: () => number): string {
  const provinces = Array.from({ length: 3000 }, () => {
    const [lat, lng] = [7 + 17.5 * random(), 102 + 15 * random()];
    const border = library.borderOf(lat, lng);
    return {
      ...{ lat, lng, province: library.adminCodeOf(lat, lng), former: library.formerProvinceOf(lat, lng) },
      ...{ borderM: border?.border_m, certainty: border?.certainty, neighbour: border?.neighbour_code },
    };
  });
  const letters = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ -/.đÂ\u00a0\ufeff😀';
  const letter = (): string => [...letters][Math.floor(random() * [...letters].length)]!;
  const suggestions = Array.from({ length: 300 }, (_, n) => {
    const { lat, lng } = provinces[n * 7]!;
    const meant = [21 + random(), 105 + random()] as const;
    const code = library.encodeBatch(Float64Array.of(...meant), 5 + (n % 10));
    const text = Buffer.from(code.subarray(0, 19)).toString('latin1').replace(/\0.*$/s, '');
    const at = Math.floor(random() * (text.length + 1));
    const cut = Math.floor(random() * 2);
    const typed =
      n % 9 === 0 ? text.replace(/^[A-Z]+-?/, '') : text.slice(0, at) + letter() + text.slice(at + cut);
    // Ends of codes, too, some of them mistyped.
    const isEnd = n % 9 === 4;
    const given = isEnd ? typed.split('-').slice(2).join('-').toLowerCase() : typed;
    const close: [number, number] = [meant[0] + 0.02 * random(), meant[1] + 0.02 * random()];
    const near = isEnd ? close : n % 2 === 0 ? ([lat, lng] as [number, number]) : undefined;
    const limit = 1 + (n % 40);
    const found = suggest(library, given, near === undefined ? { limit } : { near, limit });
    return { text: given, near, limit, found };
  });
  return JSON.stringify({ provinces, suggestions, adminUnits: ADMIN_UNITS });
}

/** Writes points (f64 pairs), records of resolution 13, answers.json and an index of other units into a new folder. */
function writeLibraryAnswers(count: number): string {
  const folder = mkdtempSync(join(tmpdir(), 'hexcodes-answers-'));
  const random = randomFrom(38);
  const points = Float64Array.from({ length: 2 * count }, (_, i) =>
    i % 2 === 0 ? 7 + 17.5 * random() : 102 + 15 * random(),
  );
  writeFileSync(join(folder, 'points'), points);
  const library = new Hexcodes(shippedKernel());
  writeFileSync(join(folder, 'records'), library.encodeBatch(points, 13));
  writeFileSync(join(folder, 'answers.json'), answersOfTheLibrary(library, random));
  writeFileSync(join(folder, 'other-index'), OPEN_INDEX);
  return folder;
}

const POINTS = 200_000;
const hasGo = spawnSync('go', ['version']).status === 0;
const hasRaceDetector = hasGo && spawnSync('gcc', ['--version']).status === 0;

test('the embedded files are those of the build: node tools/packages/go-data.mjs copies them', () => {
  const sums = readFileSync('clients/go/data/SHA256SUMS', 'utf8');
  for (const [name, source] of [
    ['kernel.wasm', 'dist/kernel.wasm'],
    ['index.bin', 'data/index.bin'],
    ['reach.bin', 'data/reach.bin'],
  ] as const) {
    const copy = readFileSync(`clients/go/data/${name}`);
    expect(copy.equals(readFileSync(source)), name).toBe(true);
    expect(sums).toContain(`${createHash('sha256').update(copy).digest('hex')}  ${name}\n`);
  }
});

test('its tests use the vectors of the other packages', () => {
  const copy = readFileSync('clients/go/testdata/doors.json', 'utf8');
  expect(copy).toBe(readFileSync('test/vectors/doors.json', 'utf8'));
});

test('the folder that users copy has the licences of code and data', () => {
  for (const name of ['LICENSE', 'NOTICE', 'data/LICENSE'])
    expect(readFileSync(`clients/go/${name}`).equals(readFileSync(name)), name).toBe(true);
});

test.skipIf(!hasGo)('needs go: its tests are green in a copy of the folder', () => {
  const folder = mkdtempSync(join(tmpdir(), 'hexcodes-go-copy-'));
  cpSync('clients/go', folder, { recursive: true });
  const { status, stdout, stderr } = spawnSync('go', ['test', '-count=1', './...'], {
    cwd: folder,
    encoding: 'utf8',
    env: { ...process.env, HEXCODES_ANSWERS: '' },
  });
  rmSync(folder, { recursive: true });
  expect([status, `${stdout}${stderr}`]).toEqual([0, expect.stringContaining('ok')]);
});

test.skipIf(!hasRaceDetector)(
  'needs go and gcc: one value and 32 goroutines under the race detector',

  () => {
    const { status, stdout, stderr } = spawnSync(
      'go',
      ['test', '-race', '-count=1', '-run', 'Goroutines|Close', './...'],
      { cwd: 'clients/go', encoding: 'utf8', env: { ...process.env, CGO_ENABLED: '1' } },
    );
    expect([status, `${stdout}${stderr}`]).toEqual([0, expect.stringContaining('ok')]);
  },
);

test.skipIf(!hasGo)(`needs go: its tests, and ${POINTS} random positions`, () => {
  const folder = writeLibraryAnswers(POINTS);
  const { status, stdout, stderr } = spawnSync('go', ['test', '-count=1', '-v', './...'], {
    cwd: 'clients/go',
    encoding: 'utf8',
    env: { ...process.env, HEXCODES_ANSWERS: folder },
  });
  rmSync(folder, { recursive: true });
  expect([status, `${stdout}${stderr}`]).toEqual([0, expect.stringContaining(`${POINTS} points`)]);
  expect(stdout).toContain('3000 provinces, 300 texts');
  expect(stdout).not.toContain('SKIP');
});

// clients/java: its tests pass, which drive the vectors of doors.json and compare 200,000 random positions and
// provinces with the library; the jar alone runs what its README shows; the programs of examples/jvm give the
// library's codes in local mode, Spark's on the jars of pyspark.

const note = noJar === undefined ? '' : ` (${noJar})`;

test('the version is that of the other packages', () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
  const pom = readFileSync('clients/java/pom.xml', 'utf8');
  expect(/<artifactId>hexcodes<\/artifactId>\s*<version>([^<]+)</.exec(pom)?.[1]).toBe(version);
});

test.skipIf(noJar !== undefined)(`its tests, and ${POINTS} random positions${note}`, () => {
  const folder = writeLibraryAnswers(POINTS);
  const { status, stdout, stderr } = spawnSync('mvn', ['-B', '-o', 'surefire:test'], {
    cwd: 'clients/java',
    encoding: 'utf8',
    env: { ...process.env, HEXCODES_ANSWERS: folder },
  });
  rmSync(folder, { recursive: true });
  expect([status, `${stdout}${stderr}`]).toEqual([
    0,
    expect.stringContaining(`${POINTS} points, 3000 provinces`),
  ]);
  expect(stdout).toMatch(/Failures: 0, Errors: 0, Skipped: 0/);
});

test.skipIf(noJar !== undefined)(`the jar alone runs the README's example${note}`, () => {
  const folder = mkdtempSync(join(tmpdir(), 'hexcodes-java-'));
  const [, example] = /```java\n(.*?)```/s.exec(readFileSync('clients/java/README.md', 'utf8'))!;
  const wanted = [...example!.matchAll(/println\(.*\); +\/\/ (.*)/g)].map(([, text]) => text);
  writeFileSync(join(folder, 'First.java'), example!);
  const { stdout, stderr } = spawnSync('java', ['-cp', JAR, join(folder, 'First.java')], {
    encoding: 'utf8',
  });
  rmSync(folder, { recursive: true });
  expect([stdout.trimEnd().split('\n'), stderr]).toEqual([wanted, '']);
  expect(wanted.length).toBeGreaterThan(5);
});

const EXAMPLE_POINTS = 2000;

describe('examples/jvm', () => {
  const random = randomFrom(21);
  const positions = Array.from({ length: EXAMPLE_POINTS }, () => [8 + 15 * random(), 102 + 8 * random()]);
  const folder = ownFolder('jvm');
  const found = JVM_EXAMPLES.filter(({ missing }) => missing === undefined);
  const run = (command: string, args: readonly string[]): string => {
    const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8', maxBuffer: 1e8 });
    expect([status, `${stdout}${stderr}`.slice(-4000)]).toEqual([0, expect.anything()]);
    return stdout;
  };

  beforeAll(() => {
    if (found.length === 0) return;
    const classPath = [JAR, ...found.map((example) => example.classPath())].join(':');
    const sources = found.map(({ engine, program }) => `examples/jvm/${engine}/${program}.java`);
    run('javac', ['-d', folder, '-cp', classPath, ...sources]);
  });

  for (const { engine, program, classPath, options, missing } of JVM_EXAMPLES)
    test.skipIf(missing !== undefined)(
      `${engine}: ${EXAMPLE_POINTS} random positions${missing === undefined ? '' : ` (${missing})`}`,
      () => {
        const library = new Hexcodes(shippedKernel());
        const codes = library.codes(library.encodeBatch(Float64Array.from(positions.flat())));
        const words = [...options, '-cp', `${folder}:${JAR}:${classPath()}`, program];
        const answers = run('java', [...words, ...positions.map((position) => position.join(','))]);
        expect(answers.trimEnd().split('\n')).toEqual(codes.map((code) => code ?? '-'));
      },
    );
});
