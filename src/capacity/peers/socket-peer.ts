// The part of a connection that HTTP and WebSocket share: the socket, the requests in their order, and faults.
import type { Connection } from './connection.js';
import type { Exchange, Outcome, Peer, Sent } from './peer.js';

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
    readonly mostUnanswered: number,
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
