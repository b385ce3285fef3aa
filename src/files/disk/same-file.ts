// Refuses a run whose input, output and file of failed rows are not all different files: the result of one would
// destroy another. Files are compared by device and inode, so that links and hard links count as their file.

import { type BigIntStats, fstatSync, statSync } from 'node:fs';
import { CliFailure, EXIT } from '../exit-codes.js';
import { visible } from '../terminal/visible.js';
import { type Destination, journalPathOf, lockPathOf, partialPathOf } from './destination.js';

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
      throw new CliFailure(
        EXIT.USAGE,
        `${visible(other.what)} and ${visible(one.what)} are one file`,
        'Name different files.',
      );
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

/** Nothing for a device, which may be input and output at once. */
function keysOf(file: string | number): string[] {
  const stat = statOf(file);
  return stat?.isFile() === true || stat?.isFIFO() === true ? [identity(stat)] : [];
}

/**
 * Device and inode of the file or folder that a path leads to; null where there is none, or none that can be looked at.
 */
export function identityOf(path: string): string | null {
  const stat = statOf(path);
  return stat === undefined ? null : identity(stat);
}

const identity = ({ dev, ino }: BigIntStats): string => `${dev}:${ino}`;

function statOf(file: string | number): BigIntStats | undefined {
  try {
    return typeof file === 'number'
      ? fstatSync(file, { bigint: true })
      : statSync(file, { bigint: true, throwIfNoEntry: false });
  } catch {
    // A file that cannot be looked at is refused where it is opened.
    return undefined;
  }
}
