// The image is built from nothing but the files that .dockerignore lets through.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ownFolder } from '../support/shared.js';

const context = ownFolder('context');

test('its context builds, to the bytes of this tree', () => {
  for (const line of readFileSync('.dockerignore', 'utf8').split('\n')) {
    if (!line.startsWith('!')) continue;
    const path = line.slice(1);
    cpSync(path, join(context, path), { recursive: true, filter: (from) => !/^src\/\w+\/dist$/.test(from) });
  }
  execFileSync(process.execPath, ['tools/link-packages.mjs', '.', context]);
  execFileSync(process.execPath, ['build.mjs'], { cwd: context, stdio: 'pipe' });
  for (const file of ['dist/kernel.wasm', 'dist/console/files.json', 'src/server/dist/serve.js'])
    expect(readFileSync(join(context, file)).equals(readFileSync(file)), file).toBe(true);
  expect(existsSync(join(context, 'src/cli/dist/main.js'))).toBe(true);
});
