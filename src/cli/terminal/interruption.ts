// Ctrl-C and SIGTERM: the first asks the run to stop at the next safe place, a second ends it at once.

import { EXIT, type ExitCode } from '../exit-codes.js';

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
