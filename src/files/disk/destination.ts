// The destination that a path of the command line names: stdout or another open descriptor, something that takes
// bytes as they come (a device, a FIFO), or a regular file, existing or new. Links are followed. Nothing is written
// here.

import {
  accessSync,
  type BigIntStats,
  constants,
  fstatSync,
  lstatSync,
  readlinkSync,
  realpathSync,
  statSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { badOutput, badUsage, emptyName } from '../exit-codes.js';
import { visible } from '../terminal/say.js';

// Rejects a run whose input, output and file of failed rows are not all different files: one would overwrite another.
// Files are compared by device and inode, so that links and hard links count as their file.
interface Named {
  readonly what: string;
  /** Keys of every file that it reads or writes. */
  readonly keys: readonly string[];
}

/** @param inputs paths; `-` is stdin @throws CliFailure USAGE that names both */
export function refuseSameFile(
  inputs: readonly string[],
  output: Destination,
  rejects: Destination | null,
): void {
  const read = inputs.map((path): Named => {
    const what = `the input ${path === '-' ? '(stdin)' : path}`;
    return { what, keys: keysOf(path === '-' ? 0 : path) };
  });
  const written: Named[] = [{ what: `the output ${output.name}`, keys: keysOfDestination(output) }];
  if (rejects !== null) {
    written.push({ what: `--errors ${rejects.name}`, keys: keysOfDestination(rejects) });
  }
  for (const [index, one] of written.entries()) {
    for (const other of [...read, ...written.slice(0, index)]) {
      if (!one.keys.some((key) => other.keys.includes(key))) continue;
      throw badUsage(`${visible(other.what)} and ${visible(one.what)} are one file`, 'Name different files.');
    }
  }
}

function keysOfDestination(destination: Destination): string[] {
  switch (destination.kind) {
    case 'descriptor':
      return [`descriptor ${destination.descriptor}`, ...keysOf(destination.descriptor)];
    case 'device':
      return keysOf(destination.path);
    case 'file': {
      const { path } = destination;
      const paths = [path, partialPathOf(path), journalPathOf(path), lockPathOf(path)];
      return paths.flatMap((each) => [each, ...keysOf(each)]);
    }
  }
}

/** Keys of a file; none for a device, which may be input and output at once. */
function keysOf(file: string | number): string[] {
  const stat = statOf(file);
  return stat?.isFile() === true || stat?.isFIFO() === true ? [identity(stat)] : [];
}

const identity = ({ dev, ino }: BigIntStats): string => `${dev}:${ino}`;

function statOf(file: string | number): BigIntStats | undefined {
  try {
    return typeof file === 'number'
      ? fstatSync(file, { bigint: true })
      : statSync(file, { bigint: true, throwIfNoEntry: false });
  } catch {
    // A file without access is refused where it is opened.
    return undefined;
  }
}

export const STDOUT_NAME = '(stdout)';

export type Destination =
  | { readonly kind: 'descriptor'; readonly name: string; readonly descriptor: number }
  | { readonly kind: 'device'; readonly name: string; readonly path: string }
  | FileDestination;

export interface FileDestination {
  readonly kind: 'file';
  /** Name in messages: the path as given. */
  readonly name: string;
  /** Target of the links in the given path. */
  readonly path: string;
  /** Owner of the file that will be replaced; null if there is none. */
  readonly owner: FileOwner | null;
}

export interface FileOwner {
  /** Permission bits. */
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
}

const DESCRIPTOR = /^\/(?:dev|proc\/self)\/fd\/(\d+)$/;
const STANDARD = new Map([
  ['/dev/stdin', 0],
  ['/dev/stdout', 1],
  ['/dev/stderr', 2],
]);
const MAX_LINKS = 40;

/**
 * @param path as given; `-` is stdout
 * @throws CliFailure BAD_OUTPUT if it cannot be written: a folder, a block device, a file without permission
 */
export function destinationOf(path: string): Destination {
  if (path === '') throw emptyName();
  if (path === '-') return { kind: 'descriptor', name: STDOUT_NAME, descriptor: 1 };
  try {
    if (/[/\\]$/.test(path) || path === '') throw Object.assign(new Error(), { code: 'EISDIR' });
    const real = realPathOf(path);
    const descriptor = descriptorOf(real);
    if (descriptor !== null) {
      fstatSync(descriptor);
      return { kind: 'descriptor', name: descriptor === 1 ? STDOUT_NAME : path, descriptor };
    }
    const stat = statSync(real, { throwIfNoEntry: false });
    if (stat === undefined) return { kind: 'file', name: path, path: real, owner: null };
    if (stat.isDirectory()) throw Object.assign(new Error(), { code: 'EISDIR' });
    if (stat.isBlockDevice()) throw new Error('it is a block device');
    accessSync(real, constants.W_OK);
    // A file below /proc cannot be replaced by a rename.
    if (!stat.isFile() || real.startsWith('/proc/')) return { kind: 'device', name: path, path: real };
    const { uid, gid, mode } = stat;
    return { kind: 'file', name: path, path: real, owner: { mode: mode & 0o777, uid, gid } };
  } catch (error) {
    throw badOutput(path, error);
  }
}

function descriptorOf(path: string): number | null {
  const digits = DESCRIPTOR.exec(path)?.[1];
  return digits === undefined ? (STANDARD.get(path) ?? null) : Number(digits);
}

/**
 * A path without links, even if its last part does not exist yet. Stops at a descriptor, whose link names no file.
 */
function realPathOf(path: string): string {
  let at = resolve(path);
  for (let links = 0; links < MAX_LINKS; links++) {
    if (descriptorOf(at) !== null || at.startsWith('/proc/')) return at;
    const folder = realpathSync(dirname(at));
    const isLink = lstatSync(at, { throwIfNoEntry: false })?.isSymbolicLink() === true;
    if (!isLink) return join(folder, basename(at));
    at = resolve(folder, readlinkSync(at));
  }
  throw new Error('too many links');
}

export const partialPathOf = (path: string): string => `${path}.partial`;
export const journalPathOf = (path: string): string => `${path}.partial.journal`;
export const lockPathOf = (path: string): string => `${path}.partial.lock`;

/** Why a run with this output cannot be resumed; null if it can. */
export function notResumableTo(destination: Destination): string | null {
  if (destination.kind === 'file') return null;
  if (destination.name === STDOUT_NAME) return 'What went to stdout cannot be resumed';
  return `Output to ${destination.name}, which is not a regular file, cannot be resumed`;
}
