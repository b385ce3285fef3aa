// The jar of clients/java and the class path of its tests, which .ci/java makes.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';

const TARGET = resolve('clients/java/target');
const CLASS_PATH = `${TARGET}/classpath.txt`;
const hasJava = (): boolean => spawnSync('java', ['-version']).status === 0;

/** Why tests with the jar are skipped; undefined where they run. */
export const noJar: string | undefined =
  existsSync(CLASS_PATH) && hasJava()
    ? undefined
    : 'needs java and clients/java/target, which .ci/java makes';

/** The words of `java` before a class of the tests. */
export const javaOfTests = (): string[] => [
  '-cp',
  `${TARGET}/classes:${TARGET}/test-classes:${readFileSync(CLASS_PATH, 'utf8')}`,
];

export const JAR = `${TARGET}/hexcodes-${(JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }).version}.jar`;
