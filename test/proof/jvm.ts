// `npm run proof -- jvm [--only spark,flink,kafka]`: the programs of examples/jvm in local mode, on the jar that
// .ci/java makes; Maven fetches some 500 MB for them. Each prints the library's codes of 10,000 positions.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { Hexcodes } from '#hexcodes';
import { noJar } from '../support/java.js';
import { randomFrom } from '../support/open-world.js';
import { shippedKernel } from '../support/shipped.js';
import { optionsOf } from './run-length.js';

const FOLDER = 'examples/jvm';
const PROGRAMS: Record<string, string> = { spark: 'SqlFunction', flink: 'CodeMap', kafka: 'Topology' };
const COUNT = 10_000;
/** Spark needs these on Java 17 and newer (its own JavaModuleOptions). */
const OPENED = 'lang lang.invoke lang.reflect io net nio util util.concurrent util.concurrent.atomic';
const OPTIONS = [
  ...OPENED.split(' ').map((name) => `java.base/java.${name}`),
  ...[
    'java.base/sun.nio.ch',
    'java.base/sun.nio.cs',
    'java.base/sun.security.action',
    'java.base/sun.util.calendar',
  ],
].map((name) => `--add-opens=${name}=ALL-UNNAMED`);

function run(program: string, args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(program, args, {
    cwd: FOLDER,
    encoding: 'utf8',
    maxBuffer: 1e8,
  });
  if (status !== 0) throw new Error(`${program}: ${`${stdout}${stderr}`.slice(-4000)}`);
  return stdout;
}

export default async function jvm(args: string[]): Promise<void> {
  const values = optionsOf(args, { only: 'spark,flink,kafka' });
  if (noJar !== undefined) throw new Error(noJar);
  const library = new Hexcodes(shippedKernel());
  const random = randomFrom(21);
  const positions = Array.from({ length: COUNT }, () => [8 + 15 * random(), 102 + 8 * random()] as const);
  const wanted = positions.map(([lat, lng]) => {
    const record = library.encodeBatch(Float64Array.of(lat, lng), 13);
    return record[19] === 0
      ? Buffer.from(record.subarray(0, 19)).toString('latin1').replace(/\0.*$/s, '')
      : '-';
  });
  for (const engine of values.only.split(',')) {
    const path = `target/${engine}/classpath.txt`;
    run('mvn', [
      '-B',
      '-q',
      '-P',
      engine,
      'compile',
      'dependency:build-classpath',
      `-Dmdep.outputFile=${path}`,
    ]);
    const classPath = `target/${engine}/classes:${readFileSync(`${FOLDER}/${path}`, 'utf8')}`;
    const words = positions.map((position) => position.join(','));
    const found = run('java', [...OPTIONS, '-cp', classPath, PROGRAMS[engine]!, ...words])
      .trimEnd()
      .split('\n');
    const different = wanted.filter((code, n) => code !== found[n]).length;
    console.log(`${engine}: ${found.length} of ${COUNT} codes, ${different} different`);
    if (different > 0 || found.length !== COUNT) process.exitCode = 1;
  }
}
