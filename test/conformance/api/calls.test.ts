// The calls that /docs shows for copying, run unchanged against the service, but for its address and key.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { OPERATIONS } from '#dist/server/api/operations.js';
import { BASE, callsOf, KEY } from '#dist/server/api/page/calls.js';
import { ServerProcess } from '../../support/server-process.js';

/** How the text of a call is run. */
const RUNNERS: Record<string, { command: string; args: string[]; file: string }> = {
  curl: { command: 'sh', args: [], file: 'call.sh' },
  JavaScript: { command: process.execPath, args: [], file: 'call.mjs' },
  Python: { command: 'python3', args: [], file: 'call.py' },
  Go: { command: 'go', args: ['run'], file: 'call.go' },
};
const NEEDED: Record<string, string[]> = {
  curl: ['curl', '--version'],
  Python: ['python3', '--version'],
  Go: ['go', 'version'],
};

let server: ServerProcess;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'hexcodes-calls-'));
  server = await ServerProcess.start({ isQuiet: true });
});
afterAll(async () => {
  await server.kill();
  rmSync(folder, { recursive: true });
});

describe.each(Object.keys(RUNNERS))('%s', (language) => {
  const [command, ...args] = NEEDED[language] ?? [process.execPath, '--version'];
  const isThere = spawnSync(command!, args).status === 0;
  test.skipIf(!isThere).each(OPERATIONS)(`needs ${command!.split('/').at(-1)}: $id`, (operation) => {
    const call = callsOf(operation).find((each) => each.language === language)!;
    const { command: runner, args: before, file } = RUNNERS[language]!;
    const path = join(folder, file);
    writeFileSync(
      path,
      call.code.replaceAll(BASE, `http://127.0.0.1:${server.port}`).replaceAll(KEY, server.key),
    );
    const { stdout, stderr } = spawnSync(runner, [...before, path], { encoding: 'utf8' });
    expect(stderr).toBe('');
    const isTile = operation.id === 'gridTile';
    const due = operation.id.endsWith('Bulk') ? /,OK\n/ : isTile ? /^\s*\d{4,}\n$/ : /"status":"OK"/;
    expect(stdout).toMatch(due);
  });
});
