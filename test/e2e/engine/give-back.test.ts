// Room is given back in streams that are nearly full: messages that are answered, positions that are in frames, and
// nothing that a collector, a server that was killed or another reader still needs.
import { type JetStreamManager, jetstream, jetstreamManager } from '@nats-io/jetstream';
import { type NatsConnection, nanos } from '@nats-io/transport-node';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CliFolder } from '../../support/cli.js';
import { encodeFrame, positionsOf } from '../../support/engine/frames.js';
import { WorkerProcess } from '../../support/engine/worker-process.js';
import { messagesOf, NatsServer, natsNote, noNats } from '../../support/nats.js';

const SMALL_BYTES = 256 * 1024;
const WITHIN = { timeout: 60_000, interval: 200 };

describe.skipIf(noNats !== undefined)(`room that is given back${natsNote}`, () => {
  let folder: CliFolder;
  let server: NatsServer;
  let nc: NatsConnection;
  let jsm: JetStreamManager;
  let workers: WorkerProcess[] = [];
  beforeEach(async () => {
    folder = new CliFolder();
    server = await NatsServer.start();
    nc = await server.connect();
    jsm = await jetstreamManager(nc);
    const args = ['--nats', server.url, '--collect', 'fleet.*.position', '--max-bytes', '64M'];
    const made = await folder.run(['worker', 'setup', ...args, '--backlog', '1h']);
    expect(made.code, made.stderr).toBe(0);
    expect(made.stdout).toContain('"$JS.API.STREAM.MSG.DELETE.HEXCODES_POSITIONS"');
    for (const name of ['HEXCODES_IN', 'HEXCODES_POSITIONS'])
      await jsm.streams.update(name, { max_bytes: SMALL_BYTES, duplicate_window: nanos(1000) });
  });
  afterEach(async () => {
    for (const worker of workers) await worker.end('SIGKILL');
    workers = [];
    folder.remove();
    await server.remove();
  });

  const start = (...args: string[]): WorkerProcess => {
    const worker = new WorkerProcess(server.url, [...args, '--report', '100ms']);
    workers.push(worker);
    return worker;
  };
  const frame = encodeFrame(positionsOf(1, 256), 1);
  /** Each again until the stream takes it. */
  async function publish(subject: string, count: number, bytes: Uint8Array | string): Promise<void> {
    for (let i = 0; i < count; ) {
      const stored = await jetstream(nc)
        .publish(subject, bytes, { msgID: `${subject}-${i}` })
        .then(
          () => true,
          () => false,
        );
      if (stored) i++;
      else await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
  const firstOf = async (stream: string): Promise<number> => (await jsm.streams.info(stream)).state.first_seq;

  test('three times what a stream of messages holds goes through it, each answered once', async () => {
    const worker = start('run', '--give-back', '1s');
    await publish('hexcodes.in.fleet', 180, frame);
    await worker.says(/180 messages /);
    await worker.says(/room is given back: \d+ messages/);
    const answers = await messagesOf(nc, 'HEXCODES_OUT');
    expect(new Set(answers.map(({ subject }) => subject)).size).toBe(180);
    expect(answers).toHaveLength(180);
    expect(await firstOf('HEXCODES_IN')).toBeGreaterThan(60);
    expect((await jsm.streams.info('HEXCODES_IN')).state.messages).toBeGreaterThan(20);
    // Known by its number, which no other message may have had.
    await jetstream(nc).publish('hexcodes.in.fleet', frame);
    await worker.says(/181 messages /);
  });

  test('a frame of a collector stays, and so does what another consumer has not read', async () => {
    await jsm.consumers.add('HEXCODES_IN', { durable_name: 'archive', ack_policy: 'explicit' });
    await publish('hexcodes.in.fleet', 30, frame);
    await jetstream(nc).publish('hexcodes.in.collected.1', frame);
    await publish('hexcodes.in.other', 24, frame);
    const worker = start('run', '--give-back', '1s');
    await worker.says(/55 messages /);
    await worker.says('HEXCODES_IN is 8');
    await expect
      .poll(async () => (await jsm.consumers.info('HEXCODES_IN', 'hexcodes')).ack_floor.stream_seq, WITHIN)
      .toBe(55);
    await worker.end();
    start('run', '--give-back', '1s');
    await new Promise((resolve) => setTimeout(resolve, 2000));
    expect(await firstOf('HEXCODES_IN')).toBe(1);
    await jsm.consumers.delete('HEXCODES_IN', 'archive');
    await expect.poll(() => firstOf('HEXCODES_IN'), WITHIN).toBe(28);
    await publish('hexcodes.in.more', 25, frame);
    await expect.poll(() => firstOf('HEXCODES_IN'), WITHIN).toBe(31);
    await new Promise((resolve) => setTimeout(resolve, 6000));
    expect(await firstOf('HEXCODES_IN')).toBe(31);
  });

  test('positions that are in frames: three times what their stream holds, each in one frame', async () => {
    start('collect', '--give-back', '1s', '--points', '100', '--wait', '20ms');
    const other = start('collect', '--give-back', '1s', '--points', '100', '--wait', '20ms');
    const filler = 'x'.repeat(2000);
    for (let i = 0; i < 330; i++) {
      await publish(`fleet.${i}.position`, 1, JSON.stringify({ id: i, lat: 21, lng: 105.8, filler }));
      if (i === 150) await other.end('SIGKILL');
    }
    const collected = async (): Promise<string[]> =>
      (await messagesOf(nc, 'HEXCODES_IN')).flatMap(
        ({ headers }) => JSON.parse(headers.get('Hexcodes-Sources')!) as string[],
      );
    await expect.poll(async () => (await collected()).length, WITHIN).toBe(330);
    expect(new Set(await collected()).size).toBe(330);
    expect(await firstOf('HEXCODES_POSITIONS')).toBeGreaterThan(150);
  });
});
