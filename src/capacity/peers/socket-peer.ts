// The part of a connection that HTTP and WebSocket share: the socket, the requests in their order, and faults.
import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { Exchange, Outcome, Peer, Sent } from './peer.js';

const CONNECT_TIMEOUT_MS = 10_000;

/** Opens a socket to the host of an `http:` or `https:` address. */
export function openSocket(base: URL): Promise<Socket> {
  const isTls = base.protocol === 'https:';
  const port = Number(base.port || (isTls ? 443 : 80));
  const host = base.hostname.replace(/^\[|\]$/g, '');
  return new Promise((resolve, reject) => {
    const socket = isTls ? connectTls({ host, port, servername: host }) : connectTcp({ host, port });
    const fail = (error: Error) => {
      socket.destroy();
      reject(new Error(`${base.host} cannot be reached: ${error.message}`));
    };
    socket.setTimeout(CONNECT_TIMEOUT_MS, () => fail(new Error('no answer')));
    socket.once('error', fail);
    socket.once(isTls ? 'secureConnect' : 'connect', () => {
      socket.setTimeout(0);
      socket.off('error', fail);
      socket.setNoDelay(true);
      resolve(socket);
    });
  });
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
    private readonly socket: Socket,
    protected readonly exchanges: readonly Exchange[],
    readonly mostUnanswered: number,
  ) {
    socket.on('data', (bytes: Buffer) => this.#read(bytes));
    socket.on('error', (error) => this.fault(error.message));
    socket.on('close', () =>
      this.fault(`the server closed a connection with ${this.unanswered} requests unanswered`),
    );
  }

  get unanswered(): number {
    return this.#sent.length - this.#first;
  }

  get sentBytes(): number {
    return this.socket.bytesWritten;
  }

  get receivedBytes(): number {
    return this.socket.bytesRead;
  }

  send(sent: Sent): void {
    this.#sent.push(sent);
    this.socket.write(this.exchanges[sent.exchange]!.request);
  }

  close(): void {
    this.#isClosed = true;
    this.socket.destroy();
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
