// The library as the command uses it: loaded once, from HEXCODES_INDEX where the user brings boundaries of their own.

import { HexcodesError } from '../errors.js';
import { Hexcodes } from '../node.js';
import { readDataFiles } from './data-files.js';
import { CliFailure, EXIT, reasonOf } from './exit-codes.js';

let loading: Promise<Hexcodes> | undefined;

/** @throws CliFailure if the index that the user names cannot be used */
export function loadLibrary(): Promise<Hexcodes> {
  loading ??= load(process.env.HEXCODES_INDEX || undefined);
  return loading;
}

async function load(indexPath: string | undefined): Promise<Hexcodes> {
  try {
    return Hexcodes.from(await readDataFiles(indexPath));
  } catch (error) {
    const isTheirs = error instanceof HexcodesError || (error as NodeJS.ErrnoException).path === indexPath;
    if (indexPath === undefined || !isTheirs) throw error;
    throw new CliFailure(EXIT.BAD_INPUT, `HEXCODES_INDEX=${indexPath}: ${reasonOf(error)}`);
  }
}
