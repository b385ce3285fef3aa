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

/** A server that `startServer` starts; its properties are there once the tests run. */
export function sharedServer(...given: Parameters<typeof startServer>): TestServer {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer(...given);
  });
  afterAll(() => server.stop());
  return {
    get port() {
      return server.port;
    },
    get adminPort() {
      return server.adminPort;
    },
    get base() {
      return server.base;
    },
    get dataDir() {
      return server.dataDir;
    },
    get key() {
      return server.key;
    },
    log: () => server.log(),
    stop: () => server.stop(),
  };
}
