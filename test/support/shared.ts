// Servers and folders that the tests of a file, or of a describe block, share. Each function registers the hooks that
// make one before the tests and remove it after them.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { CliFolder } from './cli.js';
import type { startServer, TestServer } from './server.js';

/** @param name a word for its path, as an aid to whoever looks into the temporary folder */
export function ownFolder(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), `hexcodes-${name}-`));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export function sharedCommand(): CliFolder {
  const folder = new CliFolder();
  afterAll(() => folder.remove());
  return folder;
}

/** An object that `make` makes before the tests and `end` takes away after them; it may be used once they run. */
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

/** Loads the service only where it is started: tests without one need not wait for it. */
export const sharedServer = (...given: Parameters<typeof startServer>): TestServer =>
  sharedOf(
    async () => (await import('./server.js')).startServer(...given),
    (server) => server.stop(),
  );
