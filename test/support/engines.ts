// Helpers of tests and proofs of the engines in Python: positions as Parquet, the comparison with the command's
// answer, and Spark with an executor that is killed.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { SHORT_JVM } from './java.js';
import { noSpark, PYTHON, runPython } from './python-env.js';

/** The environment of a program that starts Spark. */
export const SPARK_ENV = { SPARK_LOCAL_IP: '127.0.0.1', JDK_JAVA_OPTIONS: SHORT_JVM.join(' ') };

const DELTA = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'hexcodes/delta-4.2.0');
/** Delta Lake, as `--jars` of Spark takes it. */
export const DELTA_JARS = ['delta-spark_4.1_2.13', 'delta-storage']
  .map((name) => `${DELTA}/${name}-4.2.0.jar`)
  .join(',');
/** Why tests with Delta Lake are skipped; undefined where they run. */
export const noDelta: string | undefined =
  noSpark ??
  (DELTA_JARS.split(',').every((path) => existsSync(path))
    ? undefined
    : 'the jars of Delta Lake are missing: .ci/packages brings them');

/** Writes `count` rows (id, lat, lng); some abroad, some null. Row groups are small, so that there are many tasks. */
export async function makePositions(path: string, count: number): Promise<void> {
  const degrees = (first: number, span: number, seed: number, size: number): string =>
    `${first} + ${span} * ((i * ${seed}) % ${size}) / ${size}.0`;
  await python(
    `import duckdb, sys
duckdb.sql("""COPY (SELECT i AS id, if(i % 1000 = 7, NULL, ${degrees(8, 15, 7_919, 1_000_003)})::DOUBLE AS lat,
  (${degrees(102, 8, 104_729, 1_000_033)})::DOUBLE AS lng FROM range(${count}) t(i)) TO '${path}' (FORMAT parquet, ROW_GROUP_SIZE 8192)""")`,
  );
}

export interface EngineCheck {
  /** Rows with an id of their own. */
  readonly rows: number;
  /** Ids that one side lacks, or has with another code. */
  readonly different: number;
}

/**
 * Compares Parquet files with columns id and hexcodes; `found` may be a pattern, or `delta:` and the folder of a table,
 * whose files delta-rs names.
 */
export async function checkEngine(wanted: string, found: string): Promise<EngineCheck> {
  const delta = /^delta:(.*)/.exec(found)?.[1];
  if (delta !== undefined) {
    const uris = await python(
      `import json; from deltalake import DeltaTable; print(json.dumps(DeltaTable('${delta}').file_uris()))`,
    );
    return checkFiles(wanted, `[${(JSON.parse(uris) as string[]).map((uri) => `'${uri}'`).join(', ')}]`);
  }
  return checkFiles(wanted, `'${found}'`);
}

/** @param found files as read_parquet of DuckDB takes them */
async function checkFiles(wanted: string, found: string): Promise<EngineCheck> {
  const answer = await python(
    `import duckdb, json
duckdb.sql("SET enable_progress_bar = false; SET memory_limit = '8GB'; SET temp_directory = '${dirname(wanted)}/spill'")
rows = duckdb.sql("SELECT count(*), count(DISTINCT id) FROM read_parquet(${found})").fetchall()[0]
different = duckdb.sql("""SELECT count(*) FROM '${wanted}' a FULL JOIN read_parquet(${found}) b USING (id)
  WHERE a.id IS NULL OR b.id IS NULL OR nullif(a.hexcodes, '') IS DISTINCT FROM b.hexcodes""").fetchall()[0][0]
print(json.dumps({"rows": rows[0] if rows[0] == rows[1] else -1, "different": different}))`,
  );
  return JSON.parse(answer) as EngineCheck;
}

/** Compares stays of `hexcodes track` with those of examples/python/fleet_day.py. */
export const checkStays = (track: string, stays: string): Promise<EngineCheck> =>
  compared(
    `SELECT id::INT AS v, entered AS t, hexcodes AS a, "left" AS u, points AS n FROM '${track}'`,
    `SELECT vehicle AS v, since AS t, place AS a, until AS u, positions AS n FROM '${stays}'`,
  );

