// Lets answers write past the binary's cork. Within it, a write that does not fit the 16 KiB ends the cork: the binary sends
// what is in it, were it only the head of the chunk, and if the socket has no room for that, it drops the rest in silence.
// Past the cork whatever the socket does not take is kept. But there the binary complains on standard error of every
// write that is not made within a cork, and any cork will do, also that of another response. So this process holds a
// connection to itself, with a request that is never answered, whose response lends its cork.
import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import type { Uws, UwsApp, UwsResponse } from './uws.js';

const HOST = '127.0.0.1';
const OPEN_TIMEOUT_MS = 2000;

export class CorkHolder {
  #app: UwsApp | undefined;
  #client: Socket | undefined;
  #res: UwsResponse | undefined;

  /** False before `open`, after `close`, and where there is no connection to ourselves to be had. */
  get isOpen(): boolean {
    return this.#res !== undefined;
  }

  /**
   * Connects, by a port of 127.0.0.1 that is closed again as soon as the connection stands or has failed. Always resolves,
   * after two seconds at the latest, as answers can do without.
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
          // Not before: a connection that is not accepted yet would be closed with the port.
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

  /**
   * Runs `work`, in which writes to other responses go past the cork. Only while open, and outside of every callback of the
   * binary.
   */
  runUncorked(work: () => void): void {
    if (this.#res === undefined) throw new Error('the connection that lends its cork is gone');
    this.#res.cork(work);
  }

  close(): void {
    this.#res = undefined;
    this.#client?.destroy();
    this.#app?.close();
    this.#app = undefined;
  }
}
