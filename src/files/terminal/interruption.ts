// Ctrl-C and SIGTERM: the first stops the run at its next tick, a second ends the process at once.

import { EXIT, type ExitCode } from '../exit-codes.js';

/** Catches both signals from its construction to `end()`. */
export class Interruption {
  #signal: 'SIGINT' | 'SIGTERM' | null = null;
  readonly #listener: (signal: NodeJS.Signals) => void;

  constructor() {
    this.#listener = (signal) => {
      if (this.#signal !== null) process.exit(signal === 'SIGINT' ? EXIT.INTERRUPTED : EXIT.TERMINATED);
      this.#signal = signal as 'SIGINT' | 'SIGTERM';
    };
    process.on('SIGINT', this.#listener);
    process.on('SIGTERM', this.#listener);
  }

  get isAsked(): boolean {
    return this.#signal !== null;
  }

  get exitCode(): ExitCode {
    return this.#signal === 'SIGTERM' ? EXIT.TERMINATED : EXIT.INTERRUPTED;
  }

  end(): void {
    process.off('SIGINT', this.#listener);
    process.off('SIGTERM', this.#listener);
  }
}
