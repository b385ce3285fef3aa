// A kept connection that sends HTTP requests. Where more than one may be unanswered they are pipelined.
import { Connection } from './connection.js';
import { HttpAnswers } from './http-answers.js';
import type { Exchange } from './peer.js';
import { SocketPeer } from './socket-peer.js';

/** The server has too much to do, or the key too many requests. */
const REFUSALS = [429, 503];

export class HttpPeer extends SocketPeer {
  readonly #answers = new HttpAnswers(
    () => this.oldest?.isSampled === true,
    (status, body) => this.#end(status, body),
  );

  private constructor(connection: Connection, exchanges: readonly Exchange[], mostUnanswered: number) {
    super(connection, exchanges, mostUnanswered);
  }

  static async open(base: URL, exchanges: readonly Exchange[], mostUnanswered: number): Promise<HttpPeer> {
    return new HttpPeer(await Connection.open(base), exchanges, mostUnanswered);
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
