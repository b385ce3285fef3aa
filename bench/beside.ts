// `--beside FOLDER` or `--beside uws=PACKAGE`: the service once more in the same run, taking the same turns, from another checkout that is
// built, or from this one with another build of uWebSockets.js. Before and after a change then meet the same minutes of the machine.
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { ProgramPlace } from './server-process.js';

export const BESIDE_OPTION = { beside: { type: 'string', default: '' } } as const;

/** Where the servers of another checkout lie, today's path first. */
const SERVER_PATHS = {
  bulk: ['build/bench/bulk/servers.js', 'build/bench/bulk-servers.js'],
  http: ['build/bench/http/servers.js', 'build/bench/http-servers.js'],
} as const;

/**
 * @param text value of `--beside`
 * @returns undefined for an empty text
 * @throws Error where the folder has no built server of this bench
 */
export function placeBeside(text: string, bench: keyof typeof SERVER_PATHS): ProgramPlace | undefined {
  if (text === '') return undefined;
  if (text.startsWith('uws=')) return { env: { HEXCODES_UWS: text.slice('uws='.length) } };
  const folder = resolve(text);
  const path = SERVER_PATHS[bench].map((name) => resolve(folder, name)).find((name) => existsSync(name));
  if (path === undefined)
    throw new Error(`--beside ${text}: no ${SERVER_PATHS[bench].join(' or ')} there; build it first`);
  return { program: pathToFileURL(path), folder };
}
