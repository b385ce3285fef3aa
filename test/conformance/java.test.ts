// clients/java: its tests pass, which drive the vectors of doors.json and compare 1,000,000 random positions and
// provinces with the library; the jar alone runs what its README shows.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { JAR, noJar } from '../support/java.js';
import { writeLibraryAnswers } from '../support/library-answers.js';

const POINTS = 1_000_000;
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
