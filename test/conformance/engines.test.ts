// The examples of examples/python: DuckDB, Polars, pandas, and Spark with an executor killed while it runs. Each gets
// the same Parquet file, and its answer is compared with the command's.
import { copyFileSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { ADMIN_UNITS } from '#hexcodes';
import {
  checkDay,
  checkEngine,
  checkStays,
  DELTA_JARS,
  type EngineCheck,
  makePositions,
  noDelta,
  runSpark,
  SPARK_ENV,
} from '../support/engines.js';
import { noPackage, noSpark, PYTHON, packageNote, runPython } from '../support/python-env.js';
import { sharedCommand } from '../support/shared.js';

const ROWS = 48_000;
const RESOLUTION = 12;

const folder = sharedCommand();

describe.skipIf(noPackage !== undefined)(`engines in Python${packageNote}`, () => {
  beforeAll(async () => {
    await makePositions(folder.file('in.parquet'), ROWS);
    const encode = ['encode', 'in.parquet', '-o', 'wanted.parquet', '--resolution', String(RESOLUTION), '-q'];
    expect(await folder.run(encode)).toMatchObject({ code: 0, stderr: '' });
  });

  const answer = (of: string): Promise<EngineCheck> =>
    checkEngine(folder.file('wanted.parquet'), of.startsWith('delta:') ? of : folder.file(of));

  test.each(['duckdb_parquet', 'polars_lazy', 'pandas_frame'])(
    '%s',

    async (example) => {
      const target = `${example}.parquet`;
      const { code, stderr } = await runPython([
        `examples/python/${example}.py`,
        folder.file('in.parquet'),
        folder.file(target),
        '--resolution',
        String(RESOLUTION),
      ]);
      expect([code, stderr]).toEqual([0, '']);
      expect(await answer(target)).toEqual({ rows: ROWS, different: 0 });
    },
  );

  test('fleet_day: codes, stays and a picture', async () => {
    const [day, to] = [folder.file('day.parquet'), folder.file('day')];
    const made = await runPython(['examples/python/fleet_day.py', day, '--to', to, '--make', '150']);
    expect([made.code, made.stderr]).toEqual([0, '']);
    expect(made.stdout).toMatch(/^43,200 positions of 150 vehicles: /);
    const track = ['track', 'day.parquet', '--id', 'vehicle', '--time', 'time', '-o', 'track.parquet', '-q'];
    expect(await folder.run(track)).toMatchObject({ code: 0, stderr: '' });
    const stays = await checkStays(folder.file('track.parquet'), folder.file('day/stays.parquet'));
    expect(stays).toEqual({ rows: expect.any(Number), different: 0 });
    expect(stays.rows).toBeGreaterThan(5000);
    await folder.run(['encode', 'day.parquet', '-o', 'coded.parquet', '-q']);
    expect(await checkDay(folder.file('coded.parquet'), folder.file('day/codes.parquet'))).toEqual({
      ...{ rows: 43_200, different: 0 },
    });
    const png = readFileSync(folder.file('day/heat.png'));
    expect(png.toString('latin1', 1, 4)).toBe('PNG');
    expect([png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual([900, 1200]);
  });

  test.skipIf(noSpark !== undefined)(
    `spark_parquet, an executor killed while it runs; they have the package out of the zipped wheel of --py-files${noSpark === undefined ? '' : ` (${noSpark})`}`,
    { timeout: 900_000 },
    async () => {
      const wheel = readdirSync('build/python').find((name) => name.endsWith('.whl'))!;
      // Spark imports out of files in .zip, .egg and .jar alone.
      copyFileSync(`build/python/${wheel}`, folder.file('hexcodes.zip'));
      const ran = await runSpark(
        folder.file('in.parquet'),
        folder.file('spark'),
        ['--resolution', String(RESOLUTION), '--partition-bytes', '300k'],
        folder.file('hexcodes.zip'),
      );
      expect(ran.killed).toBe(1);
      expect([ran.code, ran.stdout], ran.stderr.slice(-2000)).toEqual([
        0,
        expect.stringMatching(/^\S+\/hexcodes\.zip\/hexcodes\/__init__\.py HN-6GHP4-83RFR\n$/),
      ]);
      expect(existsSync(folder.file('spark/_SUCCESS'))).toBe(true);
      expect(await answer('spark/*.parquet')).toEqual({ rows: ROWS, different: 0 });
    },
  );

  test.skipIf(noDelta !== undefined)(
    `Spark, in one process: spark_sql to Parquet and to Delta Lake${noDelta === undefined ? '' : ` (${noDelta})`}`,
    { timeout: 900_000 },
    async () => {
      const program = `
import runpy, sys

for format in "parquet", "delta":
    options = ["--resolution", "${RESOLUTION}", "--master", "local[2]", "--format", format]
    sys.argv = ["spark_sql.py", "${folder.file('in.parquet')}", "${folder.file('sql')}-" + format, *options]
    runpy.run_path("examples/python/spark_sql.py", run_name="__main__")
`;
      const submitted = `--jars ${DELTA_JARS} pyspark-shell`;
      const { code, stdout, stderr } = await runPython(['-c', program], {
        env: { ...SPARK_ENV, PYSPARK_PYTHON: PYTHON, PYSPARK_SUBMIT_ARGS: submitted },
      });
      expect([code, stdout.split('\n')], stderr.slice(-2000)).toEqual([
        0,
        [...Array.from({ length: 2 }, () => 'HN-6GHP4-83RFR HN-6GHP4-83RFR None None None None'), ''],
      ]);
      for (const format of ['parquet', 'delta']) {
        const target = folder.file(`sql-${format}`);
        const found = format === 'delta' ? `delta:${target}` : `sql-${format}/*/*.parquet`;
        expect(await answer(found)).toEqual({ rows: ROWS, different: 0 });
        const provinces = readdirSync(target).filter((name) => name.startsWith('province='));
        const codes = ADMIN_UNITS.map((unit) => `province=${unit.code}`);
        expect(provinces.filter((name) => !codes.includes(name))).toEqual([
          'province=__HIVE_DEFAULT_PARTITION__',
        ]);
        expect(provinces.length).toBeGreaterThan(30);
      }
    },
  );
});
