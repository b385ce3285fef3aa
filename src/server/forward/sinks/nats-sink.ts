// A sink on NATS JetStream: each position is a message, under its id, so that the server drops a second one of the same
// within the duplicate window of its stream.
import type { Publisher } from '../../../bus/bus.js';
import { eachRow, type Sink } from './sink.js';

export class NatsSink implements Sink {
  #publisher: Promise<Publisher> | undefined;

  constructor(
    readonly name: string,
    private readonly open: () => Promise<Publisher>,
  ) {}

  async deliver(lines: Buffer): Promise<void> {
    const publisher = await this.#opened();
    const messages: { id: string; bytes: Uint8Array }[] = [];
    await eachRow(lines, ({ id }, bytes) => messages.push({ id, bytes }));
    await publisher.publish(messages);
  }

  /** @returns a publisher that is not closed: two refusals of its credentials in a row close one for good */
  async #opened(): Promise<Publisher> {
    if ((await this.#publisher)?.isClosed()) this.#publisher = undefined;
    this.#publisher ??= this.open().catch((error: Error) => {
      this.#publisher = undefined;
      throw error;
    });
    return this.#publisher;
  }

  async close(): Promise<void> {
    await this.#publisher?.then((publisher) => publisher.close()).catch(() => {});
  }
}
