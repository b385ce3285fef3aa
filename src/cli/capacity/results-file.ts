// Reads a file of results of `hexcodes bench`, or the one that ships with the package.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseResults, type Results } from '../../capacity/measure/results.js';
import { CliFailure, EXIT } from '../../files/exit-codes.js';
import { reasonOf } from '../../files/file-faults.js';

const SHIPPED = fileURLToPath(new URL('../../../data/capacity.json', import.meta.url));

/** @param path undefined: the shipped one */
export function readResultsFile(path: string | undefined): Results {
  try {
    return parseResults(readFileSync(path ?? SHIPPED, 'utf8'));
  } catch (error) {
    throw new CliFailure(EXIT.BAD_INPUT, `${path ?? SHIPPED}: ${reasonOf(error)}`);
  }
}
