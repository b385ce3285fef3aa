// Publishes messages to one subject of JetStream, in order, with ids of their own: for senders that keep what is not
// stored.
import { jetstream } from '@nats-io/jetstream';
import { type BusSettings, connection } from './connect.js';

export interface Publisher {
  /**
   * Resolves when a stream has all messages. Where it rejects, some may be stored: a server drops those that come again
   * under the same id within the duplicate window of the stream.
   */
  publish(messages: readonly { readonly id: string; readonly bytes: Uint8Array }[]): Promise<void>;
  /** Whether its connection has ended for good, so that it will never publish again. */
  isClosed(): boolean;
  close(): Promise<void>;
}

const PUBLISH_TIMEOUT_MS = 5000;

/** @throws EngineFault where the servers cannot be reached */
export async function openPublisher(settings: BusSettings, subject: string): Promise<Publisher> {
  const nc = await connection(settings, { isPatient: false, say: () => {} });
  const client = jetstream(nc);
  return {
    publish: async (messages) => {
      const stored = await Promise.allSettled(
        messages.map(({ id, bytes }) =>
          client.publish(subject, bytes, { msgID: id, timeout: PUBLISH_TIMEOUT_MS }),
        ),
      );
      const failed = stored.find((each) => each.status === 'rejected');
      if (failed !== undefined) throw failed.reason;
    },
    isClosed: () => nc.isClosed(),
    close: () => nc.close(),
  };
}
