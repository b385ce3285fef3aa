// Files for rows that memory does not hold, in a folder of their own below TMPDIR, which the run removes when it
// ends, also by Ctrl-C or SIGTERM. SIGKILL and a second Ctrl-C leave it.

import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CliFailure, EXIT, reasonOf } from '../exit-codes.js';

export class SpillFolder {
  #folder: string | undefined;
  #made = 0;
  /** Paths by descriptor. */
  readonly #open = new Map<number, string>();

  /**
   * @param name prefix of the folder's name
   * @param what is written, for messages
   */
  constructor(
    private readonly name: string,
    private readonly what: string,
  ) {}

  /**
   * Creates a file.
   * @returns its descriptor, for writing and reading
   * @throws CliFailure BAD_OUTPUT
   */
  create(): number {
    return this.#guarded('write', () => {
      this.#folder ??= mkdtempSync(join(tmpdir(), `${this.name}-`));
      const path = join(this.#folder, `${this.#made++}`);
      const descriptor = openSync(path, 'wx+', 0o600);
      this.#open.set(descriptor, path);
      return descriptor;
    });
  }

  /** Adds bytes to a file. @throws CliFailure BAD_OUTPUT */
  write(descriptor: number, bytes: Uint8Array): void {
    this.#guarded('write', () => {
      for (let done = 0; done < bytes.length; ) done += writeSync(descriptor, bytes, done);
    });
  }

  /**
   * Fills bytes from an offset of a file on.
   * @returns the number of bytes: fewer at its end
   * @throws CliFailure BAD_OUTPUT
   */
  read(descriptor: number, bytes: Uint8Array, offset: number): number {
    return this.#guarded('read', () => {
      let done = 0;
      while (done < bytes.length) {
        const count = readSync(descriptor, bytes, done, bytes.length - done, offset + done);
        if (count === 0) break;
        done += count;
      }
      return done;
    });
  }

  /** Removes one file. */
  drop(descriptor: number): void {
    closeSync(descriptor);
    rmSync(this.#open.get(descriptor)!, { force: true });
    this.#open.delete(descriptor);
  }

  /** Removes all. */
  remove(): void {
    for (const descriptor of this.#open.keys()) closeSync(descriptor);
    this.#open.clear();
    if (this.#folder !== undefined) rmSync(this.#folder, { recursive: true, force: true });
    this.#folder = undefined;
  }

  #guarded<T>(verb: 'write' | 'read', act: () => T): T {
    try {
      return act();
    } catch (error) {
      const where = `${verb === 'write' ? 'to' : 'from'} ${this.#folder ?? tmpdir()}`;
      throw new CliFailure(
        EXIT.BAD_OUTPUT,
        `cannot ${verb} ${this.what} ${where}: ${reasonOf(error)}`,
        `TMPDIR names another folder; --memory leaves more ${this.what} in memory.`,
      );
    }
  }
}

// A stable radix sort of indexes by numbers, with digits of 16 bits, from the lowest to the highest.

const DIGITS = 65_536;

/**
 * Sorts indexes by one digit of their words, stably.
 * @param order by the lower digits
 * @param shift 0 or 16
 * @returns `order` itself where all digits are equal
 */
export function sortedByDigit(
  order: Uint32Array<ArrayBuffer>,
  words: Uint32Array,
  shift: number,
): Uint32Array<ArrayBuffer> {
  const counts = new Uint32Array(DIGITS);
  for (let i = 0; i < order.length; i++) counts[(words[order[i]!]! >>> shift) & 0xffff]!++;
  let sum = 0;
  for (let digit = 0; digit < counts.length; digit++) {
    const count = counts[digit]!;
    if (count === order.length) return order;
    counts[digit] = sum;
    sum += count;
  }
  const sorted = new Uint32Array(order.length);
  for (let i = 0; i < order.length; i++) {
    const index = order[i]!;
    sorted[counts[(words[index]! >>> shift) & 0xffff]!++] = index;
  }
  return sorted;
}
