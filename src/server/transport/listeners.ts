// The ports on which an adapter listens.
import type { ListenSocket, Uws, UwsApp } from './uws.js';

export class Listeners {
  readonly #uws: Uws;
  readonly #app: UwsApp;
  readonly #sockets: ListenSocket[] = [];

  constructor(uws: Uws, app: UwsApp) {
    this.#uws = uws;
    this.#app = app;
  }

  /**
   * Resolves to the number of the port (0: any free one); rejects, without a reason, if it cannot. Not `exclusive`:
   * other processes may listen on it as well (README U5).
   */
  open(host: string, port: number, exclusive: boolean): Promise<number> {
    const options = exclusive ? this.#uws.LIBUS_LISTEN_EXCLUSIVE_PORT : 0;
    return new Promise((resolve, reject) => {
      this.#app.listen(host, port, options, (socket) => {
        if (socket === false) {
          reject(new Error(`cannot listen on ${host}:${port}`));
          return;
        }
        this.#sockets.push(socket);
        resolve(this.#uws.us_socket_local_port(socket));
      });
    });
  }

  closeAll(): void {
    for (const socket of this.#sockets.splice(0)) this.#uws.us_listen_socket_close(socket);
  }
}
