// A folder of a test file's own, or of one of its groups.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

/** @returns the path of a new folder, which is removed after the tests of the file or of the group */
export function ownFolder(name: string): string {
  const path = mkdtempSync(join(tmpdir(), `hexcodes-${name}-`));
  afterAll(() => rmSync(path, { recursive: true, force: true }));
  return path;
}
