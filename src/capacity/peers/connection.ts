// A TCP or TLS connection of the generator, with what it reads in one buffer for all of them: a buffer for each read
// would be garbage, and collecting it delays the starts of requests.
import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

const CONNECT_TIMEOUT_MS = 10_000;
const READ_BUFFER = Buffer.allocUnsafeSlow(128 * 1024);

export class Connection {
  /** Called with bytes that hold until it returns. */
  onBytes: (bytes: Buffer) => void = () => {};

  private constructor(base: URL) {
    const isTls = base.protocol === 'https:';
    const port = Number(base.port || (isTls ? 443 : 80));
    const host = base.hostname.replace(/^\[|\]$/g, '');
    const callback = (sizeBytes: number): boolean => {
      this.onBytes(READ_BUFFER.subarray(0, sizeBytes));
      return true;
    };
    this.socket = isTls
      ? connectTls({ host, port, servername: host }).on('data', (bytes: Buffer) => this.onBytes(bytes))
      : connectTcp({ host, port, onread: { buffer: READ_BUFFER, callback } });
    this.socket.once(isTls ? 'secureConnect' : 'connect', () => this.socket.setNoDelay(true));
  }

  readonly socket: Socket;

  /** To the host of an `http:` or `https:` address. */
  static open(base: URL): Promise<Connection> {
    const connection = new Connection(base);
    const { socket } = connection;
    return new Promise((resolve, reject) => {
      const fail = (error: Error) => {
        socket.destroy();
        reject(new Error(`${base.host} cannot be reached: ${error.message}`));
      };
      socket.setTimeout(CONNECT_TIMEOUT_MS, () => fail(new Error('no answer')));
      socket.once('error', fail);
      socket.once(base.protocol === 'https:' ? 'secureConnect' : 'connect', () => {
        socket.setTimeout(0);
        socket.off('error', fail);
        resolve(connection);
      });
    });
  }
}
