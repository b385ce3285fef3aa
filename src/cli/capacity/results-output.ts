// Where `hexcodes bench --json` writes: proved to be writable before minutes of measuring, written at their end. An
// existing file keeps its content until the new one is whole, and an interrupted bench leaves no new file.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseResults, type Results } from '../../capacity/measure/results.js';
import { destinationOf, type FileDestination } from '../../files/disk/destination.js';
import { FileOutput } from '../../files/disk/file-output.js';
import { DeviceOutput, type Output, StandardOutput } from '../../files/disk/output.js';
import { CliFailure, EXIT, reasonOf } from '../../files/exit-codes.js';

// Reads a file of results of `hexcodes bench`, or the one that ships with the package.
const SHIPPED = fileURLToPath(new URL('../../../data/capacity.json', import.meta.url));

/** @param path undefined: the shipped one */
export function readResultsFile(path: string | undefined): Results {
  try {
    return parseResults(readFileSync(path ?? SHIPPED, 'utf8'));
  } catch (error) {
    throw new CliFailure(EXIT.BAD_INPUT, `${path ?? SHIPPED}: ${reasonOf(error)}`);
  }
}

export class ResultsOutput {
  /** Whether the results go to standard output, and messages for people have to go elsewhere. */
  readonly isStandardOutput: boolean;
  readonly #open: () => Output;

  /**
   * @param path `-` is standard output
   * @throws CliFailure BAD_OUTPUT where it cannot be written
   */
  constructor(path: string) {
    const destination = destinationOf(path);
    const descriptor = destination.kind === 'descriptor' ? destination.descriptor : undefined;
    this.isStandardOutput = descriptor === 1;
    if (descriptor === 1) this.#open = () => new StandardOutput(destination.name, process.stdout);
    else if (descriptor === 2) this.#open = () => new StandardOutput(destination.name, process.stderr);
    else if (destination.kind === 'file') {
      unfinished(destination).abandon();
      this.#open = () => unfinished(destination);
    } else {
      const device = new DeviceOutput(destination);
      this.#open = () => device;
    }
  }

  /** Writes the results; called once. @throws CliFailure BAD_OUTPUT */
  async write(text: string): Promise<void> {
    const output = this.#open();
    try {
      await output.write(Buffer.from(text));
      await output.finish();
    } catch (error) {
      output.abandon();
      throw error;
    }
  }
}

const unfinished = (destination: FileDestination): FileOutput => new FileOutput(destination, false);
