// The connections of one abuser: each sends an opening and then the same bytes again and again, as fast as the socket
// takes them or at a rate, and connects again when it is cut. Connections that hold send their opening and wait.
import { connect, type Socket } from 'node:net';

const RECONNECT_MS = 10;
/** How often a connection with a rate sends. */
const TICK_MS = 50;

export interface Abuse {
  readonly connections: number;
  readonly opening?: Uint8Array | string;
  /** Sent once after the opening. */
  readonly held?: Uint8Array;
  /** Absent where the connection only holds what it has opened. */
  readonly repeated?: Uint8Array;
  readonly reads: boolean;
  /** `repeated` is sent again when its answer has come: a number of its bytes, or the last chunk of a chunked one. */
  readonly inTurn?: number | 'last chunk';
  /** Between an answer and the next `repeated`. */
  readonly pauseMs?: number;
  /** Rate of each connection; absent: as fast as the socket takes it. */
  readonly bytesPerSec?: number;
  /** Bytes after which each connection ends its sending and holds. */
  readonly maxBytes?: number;
}

export class Sender {
  sentBytes = 0;
  receivedBytes = 0;
  /** Connections that the server ended. */
  cuts = 0;
  #isStopped = false;
  readonly #sockets = new Set<Socket>();

  constructor(
    private readonly port: number,
    private readonly abuse: Abuse,
  ) {
    for (let i = 0; i < abuse.connections; i++) this.#connect();
  }

  stop(): void {
    this.#isStopped = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  #connect(): void {
    if (this.#isStopped) return;
    const { opening = '', held, reads, repeated, inTurn, pauseMs = 0 } = this.abuse;
    const isWebSocket = Buffer.from(opening as string).includes('Upgrade: websocket');
    const socket = connect({ port: this.port, host: '127.0.0.1', noDelay: true });
    let isOpen = false;
    let answeredBytes = 0;
    this.#sockets.add(socket);
    let hasBegun = false;
    const begin = (): void => {
      hasBegun = true;
      if (held !== undefined) this.#write(socket, held);
      if (repeated === undefined) return;
      if (inTurn !== undefined) this.#write(socket, repeated);
      else if (this.abuse.bytesPerSec === undefined) this.#flood(socket, repeated);
      else this.#pace(socket, repeated, this.abuse.bytesPerSec);
    };
    socket.on('connect', () => {
      isOpen = true;
      if (opening.length > 0) this.#write(socket, opening);
      if (!isWebSocket) begin();
    });
    socket.on('data', (bytes) => {
      this.receivedBytes += bytes.length;
      if (!hasBegun) {
        // A stream begins with the server's ready frame.
        begin();
        return;
      }
      if (inTurn === undefined || repeated === undefined) return;
      answeredBytes += bytes.length;
      const isAnswered =
        inTurn === 'last chunk' ? bytes.toString('latin1').endsWith('0\r\n\r\n') : answeredBytes >= inTurn;
      if (!isAnswered) return;
      answeredBytes = 0;
      setTimeout(() => socket.destroyed || this.#write(socket, repeated), pauseMs);
    });
    if (!reads) socket.pause();
    socket.on('error', () => {});
    socket.on('close', () => {
      this.#sockets.delete(socket);
      if (this.#isStopped) return;
      if (isOpen) this.cuts++;
      setTimeout(() => this.#connect(), RECONNECT_MS);
    });
  }

  #write(socket: Socket, bytes: Uint8Array | string): boolean {
    this.sentBytes += bytes.length;
    return socket.write(bytes);
  }

  #flood(socket: Socket, repeated: Uint8Array): void {
    let leftBytes = this.abuse.maxBytes ?? Number.POSITIVE_INFINITY;
    const more = (): void => {
      // One write a turn, so that this process reads its own sockets meanwhile.
      if (socket.destroyed || leftBytes <= 0) return;
      leftBytes -= repeated.length;
      if (this.#write(socket, repeated)) setImmediate(more);
      else socket.once('drain', more);
    };
    more();
  }

  #pace(socket: Socket, repeated: Uint8Array, bytesPerSec: number): void {
    const startMs = performance.now();
    let paced = 0;
    const timer = setInterval(() => {
      if (socket.destroyed) {
        clearInterval(timer);
        return;
      }
      const allowed = ((performance.now() - startMs) / 1000) * bytesPerSec;
      while (paced < allowed && socket.writableLength < repeated.length) {
        paced += repeated.length;
        this.#write(socket, repeated);
      }
    }, TICK_MS);
  }
}
