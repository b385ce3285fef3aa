// uWebSockets.js without our adapter, for the tests of what it does by itself (src/server/transport/README.md).
import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { loadUws } from '#dist/server/transport/load-uws.js';

/** The build that serves here is uws-pack 20.0.8, of 2024. In the other, 20.57.0 of 2026, some facts are different. */
export const isUwsPack = (await loadUws()).build.name === 'uws-pack';

type Uws = Awaited<ReturnType<typeof loadUws>>['uws'];
type UwsApp = ReturnType<Uws['App']>;

export interface BareUws {
  readonly uws: Uws;
  readonly port: number;
  close(): void;
}

/** An app with these routes, on a free port of 127.0.0.1. */
export async function openBareUws(addRoutes: (app: UwsApp, uws: Uws) => void): Promise<BareUws> {
  const { uws } = await loadUws();
  const app = uws.App();
  addRoutes(app, uws);
  const port = await new Promise<number>((resolve, reject) => {
    app.listen('127.0.0.1', 0, uws.LIBUS_LISTEN_EXCLUSIVE_PORT, (listener) => {
      if (listener === false) reject(new Error('no port'));
      else resolve(uws.us_socket_local_port(listener));
    });
  });
  return { uws, port, close: () => void app.close() };
}

/** A client that counts what it reads, and reads only while it is not paused. */
export class CountingClient {
  receivedBytes = 0;
  isClosed = false;
  /** The bytes received last. */
  tail = '';

  private constructor(readonly socket: Socket) {
    socket.on('data', (bytes: Buffer) => {
      this.receivedBytes += bytes.length;
      this.tail = (this.tail + bytes.toString('latin1')).slice(-256);
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      this.isClosed = true;
    });
  }

  static async connect(port: number, request: string): Promise<CountingClient> {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    const client = new CountingClient(socket);
    socket.write(request);
    return client;
  }

  /** Resolves when nothing was received for that time. */
  async untilIdle(idleMs = 150): Promise<void> {
    for (let before = -1; before !== this.receivedBytes; ) {
      before = this.receivedBytes;
      await new Promise((resolve) => setTimeout(resolve, idleMs));
    }
  }
}

/**
 * Runs a script in a process of its own, where it has `uws`, an `app`, and `listen(work)`, which calls `work` with the
 * port. The script ends with `finish(result)`, which is printed; if it does not, the process ends after ten seconds.
 */
export function runAlone(script: string): SpawnSyncReturns<string> {
  const prelude = `
    import { connect } from 'node:net';
    import { loadUws } from '#dist/server/transport/load-uws.js';
    process.on('uncaughtException', (error) => console.log('caught ' + error.message));
    const finish = (result) => { console.log(result); process.exit(0); };
    setTimeout(finish, 10_000, 'no result');
    const { uws } = await loadUws();
    const app = uws.App();
    const listen = (work) => app.listen('127.0.0.1', 0, 1, (socket) => work(uws.us_socket_local_port(socket)));
  `;
  return spawnSync(process.execPath, ['--input-type=module', '-e', prelude + script], { encoding: 'utf8' });
}
