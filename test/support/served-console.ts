// The page with its service and a browser, for the tests of one describe block.
import type { Browser, BrowserContextOptions } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import { type ConsolePage, openBrowser, openConsole } from './console-page.js';
import { ServerProcess } from './server-process.js';

export class ServedConsole {
  #server: ServerProcess | undefined;
  #browser: Browser | undefined;

  /**
   * Registers the hooks that start and end both, before those that the block registers later.
   * @param hasWebGl false: the map cannot be drawn
   */
  constructor(hasWebGl = true) {
    beforeAll(async () => {
      this.#server = await ServerProcess.start({ isQuiet: true });
      this.#browser = await openBrowser(hasWebGl);
    });
    afterAll(async () => {
      await this.#browser?.close();
      await this.#server?.kill();
    });
  }

  get browser(): Browser {
    return this.#browser!;
  }

  get port(): number {
    return this.#server!.port;
  }

  get address(): string {
    return `http://127.0.0.1:${this.port}/`;
  }

  /** @param hash of the address, with its `#` */
  open(options?: BrowserContextOptions, hash?: string): Promise<ConsolePage> {
    return openConsole(this.browser, this.port, options, hash);
  }
}
