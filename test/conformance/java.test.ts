// clients/java: its tests pass, which drive the vectors of doors.json and compare 200,000 random positions and
// provinces with the library; the jar alone runs what its README shows; the programs of examples/jvm give the
// library's codes in local mode, Spark's on the jars of pyspark.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { Hexcodes } from '#hexcodes';
import { JAR, JVM_EXAMPLES, noJar } from '../support/java.js';
import { writeLibraryAnswers } from '../support/library-answers.js';
import { randomFrom } from '../support/open-world.js';
import { ownFolder } from '../support/own-folder.js';
import { shippedKernel } from '../support/shipped.js';

const POINTS = 200_000;
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
