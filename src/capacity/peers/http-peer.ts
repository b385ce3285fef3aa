// A kept connection that sends HTTP requests. Where more than one may be unanswered they are pipelined.
import { Connection, type Exchange, SocketPeer } from './socket-peer.js';

// HTTP/1.1 answers out of the bytes of a connection, with Content-Length or in chunks. Bodies are kept only where
// somebody wants to see them: the generator has to be faster than the server that it measures.
const HEAD_END = Buffer.from('\r\n\r\n');
const LINE_END = Buffer.from('\r\n');

type State = 'head' | 'body' | 'chunk-size' | 'chunk' | 'chunk-end' | 'trailer';

export class HttpAnswers {
  #state: State = 'head';
  #held: Buffer | null = null;
  #left = 0;
  #status = 0;
  #parts: Buffer[] | null = null;

  /**
   * @param wantsBody asked once an answer, when its head has come
   * @param onAnswer called at the end of each answer, with the body where it was wanted
   */
  constructor(
    private readonly wantsBody: () => boolean,
    private readonly onAnswer: (status: number, body: Buffer | null) => void,
  ) {}

  /** @throws Error where the bytes are not an HTTP answer */
  push(bytes: Buffer): void {
    const data = this.#held === null ? bytes : Buffer.concat([this.#held, bytes]);
    this.#held = null;
    let at = 0;
    while (at < data.length) {
      const next = this.#step(data, at);
      if (next === -1) {
        this.#held = Buffer.from(data.subarray(at));
        return;
      }
      at = next;
    }
  }

  /** @returns where the next step begins; -1 where this one needs more bytes */
  #step(data: Buffer, at: number): number {
    switch (this.#state) {
      case 'head':
        return this.#head(data, at);
      case 'body':
      case 'chunk':
        return this.#take(data, at);
      case 'chunk-size': {
        const end = data.indexOf(LINE_END, at);
        if (end === -1) return -1;
        this.#left = Number.parseInt(data.toString('latin1', at, end), 16);
        if (Number.isNaN(this.#left)) throw new Error('a chunk without a size');
        this.#state = this.#left === 0 ? 'trailer' : 'chunk';
        return end + 2;
      }
      case 'chunk-end':
        if (data.length < at + 2) return -1;
        this.#state = 'chunk-size';
        return at + 2;
      case 'trailer':
        if (data.length < at + 2) return -1;
        this.#finish();
        return at + 2;
    }
  }

  #head(data: Buffer, at: number): number {
    const end = data.indexOf(HEAD_END, at);
    if (end === -1) return -1;
    const head = data.toString('latin1', at, end + 2);
    this.#status = Number(head.slice(9, 12));
    if (!head.startsWith('HTTP/1.1 ') || !(this.#status >= 100))
      throw new Error(`no HTTP answer: ${head.slice(0, 60)}`);
    this.#parts = this.#status !== 200 || this.wantsBody() ? [] : null;
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
    if (length === undefined) {
      if (!/\r\ntransfer-encoding: *chunked/i.test(head)) throw new Error('an answer without a length');
      this.#state = 'chunk-size';
    } else {
      this.#left = Number(length);
      this.#state = 'body';
      if (this.#left === 0) this.#finish();
    }
    return end + 4;
  }

  #take(data: Buffer, at: number): number {
    const end = Math.min(data.length, at + this.#left);
    this.#parts?.push(Buffer.from(data.subarray(at, end)));
    this.#left -= end - at;
    if (this.#left === 0) {
      if (this.#state === 'chunk') this.#state = 'chunk-end';
      else this.#finish();
    }
    return end;
  }

  #finish(): void {
    this.#state = 'head';
    const body = this.#parts === null ? null : Buffer.concat(this.#parts);
    this.#parts = null;
    this.onAnswer(this.#status, body);
  }
}

/** The server has too much to do, or the key too many requests. */
const REFUSALS = [429, 503];

export class HttpPeer extends SocketPeer {
  readonly #answers = new HttpAnswers(
    () => this.oldest?.isSampled === true,
    (status, body) => this.#end(status, body),
  );

  private constructor(connection: Connection, exchanges: readonly Exchange[], maxUnanswered: number) {
    super(connection, exchanges, maxUnanswered);
  }

  static async open(base: URL, exchanges: readonly Exchange[], maxUnanswered: number): Promise<HttpPeer> {
    return new HttpPeer(await Connection.open(base), exchanges, maxUnanswered);
  }

  protected override push(bytes: Buffer): void {
    this.#answers.push(bytes);
  }

  #end(status: number, body: Buffer | null): void {
    if (status === 200) this.answered('ok', body);
    else if (REFUSALS.includes(status)) this.answered('refused', null);
    else this.fault(`the server answers ${status}: ${body?.toString('utf8', 0, 300)}`);
  }
}
