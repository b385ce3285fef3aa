// Makes uncorked writes possible: large ones must not go through uWS's cork, which may lose a part of them (README
// U20), but uWS prints a warning for each write while no response is corked. Any response will do (README U21). So the
// process opens a connection to itself with a request that is never answered, and corks that response while it writes
// to others.
import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import type { Uws, UwsApp, UwsResponse } from './load-uws.js';

const HOST = '127.0.0.1';
const OPEN_TIMEOUT_MS = 2000;

export class CorkHolder {
  #app: UwsApp | undefined;
  #client: Socket | undefined;
  #res: UwsResponse | undefined;

  /** False before `open`, after `close`, and if the connection could not be made or is lost. */
  get isOpen(): boolean {
    return this.#res !== undefined;
  }

  /**
   * Makes the connection, over a port of 127.0.0.1 that is closed again once the connection is made or has failed.
   * Never rejects, and resolves within OPEN_TIMEOUT_MS: answers can do without it.
   */
  async open(uws: Uws): Promise<void> {
    const path = `/${randomBytes(16).toString('hex')}`;
    const app = uws.App();
    this.#app = app;
    await new Promise<void>((resolve) => {
      app.listen(HOST, 0, uws.LIBUS_LISTEN_EXCLUSIVE_PORT, (listener) => {
        if (listener === false) {
          resolve();
          return;
        }
        let isDone = false;
        const done = (): void => {
          if (isDone) return;
          isDone = true;
          clearTimeout(timer);
          // Not earlier: closing the port closes connections that are not accepted yet.
          uws.us_listen_socket_close(listener);
          resolve();
        };
        const timer = setTimeout(done, OPEN_TIMEOUT_MS);
        app.get(path, (res) => {
          res.onAborted(() => {
            this.#res = undefined;
          });
          this.#res = res;
          done();
        });
        const client = connect(uws.us_socket_local_port(listener), HOST);
        this.#client = client;
        client.unref();
        client.on('connect', () => client.write(`GET ${path} HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`));
        client.on('error', done);
      });
    });
  }

  /** Runs `work`, in which writes to other responses are uncorked. Only while open, and never in a uWS callback. */
  runUncorked(work: () => void): void {
    if (this.#res === undefined) throw new Error('there is no connection whose response could be corked');
    this.#res.cork(work);
  }

  close(): void {
    this.#res = undefined;
    this.#client?.destroy();
    this.#app?.close();
    this.#app = undefined;
  }
}
