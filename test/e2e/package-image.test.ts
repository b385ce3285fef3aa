// The image is built from nothing but the files that .dockerignore lets through.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';

const context = mkdtempSync(join(tmpdir(), 'hexcodes-context-'));
afterAll(() => rmSync(context, { recursive: true }));

test('its context builds, to the bytes of this tree', () => {
  for (const line of readFileSync('.dockerignore', 'utf8').split('\n')) {
    if (!line.startsWith('!')) continue;
    const path = line.slice(1);
    cpSync(path, join(context, path), { recursive: true, filter: (from) => !/^src\/\w+\/dist$/.test(from) });
  }
  execFileSync(process.execPath, ['tools/link-packages.mjs', '.', context]);
  execFileSync(process.execPath, ['build.mjs'], { cwd: context, stdio: 'pipe' });
  // Names of the page's parts are made of their bytes, in which the map's library has another path here: the context's
  // packages are links.
  for (const file of ['dist/kernel.wasm', 'src/server/dist/serve.js'])
    expect(readFileSync(join(context, file)).equals(readFileSync(file)), file).toBe(true);
  for (const file of ['dist/console/files.json', 'src/cli/dist/main.js'])
    expect(existsSync(join(context, file)), file).toBe(true);
});
