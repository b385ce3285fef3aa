// The calls that /docs shows for copying, run unchanged against the service, but for its address and key.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import type { Described } from '../../support/described-api.js';
import { ownFolder } from '../../support/own-folder.js';
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

interface Call {
  readonly id: string;
  readonly language: string;
  readonly code: string;
}

const folder = ownFolder('calls');
const server = await ServerProcess.start({ isQuiet: true });
afterAll(() => server.kill());
const base = `http://127.0.0.1:${server.port}`;
const [page, document] = await Promise.all(
  ['/docs', '/openapi.json'].map(async (path) => (await fetch(base + path)).text()),
);

const SIGNS: Record<string, string> = { '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'", '&amp;': '&' };
const CALLS = [...page!.matchAll(/<section aria-labelledby="(\w+)">(.*?)<\/section>/gs)].flatMap(
  ([, id, section]) =>
    [...section!.matchAll(/<summary>(\w+)<\/summary><pre><code>(.*?)<\/code>/gs)].map(
      ([, language, code]): Call => ({
        ...{ id: id!, language: language! },
        code: code!.replace(/&#?\w+;/g, (sign) => SIGNS[sign]!),
      }),
    ),
);

test('every operation of the description has a call in each language', () => {
  const paths = Object.values((JSON.parse(document!) as Described).paths);
  const ids = paths.flatMap((methods) => Object.values(methods).map(({ operationId }) => operationId));
  for (const language of Object.keys(RUNNERS))
    expect(
      CALLS.filter((call) => call.language === language)
        .map(({ id }) => id)
        .sort(),
    ).toEqual(ids.toSorted());
});

describe.each(Object.keys(RUNNERS))('%s', (language) => {
  const [command, ...args] = NEEDED[language] ?? [process.execPath, '--version'];
  const isThere = spawnSync(command!, args).status === 0;
  const calls = CALLS.filter((call) => call.language === language);
  test.skipIf(!isThere).each(calls)(`needs ${command!.split('/').at(-1)}: $id`, ({ id, code }) => {
    const { command: runner, args: before, file } = RUNNERS[language]!;
    const path = join(folder, file);
    writeFileSync(path, code.replaceAll('http://127.0.0.1:8080', base).replaceAll('YOUR_KEY', server.key));
    const { stdout, stderr } = spawnSync(runner, [...before, path], { encoding: 'utf8' });
    expect(stderr).toBe('');
    const due = id.endsWith('Bulk') ? /,OK\n/ : id === 'gridTile' ? /^\s*\d{4,}\n$/ : /"status":"OK"/;
    expect(stdout).toMatch(due);
  });
});
