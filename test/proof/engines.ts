// `npm run proof -- spark [--size 20000000]`: Parquet of that many rows through examples/python/spark_parquet.py, an
// executor killed while it runs; complete, each row once, equal to the command's answer. Its twin is
// test/conformance/engines.test.ts.

import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Hexcodes } from '#hexcodes';
import { CliFolder } from '../support/cli.js';
import { checkEngine, makePositions, runSpark } from '../support/engines.js';
import { randomFrom } from '../support/open-world.js';
import { noSpark } from '../support/python-env.js';
import { shippedKernel } from '../support/shipped.js';
import { optionsOf } from './run-length.js';

export async function proveSpark(args: string[]): Promise<void> {
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

// `npm run proof -- clickhouse [--size 100000]`: the function of docs/command.md, as it is there, in ClickHouse's
// engine of chDB, which pip fetches from PyPI (500 MB unpacked) into an environment of the proof's own.

const CHDB = 'chdb==4.4.0';
const ARGUMENTS = ['lat', 'lng']
  .map((name) => `<argument><type>Float64</type><name>${name}</name></argument>`)
  .join('');
const PROGRAM = `import chdb, sys
sql = "SELECT hexcode(lat, lng) FROM file('positions.csv', 'CSV', 'lat Float64, lng Float64')"
print(chdb.query(sql, 'TSV', '', sys.argv[1]), end='')`;

export async function proveClickHouse(args: string[]): Promise<void> {
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

// `npm run proof -- python`: the wheel of build/python, installed into an empty environment of
// each Python that pyenv has, drives the texts and positions of test/vectors/doors.json.

const SCRIPT = `
import json, sys
import numpy as np, hexcodes
rows = json.load(open(sys.argv[1], encoding="utf8"))
wrong = 0
for row in rows["positions"]:
    lat, lng = np.array([row["lat"]]), np.array([row["lng"]])
    wrong += str(hexcodes.encode(lat, lng, row["resolution"])[0]) != (row["code"] or "")
for row in rows["texts"]:
    read = hexcodes.decode(row["text"])
    wrong += (read and read.hexcodes) != row["code"]
print(f"{sys.version.split()[0]}: numpy {np.__version__}, {len(rows['positions'])} positions, {len(rows['texts'])} texts, {wrong} wrong")
sys.exit(wrong > 0)
`;

export async function provePython(): Promise<void> {
  const versions = resolve(homedir(), '.pyenv/versions');
  const wheel = readdirSync('build/python').find((name) => name.endsWith('.whl'));
  if (wheel === undefined) throw new Error('build/python has no wheel: .ci/python makes it');
  for (const version of readdirSync(versions)) {
    const [major, minor] = version.split('.').map(Number);
    if (major !== 3 || minor! < 9) continue;
    const folder = mkdtempSync(join(tmpdir(), 'hexcodes-env-'));
    try {
      execFileSync(join(versions, version, 'bin/python'), ['-m', 'venv', folder]);
      execFileSync(join(folder, 'bin/pip'), [
        'install',
        '-q',
        '--disable-pip-version-check',
        resolve('build/python', wheel),
      ]);
      const ran = spawnSync(join(folder, 'bin/python'), ['-c', SCRIPT, 'test/vectors/doors.json'], {
        encoding: 'utf8',
      });
      console.log(ran.stdout.trim() || ran.stderr);
      if (ran.status !== 0) process.exitCode = 1;
    } finally {
      rmSync(folder, { recursive: true });
    }
  }
}
