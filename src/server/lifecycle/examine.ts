// Faults of the data folder, of the files in it and of those of a sink, as a start would find them: for --check-config,
// which leaves nothing behind.
import { existsSync, mkdtempSync, rmdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { ServeConfig } from '../../config/config.js';
import { ensureDataDir } from '../keys/secret.js';
import { sqliteFault } from '../keys/store/connection.js';
import { examineStore } from '../keys/store/open-store.js';
import { examineSink } from '../traccar/forward/forwarder.js';
import { openUsage, usageFault, usagePath } from '../usage/store/usage-store.js';

/** @throws Error with a sentence for people */
export async function examineFiles(config: ServeConfig): Promise<void> {
  const { dataDir, store, keyPepper, keyPepperFile, traccarSink } = config;
  examineSink(config);
  tryFolder(dataDir);
  const folders = ['spool', ...(traccarSink === undefined ? [] : ['traccar'])];
  for (const path of folders.map((name) => join(dataDir, name)))
    if (existsSync(path) && !statSync(path).isDirectory()) throw new Error(`${path} is a file, not a folder`);
  if (store !== undefined) return;
  await examineStore(dataDir, keyPepper ?? keyPepperFile);
  const address = { dataDir, url: store };
  // The start makes a store of an empty file.
  if (!statSync(usagePath(dataDir), { throwIfNoEntry: false })?.size) return;
  try {
    await (await openUsage(address)).close();
  } catch (error) {
    throw new Error(usageFault(address, error), { cause: error });
  }
}

/** Makes the folder where it is absent, and another in it, which alone shows that a disk can be written to. */
function tryFolder(dataDir: string): void {
  let made: string[] = [];
  try {
    made = ensureDataDir(dataDir);
    rmdirSync(mkdtempSync(join(dataDir, '.check-')));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Error(
      code === 'ENOENT' ? `the data folder ${dataDir} cannot be made` : sqliteFault(dataDir, error),
    );
  } finally {
    for (const folder of made.reverse()) rmdirSync(folder);
  }
}
