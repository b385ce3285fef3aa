// The sink on NATS over publishers that are opened, refuse, and are closed for good. Files and HTTP: test/e2e/forward.
import { expect, test } from 'vitest';
import { NatsSink } from '#dist/server/traccar/forward/sinks/sink.js';

class FakePublisher {
  readonly published: string[] = [];
  hasEnded = false;
  isClosed = (): boolean => this.hasEnded;

  async publish(messages: readonly { readonly id: string; readonly bytes: Uint8Array }[]): Promise<void> {
    if (this.hasEnded) throw new Error('CLOSED');
    this.published.push(...messages.map(({ id, bytes }) => `${id} ${Buffer.from(bytes)}`));
  }

  async close(): Promise<void> {
    this.hasEnded = true;
  }
}

const batch = (...ids: string[]): Buffer => Buffer.from(ids.map((id) => `{"id":"${id}"}\n`).join(''));

test('one connection for all batches; each message is a line without its end, under its id', async () => {
  const opened: FakePublisher[] = [];
  const sink = new NatsSink('nats', async () => {
    opened.push(new FakePublisher());
    return opened.at(-1)!;
  });
  await sink.deliver(batch('a', 'b'));
  await sink.deliver(batch('c'));
  expect(opened).toHaveLength(1);
  expect(opened[0]!.published).toEqual(['a {"id":"a"}', 'b {"id":"b"}', 'c {"id":"c"}']);
  await sink.close();
  expect(opened[0]!.hasEnded).toBe(true);
});

test('a sink reconnects until the connection is open', async () => {
  const opened: FakePublisher[] = [];
  let tries = 0;
  const sink = new NatsSink('nats', async () => {
    if (++tries === 2) throw new Error('refuses these credentials');
    opened.push(new FakePublisher());
    return opened.at(-1)!;
  });
  await sink.deliver(batch('a'));
  opened[0]!.hasEnded = true;
  await expect(sink.deliver(batch('b'))).rejects.toThrow('refuses these credentials');
  await sink.deliver(batch('b'));
  await sink.deliver(batch('c'));
  expect(tries).toBe(3);
  expect(opened[1]!.published).toEqual(['b {"id":"b"}', 'c {"id":"c"}']);
});
