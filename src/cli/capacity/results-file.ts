// Reads a file of results of `hexcodes bench`.
import { readFileSync } from 'node:fs';
import { parseResults, type Results } from '../../capacity/measure/results.js';
import { CliFailure, EXIT } from '../exit-codes.js';
import { reasonOf } from '../file-faults.js';

export function readResultsFile(path: string): Results {
  try {
    return parseResults(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new CliFailure(EXIT.BAD_INPUT, `${path}: ${reasonOf(error)}`);
  }
}
