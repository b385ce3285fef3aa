// `npm run proof -- spark [--size 20000000]`: Parquet of that many rows through examples/python/spark_parquet.py, an
// executor killed while it runs; complete, each row once, equal to the command's answer. Its twin is
// test/conformance/engines.test.ts.
import { CliFolder } from '../support/cli.js';
import { checkEngine, makePositions, runSpark } from '../support/engines.js';
import { noSpark } from '../support/python-env.js';
import { optionsOf } from './run-length.js';

export default async function spark(args: string[]): Promise<void> {
  const values = optionsOf(args, { size: '20000000' });
  if (noSpark !== undefined) throw new Error(noSpark);
  const rows = Number(values.size);
  const folder = new CliFolder();
  try {
    await makePositions(folder.file('in.parquet'), rows);
    const encode = await folder.run(['encode', 'in.parquet', '-o', 'wanted.parquet', '--keep', 'id', '-q']);
    if (encode.code !== 0) throw new Error(encode.stderr);
    const started = Date.now();
    const ran = await runSpark(folder.file('in.parquet'), folder.file('out'));
    if (ran.code !== 0 || ran.killed !== 1)
      throw new Error(`killed ${ran.killed}: ${ran.stderr.slice(-4000)}`);
    const seconds = (Date.now() - started) / 1000;
    const found = await checkEngine(folder.file('wanted.parquet'), folder.file('out/*.parquet'));
    console.log(
      `${found.rows} of ${rows} rows once, ${found.different} different, one executor killed, ${seconds.toFixed(0)} s`,
    );
    if (found.rows !== rows || found.different !== 0) process.exitCode = 1;
  } finally {
    folder.remove();
  }
}
