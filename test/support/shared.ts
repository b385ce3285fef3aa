// Servers and folders that the tests of a file, or of a describe block, share. Each function registers the hooks that
// make one before the tests and remove it after them.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { CliFolder } from './cli.js';
import { startServer, type TestServer } from './server.js';

/** @param name a word for its path, as an aid to whoever looks into the temporary folder */
export function sharedFolder(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), `hexcodes-${name}-`));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export function sharedCommand(): CliFolder {
  const folder = new CliFolder();
  afterAll(() => folder.remove());
  return folder;
}

/** What `make` makes before the tests, and `end` takes away after them; its properties are there once the tests run. */
export function sharedOf<Made extends object>(
  make: () => Made | Promise<Made>,
  end: (made: Made) => unknown = () => {},
): Made {
  let made: Made | undefined;
  beforeAll(async () => {
    made = await make();
  });
  afterAll(async () => {
    if (made !== undefined) await end(made);
  });
  return new Proxy({} as Made, {
    get: (_, name) => {
      const value: unknown = Reflect.get(made as Made, name);
      return typeof value === 'function' ? value.bind(made) : value;
    },
  });
}

export const sharedServer = (...given: Parameters<typeof startServer>): TestServer =>
  sharedOf(
    () => startServer(...given),
    (server) => server.stop(),
  );
