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
  for (const file of ['dist/kernel.wasm', 'dist/console/files.json', 'src/server/dist/serve.js'])
    expect(readFileSync(join(context, file)).equals(readFileSync(file)), file).toBe(true);
  expect(existsSync(join(context, 'src/cli/dist/main.js'))).toBe(true);
});
