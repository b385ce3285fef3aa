// Connections of peers that show no key, on real sockets: many of one address, that ask now and then, or never.
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

const REQUEST = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';

export class KeylessPeers {
  readonly sockets: Socket[] = [];
  readonly #timers = new Set<NodeJS.Timeout>();
  #isOver = false;

  /** @param from the address of the peers, of 127.0.0.0/8 */
  constructor(
    private readonly port: number,
    private readonly from = '127.0.0.1',
  ) {}

  /** Opens connections; resolves when all are connected. A closed one is not opened again, unless `isStubborn`. */
  async open(count: number, askEveryMs?: number, isStubborn = false): Promise<void> {
    const connecting = Array.from({ length: count }, () => this.#one(askEveryMs, isStubborn));
    await Promise.all(connecting);
  }

  /** Peers whose connections are open. */
  get openCount(): number {
    return this.sockets.filter((socket) => !socket.destroyed).length;
  }

  #one(askEveryMs: number | undefined, isStubborn: boolean): Promise<void> {
    return new Promise((resolve) => {
      const socket = connect({ port: this.port, host: '127.0.0.1', localAddress: this.from });
      this.sockets.push(socket);
      socket.on('error', () => {});
      socket.resume();
      socket.once('connect', () => {
        resolve();
        if (askEveryMs === undefined) return;
        socket.write(REQUEST);
        const timer = setInterval(() => socket.write(REQUEST), askEveryMs);
        this.#timers.add(timer);
        socket.once('close', () => clearInterval(timer));
      });
      socket.once('close', () => {
        resolve();
        if (isStubborn && !this.#isOver)
          void sleep(50).then(() => (this.#isOver ? undefined : this.#one(askEveryMs, true)));
      });
    });
  }

  close(): void {
    this.#isOver = true;
    for (const timer of this.#timers) clearInterval(timer);
    for (const socket of this.sockets) socket.destroy();
  }
}
