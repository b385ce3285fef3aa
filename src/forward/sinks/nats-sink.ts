// A sink on NATS JetStream: each position is a message, under its id, so that the server drops a second one of the same within
// the duplicate window of its stream.
import type { Publisher } from '../../engine/nats/publisher.js';
import { rowsOf, type Sink } from './sink.js';

export class NatsSink implements Sink {
  #publisher: Promise<Publisher> | undefined;

  constructor(
    readonly name: string,
    private readonly open: () => Promise<Publisher>,
  ) {}

  async deliver(lines: Buffer): Promise<void> {
    this.#publisher ??= this.open();
    const publisher = await this.#publisher.catch((error: Error) => {
      this.#publisher = undefined;
      throw error;
    });
    await publisher.publish(
      rowsOf(lines).map((row) => ({ id: row.id, bytes: Buffer.from(JSON.stringify(row)) })),
    );
  }

  async close(): Promise<void> {
    await this.#publisher?.then((publisher) => publisher.close()).catch(() => {});
  }
}
