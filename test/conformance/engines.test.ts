// The examples of examples/python: DuckDB, Polars, pandas, and Spark with an executor killed while it runs. Each gets
// the same Parquet file, and its answer is compared with the command's.
import { existsSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CliFolder } from '../support/cli.js';
import { checkEngine, type EngineCheck, makePositions, runSpark } from '../support/engines.js';
import { noPackage, noSpark, packageNote, runPython } from '../support/python-env.js';

const ROWS = 120_000;
const RESOLUTION = 12;

const folder = new CliFolder();
afterAll(() => folder.remove());

describe.skipIf(noPackage !== undefined)(`engines in Python${packageNote}`, () => {
  beforeAll(async () => {
    await makePositions(folder.file('in.parquet'), ROWS);
    const encode = ['encode', 'in.parquet', '-o', 'wanted.parquet', '--resolution', String(RESOLUTION), '-q'];
    expect(await folder.run(encode)).toMatchObject({ code: 0, stderr: '' });
  }, 300_000);

  const answer = (of: string): Promise<EngineCheck> =>
    checkEngine(folder.file('wanted.parquet'), folder.file(of));

  test.each(['duckdb_parquet', 'polars_lazy', 'pandas_frame'])(
    '%s',
    { timeout: 300_000 },
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

  test.skipIf(noSpark !== undefined)(
    `spark_parquet, an executor killed while it runs${noSpark === undefined ? '' : ` (${noSpark})`}`,
    { timeout: 900_000 },
    async () => {
      const ran = await runSpark(folder.file('in.parquet'), folder.file('spark'), [
        '--resolution',
        String(RESOLUTION),
        '--partition-bytes',
        '300k',
      ]);
      expect(ran.killed).toBe(1);
      expect([ran.code, ran.stderr.slice(-2000)]).toEqual([0, expect.anything()]);
      expect(existsSync(folder.file('spark/_SUCCESS'))).toBe(true);
      expect(await answer('spark/*.parquet')).toEqual({ rows: ROWS, different: 0 });
    },
  );
});
