// `npm run proof -- python`: the wheel of build/python, installed into an empty environment of
// each Python that pyenv has, drives the texts and positions of test/vectors/doors.json.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

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

export default async function python(): Promise<void> {
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
