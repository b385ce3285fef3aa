// An output that takes bytes as they come: a device, a FIFO, or a descriptor that the shell has opened, like the
// /dev/fd/63 of `>(gzip)`. It has no partial file: bytes that are written are gone.

import { closeSync, constants, fstatSync, openSync, writeSync } from 'node:fs';
import { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { badOutput } from '../file-faults.js';
import type { Destination } from './destination.js';
import type { Output } from './output.js';

/** Until a descriptor that takes no bytes now is tried again. */
const RETRY_MS = 5;

export class DeviceOutput implements Output {
  readonly name: string;
  readonly holdsBytes = false;
  readonly #file: number;
  readonly #isOwn: boolean;
  /** Pipes are written by the event loop: a reader that rests must not stop Ctrl-C. */
  readonly #pipe: Socket | null;

  constructor(destination: Exclude<Destination, { kind: 'file' }>) {
    this.name = destination.name;
    this.#isOwn = destination.kind === 'device';
    try {
      this.#file =
        destination.kind === 'device'
          ? openSync(destination.path, constants.O_WRONLY | (constants.O_NOCTTY ?? 0))
          : destination.descriptor;
      const stat = fstatSync(this.#file);
      const isPipe = stat.isFIFO() || stat.isSocket();
      this.#pipe = isPipe ? new Socket({ fd: this.#file, readable: false, writable: true }) : null;
    } catch (error) {
      throw badOutput(this.name, error);
    }
    // The write that failed tells its error too.
    this.#pipe?.on('error', () => undefined);
  }

  async write(bytes: Uint8Array): Promise<void> {
    try {
      if (this.#pipe === null) await this.#writeSync(bytes);
      else await this.#writePipe(this.#pipe, bytes);
    } catch (error) {
      throw badOutput(this.name, error);
    }
  }

  #writePipe(pipe: Socket, bytes: Uint8Array): Promise<void> {
    return new Promise((resolve, reject) => {
      pipe.write(bytes, (error) => (error ? reject(error) : resolve()));
    });
  }

  async #writeSync(bytes: Uint8Array): Promise<void> {
    for (let done = 0; done < bytes.length; ) {
      try {
        done += writeSync(this.#file, bytes, done);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
        await delay(RETRY_MS);
      }
    }
  }

  async finish(): Promise<void> {
    const pipe = this.#pipe;
    if (pipe !== null) await new Promise<void>((resolve) => pipe.end(resolve));
    else if (this.#isOwn) closeSync(this.#file);
  }

  abandon(): void {
    if (this.#pipe !== null) this.#pipe.destroy();
    else if (this.#isOwn) closeSync(this.#file);
  }
}
