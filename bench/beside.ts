// `--beside FOLDER` or `--beside uws=PACKAGE`: the same once more in the same run, taking the same turns, from another
// checkout that is built, or from this one with another build of uWebSockets.js. Before and after a change then meet
// the same minutes of the machine. A checkout may have the layout that preceded the workspaces.
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { ProgramPlace } from './server-process.js';

export const BESIDE_OPTION = { beside: { type: 'string', default: '' } } as const;

/** Where the parts of a checkout lie, today's path first. */
const SERVER_PATHS = {
  bulk: ['build/bench/bulk/servers.js', 'build/bench/bulk-servers.js'],
  http: ['build/bench/http/servers.js', 'build/bench/http-servers.js'],
} as const;
const COMMAND_PATHS = ['src/cli/bin/hexcodes.js', 'dist/cli/main.js'];
const LIBRARY_FOLDERS = ['dist/hexcodes', 'dist'];

/** The first of the paths that a checkout has. @throws Error where it has none */
function pathIn(folder: string, paths: readonly string[]): string {
  const path = paths.map((name) => resolve(folder, name)).find((name) => existsSync(name));
  if (path === undefined)
    throw new Error(`--beside ${folder}: no ${paths.join(' or ')} there; build it first`);
  return path;
}

/**
 * @param text value of `--beside`
 * @returns undefined for an empty text
 * @throws Error where the folder has no built server of this bench
 */
export function placeBeside(text: string, bench: keyof typeof SERVER_PATHS): ProgramPlace | undefined {
  if (text === '') return undefined;
  if (text.startsWith('uws=')) return { env: { HEXCODES_UWS: text.slice('uws='.length) } };
  const folder = resolve(text);
  return { program: pathToFileURL(pathIn(folder, SERVER_PATHS[bench])), folder };
}

/** The script of a checkout's command. @throws Error where the folder has none */
export function commandIn(folder: string): string {
  return pathIn(folder, COMMAND_PATHS);
}

/**
 * A module of a checkout's library.
 * @param name its path in src/hexcodes, as `library/hexcodes.js`
 * @throws Error where the folder has no such module
 */
export async function libraryModule<Module>(folder: string, name: string): Promise<Module> {
  const path = pathIn(
    folder,
    LIBRARY_FOLDERS.map((each) => `${each}/${name}`),
  );
  return (await import(pathToFileURL(path).href)) as Module;
}

/** The module that counts slow rows, which older checkouts have in a file of its own. */
export const slowRowsModule = <Module>(folder: string): Promise<Module> =>
  libraryModule<Module>(folder, 'wire/rows/row-allowance.js').catch(() =>
    libraryModule<Module>(folder, 'wire/rows/row-report.js'),
  );
