// `hexcodes worker` and `hexcodes worker setup` against a real nats-server: formats, maps, dead letters, order, limits.
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { headers, type NatsConnection } from '@nats-io/transport-node';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Hexcodes } from '#hexcodes';
import { CliFolder } from '../../support/cli.js';
import { answerByLibrary, encodeFrame, loadLibrary, positionsOf } from '../../support/engine/frames.js';
import { WorkerProcess } from '../../support/engine/worker-process.js';
import { messagesOf, NatsServer, natsNote, noNats, type StoredMessage } from '../../support/nats.js';

describe.skipIf(noNats !== undefined)(`a worker on nats-server${natsNote}`, () => {
  const folder = new CliFolder();
  let server: NatsServer;
  let nc: NatsConnection;
  let library: Hexcodes;
  let count = 0;
  let workers: WorkerProcess[] = [];
  beforeAll(async () => {
    [server, library] = [await NatsServer.start(), await loadLibrary()];
    nc = await server.connect();
  });
  afterEach(async () => {
    await Promise.all(workers.map((worker) => worker.end('SIGKILL')));
    workers = [];
  });
  afterAll(async () => {
    folder.remove();
    await server.remove();
  });

  /** Streams of a test's own, and the options that name them. */
  async function setUp(more: string[] = [], maps?: string[]): Promise<{ name: string; args: string[] }> {
    const name = `t${++count}`;
    const args = ['--stream', `${name}-in`, '--answers', `${name}-out`, '--dead', `${name}-dead`];
    args.push('--dead-subject', `dead.${name}`);
    for (const map of maps ?? [`${name}.in.>=${name}.out.>`]) args.push('--map', map.replaceAll('T', name));
    // Servers set the space of all streams aside.
    const sizes = ['--max-bytes', '32M'];
    const ran = await folder.run(['worker', 'setup', '--nats', server.url, ...args, ...sizes, ...more]);
    expect(ran.stderr).toMatch(/^(made .*\n){4}lasts .*\n$/);
    return { name, args };
  }
  function start(args: string[]): WorkerProcess {
    const worker = new WorkerProcess(server.url, [...args, '--report', '100ms']);
    workers.push(worker);
    return worker;
  }
  async function publish(
    subject: string,
    bytes: Uint8Array | string,
    fields: Record<string, string> = {},
  ): Promise<void> {
    const own = headers();
    for (const [name, value] of Object.entries(fields)) own.set(name, value);
    await jetstream(nc).publish(subject, bytes, { headers: own });
  }
  async function stored(stream: string, wanted: number): Promise<StoredMessage[]> {
    const jsm = await jetstreamManager(nc);
    await expect.poll(async () => (await jsm.streams.info(stream)).state.messages).toBe(wanted);
    return messagesOf(nc, stream);
  }

  test.each([[[]], [['--threads', '1']]])('every format, by header and by subject, %j', async (more) => {
    const { name, args } = await setUp();
    const latLng = positionsOf(5, 300);
    await publish(`${name}.in.a`, encodeFrame(latLng, 9), { 'Nats-Msg-Id': 'f', 'X-Own': 'kept' });
    await publish(`${name}.in.b`, '{"lat":21.03,"lng":105.85,"speed":7}', { 'Nats-Msg-Id': 'j' });
    await publish(`${name}.in.c`, '21.03,105.85\n', { 'Nats-Msg-Id': 'c', 'Hexcodes-Format': 'csv' });
    await publish(`${name}.in.c`, '{"lat":21.03,"lng":105.85}\n', {
      ...{ 'Nats-Msg-Id': 'n', 'Hexcodes-Format': 'ndjson', 'Hexcodes-Resolution': '7' },
    });
    const worker = start([...args, ...more, '--as', `${name}.in.b=json`]);
    const answers = await stored(`${name}-out`, 4);
    const of = (id: string) => answers.find(({ headers }) => headers.get('Hexcodes-Id') === id)!;
    const code = library.encode(21.03, 105.85).hexcodes;
    expect(Buffer.compare(of('f').bytes, answerByLibrary(library, latLng, 9))).toBe(0);
    expect(of('f').subject).toBe(`${name}.out.a.f`);
    expect(of('f').headers.get('X-Own')).toBe('kept');
    const textOf = (id: string) => new TextDecoder().decode(of(id).bytes);
    expect(JSON.parse(textOf('j'))).toMatchObject({ speed: 7, hexcodes: code, status: 'OK' });
    expect(textOf('c')).toBe(`21.03,105.85,${code},13,HN,OK\n`);
    expect(JSON.parse(textOf('n')).hexcodes).toBe(library.encode(21.03, 105.85, 7).hexcodes);
    await worker.says(/4 messages {2}303 points/);
    expect(await worker.end()).toBe(0);
    expect(worker.counts).toEqual({ messages: 4, points: 303, redelivered: 0, already: 0, dead: 0 });
  });

  test('maps with wild words, and messages without an id of their own', async () => {
    const { name, args } = await setUp([], ['fleet.T.*.points=fleet.T.*.hexcodes', 'T.one=T.two']);
    await publish(`fleet.${name}.7.points`, encodeFrame(positionsOf(1, 2)));
    await publish(`${name}.one`, encodeFrame(positionsOf(1, 2)));
    start(args);
    const subjects = (await stored(`${name}-out`, 2)).map(({ subject }) => subject);
    expect(subjects.sort()).toEqual([
      `fleet.${name}.7.hexcodes.${name}-in%3A1`,
      `${name}.two.${name}-in%3A2`,
    ]);
  });

  test('a worker that is stopped at its last answer has acknowledged every message', async () => {
    const { name, args } = await setUp();
    const frame = encodeFrame(positionsOf(3, 2));
    for (let i = 0; i < 100; i++) await publish(`${name}.in.a`, frame, { 'Nats-Msg-Id': `m${i}` });
    const worker = start(args);
    await stored(`${name}-out`, 100);
    expect(await worker.end()).toBe(0);
    const jsm = await jetstreamManager(nc);
    const { num_ack_pending, num_pending, ack_floor } = await jsm.consumers.info(`${name}-in`, 'hexcodes');
    expect([num_ack_pending, num_pending, ack_floor.stream_seq]).toEqual([0, 0, 100]);
  });

  test('one id under two subjects: two answers; the same message again, long after: none more', async () => {
    const { name, args } = await setUp(['--max-age', '200ms']);
    const worker = start(args);
    const frame = encodeFrame(positionsOf(1, 2));
    await publish(`${name}.in.a`, frame, { 'Nats-Msg-Id': 'same' });
    // Beyond the window of the input stream, which is its max_age here: the stream takes it as new.
    const patience = { interval: 400, timeout: 60_000 };
    await expect
      .poll(async () => {
        await publish(`${name}.in.a`, frame, { 'Nats-Msg-Id': 'same' });
        return worker.counts.already;
      }, patience)
      .toBeGreaterThan(0);
    await expect
      .poll(async () => {
        await publish(`${name}.in.b`, frame, { 'Nats-Msg-Id': 'same' });
        return (await (await jetstreamManager(nc)).streams.info(`${name}-out`)).state.messages;
      }, patience)
      .toBe(2);
    expect((await messagesOf(nc, `${name}-out`)).map(({ subject }) => subject)).toEqual([
      `${name}.out.a.same`,
      `${name}.out.b.same`,
    ]);
  });

  test('damaged and too large messages are dead letters with their reason, and others go on', async () => {
    const { name, args } = await setUp();
    const worker = start(args);
    await publish(`${name}.in.a`, 'xx', { 'Nats-Msg-Id': 'damaged', 'X-Own': 'kept' });
    await publish(`${name}.in.a`, '{"lat":1}', { 'Nats-Msg-Id': 'object', 'Hexcodes-Format': 'json' });
    await publish(`${name}.in.a`, 'x', { 'Nats-Msg-Id': 'format', 'Hexcodes-Format': 'xml' });
    // 60,000 points are 960,016 bytes, and their answer 1,200,016.
    await publish(`${name}.in.a`, encodeFrame(positionsOf(1, 60_000)), { 'Nats-Msg-Id': 'large' });
    await publish(`${name}.in.a`, encodeFrame(positionsOf(1, 1)), { 'Nats-Msg-Id': 'good' });
    const letters = await stored(`${name}-dead`, 4);
    const reasons = Object.fromEntries(
      letters.map(({ headers }) => [headers.get('Hexcodes-Id'), headers.get('Hexcodes-Reason')]),
    );
    expect(reasons).toEqual({
      damaged: 'a frame has a header of 16 bytes, and the message has 2',
      object: 'it has no members for latitude and longitude, as lat and lng',
      format: 'Hexcodes-Format must be one of frames, ndjson, csv, json, not "xml"',
      large: 'the answer is larger than the servers take (max_payload)',
    });
    const damaged = letters.find(({ headers }) => headers.get('Hexcodes-Id') === 'damaged')!;
    expect(damaged.subject).toBe(`dead.${name}.${name}.in.a.damaged`);
    expect(new TextDecoder().decode(damaged.bytes)).toBe('xx');
    expect(Object.fromEntries(damaged.headers)).toMatchObject({
      ...{ 'X-Own': 'kept', 'Hexcodes-Subject': `${name}.in.a` },
      'Hexcodes-Place': `stream ${name}-in, message 1`,
    });
    const large = letters.find(({ headers }) => headers.get('Hexcodes-Id') === 'large')!;
    expect(large.bytes).toHaveLength(960_016);
    expect((await stored(`${name}-out`, 1))[0]?.subject).toBe(`${name}.out.a.good`);
    await worker.says(/4 dead letters/);
  });

  test('a full stream of answers: one sentence, nothing lost, and all of it once there is space', async () => {
    const { name, args } = await setUp(['--max-bytes', '64K']);
    const worker = start(args);
    const jsm = await jetstreamManager(nc);
    // The input stream takes them; their answers are larger.
    await jsm.streams.update(`${name}-in`, { max_bytes: 10_000_000 });
    for (let i = 0; i < 40; i++)
      await publish(`${name}.in.a`, encodeFrame(positionsOf(i, 200)), { 'Nats-Msg-Id': `m${i}` });
    await worker.says(
      /the stream of t\d+\.out\.a\.\* is full \(maximum bytes exceeded\): answers wait, nothing is lost/,
    );
    expect((await jsm.streams.info(`${name}-dead`)).state.messages).toBe(0);
    await jsm.streams.update(`${name}-out`, { max_bytes: 10_000_000 });
    const answers = await stored(`${name}-out`, 40);
    for (const { bytes, headers } of answers) {
      const seed = Number(headers.get('Hexcodes-Id')!.slice(1));
      expect(Buffer.compare(bytes, answerByLibrary(library, positionsOf(seed, 200)))).toBe(0);
    }
    expect(worker.text.match(/is full/g)!.length).toBeLessThan(10);
  });

  test('ordered: answers of two workers stand in the order of the messages, also past a kill', async () => {
    const { name, args } = await setUp(['--ordered', '--ack-wait', '1s']);
    const ids = Array.from({ length: 60 }, (_, i) => `m${i}`);
    for (const id of ids)
      await publish(`${name}.in.a`, encodeFrame(positionsOf(1, 50)), { 'Nats-Msg-Id': id });
    const [first] = [start([...args, '--ordered']), start([...args, '--ordered'])];
    await first.says('works on');
    await first.end('SIGKILL');
    const answers = await stored(`${name}-out`, 60);
    expect(answers.map(({ headers }) => headers.get('Hexcodes-Id'))).toEqual(ids);
  });

  test('setup may be run again, and changes what it is asked to change', async () => {
    const { name, args } = await setUp();
    await publish(`${name}.in.a`, encodeFrame(positionsOf(1, 1)));
    const again = [...args, '--max-bytes', '2M', '--ordered'];
    const ran = await folder.run(['worker', 'setup', '--nats', server.url, ...again]);
    expect([ran.code, ran.stderr]).toEqual([0, expect.stringMatching(/^(kept .*\n){4}lasts .*\n$/)]);
    const jsm = await jetstreamManager(nc);
    const { config, state } = await jsm.streams.info(`${name}-in`);
    expect([config.max_bytes, config.discard, config.retention, state.messages]).toEqual([
      ...[2 * 1024 * 1024, 'new', 'limits', 1],
    ]);
    const { config: consumer } = await jsm.consumers.info(`${name}-in`, 'hexcodes');
    expect([consumer.max_ack_pending, consumer.max_deliver]).toEqual([1, -1]);
  });
});
