// `npm run proof -- clickhouse [--size 100000]`: the function of docs/command.md, as it is there, in ClickHouse's
// engine of chDB, which pip fetches from PyPI (500 MB unpacked) into an environment of the proof's own.
import { spawnSync } from 'node:child_process';
import { chmodSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { Hexcodes } from '#hexcodes';
import { CliFolder } from '../support/cli.js';
import { randomFrom } from '../support/open-world.js';
import { shippedKernel } from '../support/shipped.js';
import { optionsOf } from './run-length.js';

const CHDB = 'chdb==4.4.0';
const ARGUMENTS = ['lat', 'lng']
  .map((name) => `<argument><type>Float64</type><name>${name}</name></argument>`)
  .join('');
const PROGRAM = `import chdb, sys
sql = "SELECT hexcode(lat, lng) FROM file('positions.csv', 'CSV', 'lat Float64, lng Float64')"
print(chdb.query(sql, 'TSV', '', sys.argv[1]), end='')`;

export default async function clickhouse(args: string[]): Promise<void> {
  const values = optionsOf(args, { size: '100000' });
  const random = randomFrom(53);
  const positions = Array.from(
    { length: Number(values.size) },
    () => [8 + 15 * random(), 102 + 8 * random()] as const,
  );
  const folder = new CliFolder();
  const run = (program: string, words: readonly string[]): string => {
    const { status, stdout, stderr } = spawnSync(program, words, {
      cwd: folder.path,
      encoding: 'utf8',
      maxBuffer: 1e9,
      env: { ...process.env, PATH: `${folder.path}:${process.env['PATH']}` },
    });
    if (status !== 0) throw new Error(`${program}: ${stderr.slice(-4000)}`);
    return stdout;
  };
  try {
    const [given = ''] = /<type>executable_pool<.*<\/execute_direct>/.exec(
      readFileSync('docs/command.md', 'utf8'),
    )!;
    folder.write(
      'udf.xml',
      `<functions><function><name>hexcode</name><return_type>Nullable(String)</return_type>${ARGUMENTS}${given}</function></functions>`,
    );
    folder.write('hexcodes', `#!/bin/sh\nexec "${process.execPath}" "${resolve('dist/cli/main.js')}" "$@"\n`);
    chmodSync(folder.file('hexcodes'), 0o755);
    folder.write('positions.csv', positions.map((position) => `${position.join(',')}\n`).join(''));
    run('python3', ['-m', 'venv', 'env']);
    run('env/bin/python', ['-m', 'pip', 'install', '-q', '--disable-pip-version-check', CHDB]);
    const found = run('env/bin/python', ['-c', PROGRAM, folder.path]).trimEnd().split('\n');
    const library = new Hexcodes(shippedKernel());
    const records = library.encodeBatch(Float64Array.from(positions.flat()), 13);
    const different = positions.filter((_, n) => {
      const record = records.subarray(20 * n, 20 * n + 20);
      const code = Buffer.from(record.subarray(0, 19)).toString('latin1').replace(/\0+$/, '');
      return found[n] !== (record[19] === 0 ? code : String.raw`\N`);
    }).length;
    console.log(`${CHDB}: ${found.length} of ${positions.length} rows, ${different} different`);
    if (different > 0 || found.length !== positions.length) process.exitCode = 1;
  } finally {
    folder.remove();
  }
}
