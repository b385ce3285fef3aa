// The line of docs/recipes.md that converts a folder: killed with all its processes and run again, each output has the
// bytes of an undisturbed run, and a further run leaves finished files as they are.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { CliFolder } from '../../../support/cli.js';
import { writePointsCsv } from '../../../support/files/points-csv.js';
import { blocksOf } from '../../../support/page-blocks.js';

const folder = new CliFolder();
afterAll(() => folder.remove());

const FILES = ['a/1.csv', 'a/2.csv', 'b/3.csv', '4.csv'];
const [line = ''] = blocksOf('docs/recipes.md', 'sh')
  .map(({ text }) => text)
  .filter((text) => text.includes('xargs'));

/** A shell that leads a process group of its own. */
function start() {
  const path = `${folder.file('bin')}:${process.env.PATH}`;
  const env = { ...process.env, PATH: path, HEXCODES_CHECKPOINT_BYTES: '65536' };
  return spawn('bash', ['-c', line], { cwd: folder.path, env, detached: true, stdio: 'ignore' });
}

test('a folder by xargs, killed and resumed', async () => {
  mkdirSync(folder.file('bin'));
  const command = folder.commandLine([]).map((word) => `"${word}"`);
  writeFileSync(folder.file('bin/hexcodes'), `#!/bin/sh\nexec ${command.join(' ')} "$@"\n`, { mode: 0o755 });
  for (const name of FILES) {
    mkdirSync(join(folder.file('days'), name, '..'), { recursive: true });
    writePointsCsv(folder.file(`days/${name}`), 60_000, FILES.indexOf(name));
    expect((await folder.run(['encode', `days/${name}`, '-q', '-o', `${name.replace('/', '-')}`])).code).toBe(
      0,
    );
  }
  let kills = 0;
  for (let round = 0; round < 4; round++) {
    const shell = start();
    const ended = once(shell, 'close');
    // Until a file has come to a checkpoint, or the run is over.
    const hasJournal = () => FILES.some((name) => existsSync(folder.file(`coded/${name}.partial.journal`)));
    while (!hasJournal() && shell.exitCode === null) await sleep(2);
    await sleep(5 * round);
    if (shell.exitCode === null) {
      process.kill(-shell.pid!, 'SIGKILL');
      kills++;
    }
    await ended;
  }
  expect(kills).toBeGreaterThan(0);
  const [code] = (await once(start(), 'close')) as [number];
  expect(code).toBe(0);
  for (const name of FILES) {
    const made = folder.bytes(`coded/${name}`);
    expect(made.equals(folder.bytes(name.replace('/', '-'))), name).toBe(true);
  }
  const times = FILES.map((name) => statSync(folder.file(`coded/${name}`)).mtimeMs);
  const [again] = (await once(start(), 'close')) as [number];
  expect(again).toBe(0);
  expect(FILES.map((name) => statSync(folder.file(`coded/${name}`)).mtimeMs)).toEqual(times);
});
