// The part of a connection that HTTP and WebSocket share: the socket, the requests in their order, and faults.
import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

// One connection of the generator, as its loops see it, whatever protocol it speaks.
/** A request that was sent and is not answered yet. Times are those of the clock of the loop. */
export interface Sent {
  /** Which of the prepared exchanges. */
  readonly exchange: number;
  readonly intendedMs: number;
  readonly sentMs: number;
  /** Whether the whole answer is compared with what the library says. */
  readonly isSampled: boolean;
}

/**
 * 'ok', or 'refused' where the server says that it has too much to do. A wrong answer is a fault of the peer instead.
 */
export type Outcome = 'ok' | 'refused';

export interface Peer {
  /** Requests without an answer. */
  readonly unanswered: number;
  /** The most of them that the protocol or the job allows. */
  readonly maxUnanswered: number;
  /** Answers so far. */
  readonly answers: number;
  readonly sentBytes: number;
  readonly receivedBytes: number;
  send(sent: Sent): void;
  onAnswer: (sent: Sent, outcome: Outcome) => void;
  /** Called once: a wrong answer, or a connection that ended. */
  onFault: (reason: string) => void;
  close(): void;
}

/** A request made beforehand, and the judgement of its answer. */
export interface Exchange {
  /** Everything that is written. */
  readonly request: Buffer;
  /** @returns the reason why this is not the answer that the library gives; undefined where it is */
  fault(body: Buffer): string | undefined;
}

const CONNECT_TIMEOUT_MS = 10_000;
const READ_BUFFER = Buffer.allocUnsafeSlow(128 * 1024);

export class Connection {
  /** Called with bytes that are valid until it returns. */
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

export abstract class SocketPeer implements Peer {
  onAnswer: (sent: Sent, outcome: Outcome) => void = () => {};
  onFault: (reason: string) => void = () => {};
  answers = 0;
  /** In the order of their answers; those before `#first` are answered. */
  #sent: Sent[] = [];
  #first = 0;
  #isClosed = false;

  constructor(
    private readonly connection: Connection,
    protected readonly exchanges: readonly Exchange[],
    readonly maxUnanswered: number,
  ) {
    const { socket } = connection;
    connection.onBytes = (bytes) => this.#read(bytes);
    socket.on('error', (error) => this.fault(error.message));
    socket.on('close', () =>
      this.fault(`the server closed a connection with ${this.unanswered} requests unanswered`),
    );
  }

  get unanswered(): number {
    return this.#sent.length - this.#first;
  }

  get sentBytes(): number {
    return this.connection.socket.bytesWritten;
  }

  get receivedBytes(): number {
    return this.connection.socket.bytesRead;
  }

  send(sent: Sent): void {
    this.#sent.push(sent);
    this.connection.socket.write(this.exchanges[sent.exchange]!.request);
  }

  close(): void {
    this.#isClosed = true;
    this.connection.socket.destroy();
  }

  protected abstract push(bytes: Buffer): void;

  protected fault(reason: string): void {
    if (this.#isClosed) return;
    this.close();
    this.onFault(reason);
  }

  /** The oldest request without an answer. */
  protected get oldest(): Sent | undefined {
    return this.#sent[this.#first];
  }

  /** Ends the oldest request. @param body where it is to be judged */
  protected answered(outcome: Outcome, body: Buffer | null): void {
    const sent = this.#sent[this.#first];
    if (sent === undefined) {
      this.fault('an answer came that nothing had asked for');
      return;
    }
    if (++this.#first === this.#sent.length || this.#first >= 1024) {
      this.#sent = this.#sent.slice(this.#first);
      this.#first = 0;
    }
    const fault = body === null || outcome !== 'ok' ? undefined : this.exchanges[sent.exchange]!.fault(body);
    if (fault === undefined) {
      this.answers++;
      this.onAnswer(sent, outcome);
    } else this.fault(`a wrong answer: ${fault}`);
  }

  #read(bytes: Buffer): void {
    try {
      this.push(bytes);
    } catch (error) {
      this.fault((error as Error).message);
    }
  }
}