/** Compares positions of vehicles with their codes. */
export const checkDay = (wanted: string, found: string): Promise<EngineCheck> =>
  compared(
    `SELECT vehicle AS v, time AS t, nullif(hexcodes, '') AS a, lat AS u, lng AS n FROM '${wanted}'`,
    `SELECT vehicle AS v, time AS t, hexcodes AS a, lat AS u, lng AS n FROM '${found}'`,
  );

/** Rows of the second query; rows that one of the two has and the other has not. */
async function compared(wanted: string, found: string): Promise<EngineCheck> {
  const answer = await python(
    `import duckdb, json
duckdb.sql("SET enable_progress_bar = false")
duckdb.sql("CREATE TABLE wanted AS ${wanted.replaceAll('"', '\\"')}")
duckdb.sql("CREATE TABLE found AS ${found.replaceAll('"', '\\"')}")
one = lambda sql: duckdb.sql("SELECT count(*) FROM (" + sql + ")").fetchall()[0][0]
print(json.dumps({"rows": one("FROM found"), "different": one("FROM wanted EXCEPT ALL FROM found") + one("FROM found EXCEPT ALL FROM wanted")}))`,
  );
  return JSON.parse(answer) as EngineCheck;
}

async function python(script: string): Promise<string> {
  const { code, stdout, stderr } = await runPython(['-c', script]);
  if (code !== 0) throw new Error(stderr);
  return stdout;
}

export interface SparkRan {
  readonly code: number | null;
  /** Executors that were killed. */
  readonly killed: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** The example with one question more to its executors before they end. */
const LOOKING = `
import runpy
import pyarrow as pa
from pyspark.sql import SparkSession

def convert(batches):
    import hexcodes
    for batch in batches:
        code = hexcodes.encode(pa.array([21.0288]), pa.array([105.8525]))
        yield pa.RecordBatch.from_arrays([pa.array([hexcodes.__file__]), code], names=["file", "code"])

stop = SparkSession.stop

def look(session):
    print(*session.range(1).mapInArrow(convert, "file string, code string").first())
    stop(session)

SparkSession.stop = look
runpy.run_path("EXAMPLE", run_name="__main__")
`;

/**
 * Runs examples/python/spark_parquet.py and kills one of its executors, with SIGKILL, once a task has written.
 * @param more options of the example
 * @param zip the package in an archive that executors get by --py-files; standard output tells what one of them loaded,
 * and a code by it
 */
export async function runSpark(
  source: string,
  target: string,
  more: readonly string[] = [],
  zip?: string,
): Promise<SparkRan> {
  let isOver = false;
  const example = 'examples/python/spark_parquet.py';
  const [script, env] =
    zip === undefined
      ? [[example], {}]
      : [
          ['-c', LOOKING.replace('EXAMPLE', example)],
          { PYSPARK_PYTHON: PYTHON, PYSPARK_SUBMIT_ARGS: `--py-files ${zip} pyspark-shell` },
        ];
  const ran = runPython([...script, source, target, ...more], {
    env: { ...SPARK_ENV, ...env },
  }).finally(() => {
    isOver = true;
  });
  let killed = 0;
  while (!isOver && killed === 0) {
    await sleep(200);
    if (!hasWritten(target)) continue;
    const [executor] = executorsOf(process.pid);
    if (executor === undefined) continue;
    process.kill(executor, 'SIGKILL');
    killed++;
  }
  return { ...(await ran), killed };
}

/** Whether a task has begun to write, below the folder's _temporary. */
function hasWritten(target: string): boolean {
  try {
    return readdirSync(`${target}/_temporary`, { recursive: true }).some((name) =>
      /part-.*\.parquet$/.test(String(name)),
    );
  } catch {
    return false;
  }
}

/** Executors of Spark among the descendants of a process: those of other runs on this machine are none of ours. */
function executorsOf(ancestor: number): number[] {
  const parents = new Map<number, number>();
  const executors: number[] = [];
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'latin1');
      parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]));
      const line = readFileSync(`/proc/${name}/cmdline`, 'latin1');
      if (
        line.includes('java') &&
        line.includes('\0org.apache.spark.executor.CoarseGrainedExecutorBackend\0')
      )
        executors.push(Number(name));
    } catch {
      // The process has ended meanwhile.
    }
  }
  const isOurs = (pid: number): boolean => pid === ancestor || (pid > 1 && isOurs(parents.get(pid) ?? 0));
  return executors.filter(isOurs);
}
