// Ctrl-C and SIGTERM of commands that run until they are stopped: the first is an order to stop, a second ends the
// process.
import { EXIT } from '../../files/exit-codes.js';

const NAMES = ['SIGINT', 'SIGTERM'] as const;

export class StopSignal {
  readonly #controller = new AbortController();
  readonly #listener = (signal: NodeJS.Signals): void => {
    if (this.signal.aborted) process.exit(signal === 'SIGINT' ? EXIT.INTERRUPTED : EXIT.TERMINATED);
    this.#controller.abort();
  };

  constructor() {
    for (const name of NAMES) process.on(name, this.#listener);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Calls it now if the order has come already. */
  onStop(stop: () => void): void {
    if (this.signal.aborted) stop();
    else this.signal.addEventListener('abort', stop, { once: true });
  }

  end(): void {
    for (const name of NAMES) process.off(name, this.#listener);
  }
}
