// The jar of clients/java and the class paths of its tests and of examples/jvm, which .ci/java makes.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { noSpark, packagesFolder } from './python-env.js';

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

export interface JvmExample {
  /** The folder of its program, and profile of examples/jvm/pom.xml. */
  readonly engine: string;
  readonly program: string;
  /** The jars of the engine alone. */
  readonly classPath: () => string;
  /** The words of `java` before the class path. */
  readonly options: readonly string[];
  /** Why it is skipped; undefined where it runs. */
  readonly missing: string | undefined;
}

/** The packages that Spark opens for itself on Java 17 and newer (its JavaModuleOptions). */
const OPENED = [
  ...'lang lang.invoke lang.reflect io net nio util util.concurrent util.concurrent.atomic'
    .split(' ')
    .map((name) => `java.${name}`),
  ...['sun.nio.ch', 'sun.nio.cs', 'sun.security.action', 'sun.util.calendar'],
].map((name) => `--add-opens=java.base/${name}=ALL-UNNAMED`);
/** A JVM of a few seconds is cheaper without its second compiler, and without a proof of the bytecode of known jars. */
export const SHORT_JVM = [
  ...['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC'],
  ...['-XX:+UnlockDiagnosticVMOptions', '-XX:-BytecodeVerificationRemote'],
];
const OPTIONS = [...SHORT_JVM, ...OPENED];

const byMaven = (engine: string, program: string): JvmExample => {
  const path = resolve(`examples/jvm/target/${engine}/classpath.txt`);
  return {
    engine,
    program,
    classPath: () => readFileSync(path, 'utf8'),
    options: OPTIONS,
    missing: noJar ?? (existsSync(path) ? undefined : 'needs examples/jvm/target, which .ci/java makes'),
  };
};

export const JVM_EXAMPLES: readonly JvmExample[] = [
  {
    engine: 'spark',
    program: 'SqlFunction',
    classPath: () => `${packagesFolder()}/pyspark/jars/*`,
    options: OPTIONS,
    missing: noJar ?? noSpark,
  },
  byMaven('flink', 'CodeMap'),
  byMaven('kafka', 'Topology'),
];
