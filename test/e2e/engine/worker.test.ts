// Workers on NATS: what they answer, refuse, may do and give back; hostile messages, and kills.

import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, createConnection, createServer as createTcpServer } from 'node:net';
import { gzipSync } from 'node:zlib';
import { type JetStreamManager, jetstream, jetstreamManager, RetentionPolicy } from '@nats-io/jetstream';
import { headers, type NatsConnection, nanos, nkeys } from '@nats-io/transport-node';
import mqtt from 'mqtt';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { Hexcodes } from '#hexcodes';
import { CliFolder, type Ran } from '../../support/cli.js';
import {
  answerByLibrary,
  encodeFrame,
  loadLibrary,
  positionsOf,
  WorkerProcess,
} from '../../support/engine/frames.js';
import { killsInNamespace } from '../../support/engine/kill-run.js';
import { messagesOf, NatsServer, natsNote, noNats, type StoredMessage } from '../../support/nats.js';
import { listening } from '../../support/network.js';
import { sharedCommand } from '../../support/shared.js';

const folder = sharedCommand();

const refused = (ran: Ran): [number | null, string] => [ran.code, ran.stderr.replace(/:\d{4,5}/g, ':PORT')];

test('settings that cannot be are named, passwords never', async () => {
  const ran = await folder.run('worker --creds none', {
    env: { HEXCODES_NATS_URL: 'nats://me:secret@host' },
  });
  expect(ran.code).toBe(2);
  expect(ran.stderr.match(/HEXCODES_NATS_URL|--creds/g)).toEqual(['HEXCODES_NATS_URL', '--creds']);
  expect(ran.stderr).not.toContain('secret');
});

describe.skipIf(noNats !== undefined)(`servers${natsNote}`, () => {
  let server: NatsServer;
  beforeAll(async () => {
    server = await NatsServer.start();
  });
  afterAll(() => server.remove());
  const run = (args: string[], env: Record<string, string> = {}, url = server.url): Promise<Ran> =>
    folder.run(['worker', ...args, '--nats', url], { env });

  test('no streams, and no consumer', async () => {
    expect(refused(await run([]))).toEqual([
      1,
      'hexcodes: there is no stream HEXCODES_IN\nhexcodes worker setup makes it\n',
    ]);
    expect((await run(['setup'])).code).toBe(0);
    expect(refused(await run(['--consumer', 'other']))).toEqual([
      1,
      'hexcodes: stream HEXCODES_IN has no consumer other\nhexcodes worker setup makes it\n',
    ]);
  });

  test('streams that would lose or double answers', async () => {
    const jsm = await jetstreamManager(await server.connect());
    expect((await run(['setup'])).code).toBe(0);
    const cases = [
      [['--map', 'a.>=b.>'], 'stream HEXCODES_IN does not take a.>: it takes hexcodes.in.>'],
      [['--map', 'hexcodes.in.>=b.>'], 'stream HEXCODES_OUT does not take b.>: it takes hexcodes.out.>'],
      [
        ['--map', 'hexcodes.in.a=hexcodes.out.x', '--map', 'hexcodes.in.*=hexcodes.out.*'],
        '--map to hexcodes.out.x and to hexcodes.out.*: of two messages with one id the second would have no answer',
      ],
      [['--ordered'], 'consumer hexcodes hands out 4096 messages at a time, so answers are in no order'],
    ] as const;
    for (const [args, sentence] of cases) {
      const ran = await run([...args]);
      expect([ran.code, ran.stderr.split('\n')[0]]).toEqual([1, `hexcodes: ${sentence}`]);
    }
    await jsm.streams.add({ name: 'PLAIN', subjects: ['plain.>'] });
    const ran = await run(['--answers', 'PLAIN', '--map', 'hexcodes.in.>=plain.>']);
    expect(ran.stderr).toContain('stream PLAIN could hold an answer twice');
    await jsm.streams.add({ name: 'QUEUE', subjects: ['q.>'], retention: RetentionPolicy.Workqueue });
    const setup = await run(['setup', '--stream', 'QUEUE', '--map', 'q.>=r.>']);
    expect([setup.code, setup.stderr]).toEqual([
      1,
      'hexcodes: stream QUEUE cannot be made: it has the retention workqueue, which cannot be changed\n',
    ]);
  });

  test('a power cut is warned of, by version, replicas and the monitoring port', async () => {
    expect((await run(['setup'])).code).toBe(0);
    const worker = new WorkerProcess(server.url, ['--monitor', `http://127.0.0.1:${server.monitorPort}`]);
    await worker.says('works on');
    await worker.end();
    expect(worker.text).toMatch(/warning: .* fewer than 3 replicas/);
    expect(worker.text).toMatch(/warning: 127\.0\.0\.1:\d+ syncs its files every .*sync_interval: always/);
    const hostile = await listening((_request, response) => {
      const body = gzipSync(Buffer.concat([Buffer.alloc(64 << 20, ' '), Buffer.from('{}')]));
      response.writeHead(200, { 'Content-Encoding': 'gzip' }).end(body);
    });
    const other = new WorkerProcess(server.url, ['--monitor', hostile.base]);
    await other.says('works on');
    await other.end();
    await hostile.close();
    expect(other.text).toMatch(/does not say how it syncs: its answer has more than 1048576 bytes/);
  });

  test('a server without JetStream', async () => {
    const plain = await NatsServer.start(() => []);
    onTestFinished(() => plain.remove());

    expect(refused(await run([], {}, plain.url))).toEqual([
      1,
      'hexcodes: nats://127.0.0.1:PORT has no JetStream\nStart nats-server with --jetstream, and let the account use it\n',
    ]);
  });

  test('wrong credentials, and right ones: user, token, nkey', async () => {
    const pair = nkeys.createUser();
    folder.write('right.nk', pair.getSeed());
    folder.write('wrong.nk', nkeys.createUser().getSeed());
    const jetStream = (store: string): string => `jetstream { store_dir: "${store}" }`;
    const sentence =
      'hexcodes: nats://127.0.0.1:PORT refuses these credentials\nGive --creds, --nkey, or --user with HEXCODES_NATS_PASSWORD, or HEXCODES_NATS_TOKEN\n';
    const cases: [string, { args?: string[]; env?: Record<string, string> }[], typeof wrongOnes][] = [];
    const wrongOnes: { args?: string[]; env?: Record<string, string> }[] = [{}];
    cases.push(
      [
        'authorization { user: "me", password: "right one" }',
        [{ args: ['--user', 'me'], env: { HEXCODES_NATS_PASSWORD: 'right one' } }],
        [...wrongOnes, { args: ['--user', 'me'], env: { HEXCODES_NATS_PASSWORD: 'wrong' } }],
      ],
      [
        'authorization { token: "right one" }',
        [{ env: { HEXCODES_NATS_TOKEN: 'right one' } }],
        [...wrongOnes, { env: { HEXCODES_NATS_TOKEN: 'wrong' } }],
      ],
      [
        `authorization { users: [ { nkey: ${pair.getPublicKey()} } ] }`,
        [{ args: ['--nkey', 'right.nk'] }],
        [...wrongOnes, { args: ['--nkey', 'wrong.nk'] }],
      ],
    );
    for (const [line, right, wrong] of cases) {
      const guarded = await NatsServer.start((store) => [jetStream(store), line]);
      try {
        for (const { args = [], env = {} } of wrong)
          expect(refused(await run(['setup', ...args], env, guarded.url))).toEqual([1, sentence]);
        for (const { args = [], env = {} } of right)
          expect((await run(['setup', ...args], env, guarded.url)).stderr).toMatch(
            /^(made .*\n){4}lasts .*\n$/,
          );
      } finally {
        await guarded.remove();
      }
    }
  });

  test.skipIf(spawnSync('openssl', ['version']).status !== 0)('TLS, by a signer that is given', async () => {
    const guarded = await NatsServer.start((store) => {
      const names = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1,DNS:localhost'];
      const files = [
        '-newkey',
        'rsa:2048',
        '-nodes',
        '-keyout',
        `${store}/key.pem`,
        '-out',
        `${store}/cert.pem`,
      ];
      spawnSync('openssl', ['req', '-x509', '-days', '2', ...files, ...names]);
      return [
        `jetstream { store_dir: "${store}" }`,
        `tls { cert_file: "${store}/cert.pem", key_file: "${store}/key.pem" }`,
      ];
    });
    onTestFinished(() => guarded.remove());

    const without = await run(['setup'], {}, guarded.url);
    expect([without.code, without.stderr]).toEqual([
      1,
      expect.stringMatching(/: no TLS connection: .*\n.*--tls-ca\n$/),
    ]);
    const made = await run(['setup', '--tls-ca', guarded.file('cert.pem')], {}, guarded.url);
    expect(made.stderr).toMatch(/^(made .*\n){4}lasts .*\n$/);
  });

  test('a server that is away: setup says so, a worker waits and then works', async () => {
    const late = await NatsServer.start();
    onTestFinished(() => late.remove());

    expect((await run(['setup'], {}, late.url)).code).toBe(0);
    await late.kill();
    expect(refused(await run(['setup'], {}, late.url))[1]).toMatch(
      /^hexcodes: nats:\/\/127\.0\.0\.1:PORT cannot be reached: .*ECONNREFUSED.*\n$/,
    );
    const worker = new WorkerProcess(late.url);
    await worker.says(/cannot be reached: .*; waiting/);
    await late.resume();
    await worker.says('works on');
    expect(await worker.end()).toBe(0);
  });

  const NO_LEADER = '{"type":"error","error":{"code":503,"err_code":10008,"description":"unavailable"}}';

  test.each([
    [['worker'], 'STREAM.INFO.HEXCODES_DEAD', 'timeout'],
    [['worker'], 'CONSUMER.INFO', 'timeout'],
    [['worker', 'collect'], 'STREAM.INFO.HEXCODES_POSITIONS', 'timeout'],
    [['worker'], 'CONSUMER.INFO', 'unavailable'],
    [['worker', 'collect'], 'STREAM.INFO.HEXCODES_POSITIONS', 'unavailable'],
  ])('%j waits for an answer to %s, as for a connection, after %s', async (command, request, reason) => {
    const made = await run(['setup', '--collect', 'fleet.*.position'], {}, server.url);
    expect(made.stderr).toContain('HEXCODES_POSITIONS');
    // A network that is cut for a moment loses what was sent; a JetStream without a leader answers so.
    let lost = 0;
    let sent = '';
    const relay = createTcpServer((socket) => {
      const onward = createConnection(Number(new URL(server.url).port), '127.0.0.1');
      socket.on('data', (bytes) => {
        sent += bytes;
        if (lost > 0 || !bytes.includes(`$JS.API.${request}`)) return void onward.write(bytes);
        lost++;
        const to = /PUB \$JS\S+ (\S+) \d+\r\n$|$/.exec(sent.slice(0, sent.lastIndexOf('\r\n')))?.[1];
        const sid = /SUB _INBOX\S+ (\d+)/.exec(sent)?.[1];
        if (reason !== 'timeout') socket.write(`MSG ${to} ${sid} ${NO_LEADER.length}\r\n${NO_LEADER}\r\n`);
      });
      onward.pipe(socket);
      for (const each of [socket, onward])
        each.on('error', () => {}).on('close', () => (each === socket ? onward : socket).destroy());
    });
    await once(relay.listen(0, '127.0.0.1'), 'listening');
    const worker = new WorkerProcess(
      `nats://127.0.0.1:${(relay.address() as AddressInfo).port}`,
      ...([[], {}, { command }] as const),
    );
    try {
      await worker.says(new RegExp(`cannot be reached: ${reason}; waiting`));
      await worker.says(/works on|collects/);
      expect([await worker.end(), lost]).toEqual([0, 1]);
    } finally {
      await worker.end('SIGKILL');
      relay.close();
    }
  });

  test('a stream that is deleted under a worker ends it with a sentence', async () => {
    const own = await NatsServer.start();
    onTestFinished(() => own.remove());

    expect((await run(['setup'], {}, own.url)).code).toBe(0);
    const worker = new WorkerProcess(own.url);
    await worker.says('works on');
    await (await jetstreamManager(await own.connect())).streams.delete('HEXCODES_IN');
    expect(await worker.ended()).toBe(1);
    expect(worker.text).toContain('stream HEXCODES_IN or its consumer hexcodes is gone');
  });
});

describe.skipIf(noNats !== undefined)(`a worker on nats-server${natsNote}`, () => {
  const folder = sharedCommand();
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
      object: 'it has no members for latitude and longitude, as lat and lng; --lat names them',
      format: 'Hexcodes-Format must be one of frames, ndjson, csv, json, avro, not "xml"',
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

  test('messages whose headers or id leave no space for a letter stop nothing', async () => {
    const { name, args } = await setUp();
    // A stream takes less than 64 KiB of headers.
    const large = 'x'.repeat(65_450);
    const frame = encodeFrame(positionsOf(1, 1));
    await publish(`${name}.in.a`, frame, { 'Nats-Msg-Id': 'headers', own: large });
    await publish(`${name}.in.a`, frame, { 'Nats-Msg-Id': large });
    await publish(`${name}.in.a`, frame, { 'Nats-Msg-Id': 'good' });
    start(args);
    const letters = await stored(`${name}-dead`, 2);
    for (const { bytes, headers } of letters) {
      expect([bytes.length, headers.has('own')]).toEqual([0, false]);
      expect(headers.get('Hexcodes-Reason')).toMatch(/more headers than .* its bytes are in stream/);
    }
    expect((await stored(`${name}-out`, 1))[0]?.subject).toBe(`${name}.out.a.good`);
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

const FILE = 'deploy/nats/hexcodes.conf';

const ROLES = ['producer', 'vehicle', 'worker', 'operator'];

const passwordOf = (role: string): string => `${role}Secret`;

describe.skipIf(noNats !== undefined)(`roles on the bus${natsNote}`, () => {
  const folder = new CliFolder();
  let server: NatsServer;
  let processes: WorkerProcess[] = [];
  beforeAll(async () => {
    for (const role of ROLES) process.env[`NATS_${role.toUpperCase()}_PASSWORD`] = passwordOf(role);
    server = await NatsServer.start((store, mqttPort) => [
      // Addresses, ports and the folder are the test's own.
      ...readFileSync(FILE, 'utf8')
        .replaceAll(/^(?:host|port|mqtt|jetstream)\b.*$/gm, '')
        .split('\n'),
      `jetstream { store_dir: "${store}", max_file: 8G }`,
      `mqtt { host: 127.0.0.1, port: ${mqttPort} }`,
    ]);
    const setup = ['worker', 'setup', '--collect', 'fleet.*.position', '--max-bytes', '64M'];
    const ran = await run('operator', ...setup);
    expect([ran.code, ran.stderr]).toEqual([0, expect.stringMatching(/^(made .*\n)+(lasts .*\n)?$/)]);
    expect(ran.stdout).toMatch(/^producer_may = \{[\s\S]*worker_may = \{[\s\S]*operator_may = \{/);
    // The file has the permissions that the setup prints.
    expect(readFileSync(FILE, 'utf8')).toContain(`\n${ran.stdout.trim()}\n`);
  });
  afterEach(async () => {
    await Promise.all(processes.map((each) => each.end('SIGKILL')));
    processes = [];
  });
  afterAll(async () => {
    for (const role of ROLES) delete process.env[`NATS_${role.toUpperCase()}_PASSWORD`];
    await server?.remove();
    folder.remove();
  });

  const envOf = (role: string): Record<string, string> => ({
    ...{ HEXCODES_NATS_URL: server.url, HEXCODES_NATS_USER: role, HEXCODES_NATS_PASSWORD: passwordOf(role) },
  });
  const run = (role: string, ...args: string[]): Promise<Ran> => folder.run(args, { env: envOf(role) });
  const connect = (role: string): Promise<NatsConnection> =>
    server.connect({ user: role, pass: passwordOf(role) });
  async function start(role: string, words: RegExp, ...command: string[]): Promise<WorkerProcess> {
    const started = new WorkerProcess(server.url, ['--report', '100ms'], envOf(role), {
      ...{ command, cwd: folder.path },
    });
    processes.push(started);
    await started.says(words);
    return started;
  }
  const countOf = async (stream: string): Promise<number> =>
    (await (await jetstreamManager(await connect('operator'))).streams.info(stream)).state.messages;

  test('a producer sends messages and requests, a worker answers them', async () => {
    await start('worker', /works on/, 'worker', 'run');
    const nc = await connect('producer');
    const client = jetstream(nc);
    const frame = encodeFrame(positionsOf(1, 10));
    // A second try of the test meets what the first one has stored.
    const [answers, letters] = [await countOf('HEXCODES_OUT'), await countOf('HEXCODES_DEAD')];
    const msgID = randomUUID();
    expect(await client.publish('hexcodes.in.trucks', frame, { msgID })).toMatchObject({ duplicate: false });
    expect(await client.publish('hexcodes.in.trucks', frame, { msgID })).toMatchObject({ duplicate: true });
    await expect.poll(() => countOf('HEXCODES_OUT')).toBe(answers + 1);
    // A message that is none is a dead letter.
    await client.publish('hexcodes.in.trucks', 'x');
    await expect.poll(() => countOf('HEXCODES_DEAD')).toBe(letters + 1);
    const service = new WorkerProcess(server.url, [], envOf('worker'), { command: ['worker', 'service'] });
    processes.push(service);
    await service.says('answers');
    const reply = await nc.request('hexcodes.encode', '{"points":[{"lat":21.0288,"lng":105.8525}]}', {
      timeout: 20_000,
    });
    expect(reply.json()).toMatchObject({ results: [{ hexcodes: 'HN-6GHP4-83RFR' }] });
  });

  test('positions of vehicles over MQTT and of producers become frames', async () => {
    const before = await countOf('HEXCODES_IN');
    await start('worker', /collects/, 'worker', 'collect');
    const client = await mqtt.connectAsync(`mqtt://127.0.0.1:${server.mqttPort}`, {
      ...{ clientId: 'v', username: 'vehicle', password: passwordOf('vehicle') },
    });
    await client.publishAsync('fleet/7/position', '{"id":7,"lat":21.0288,"lng":105.8525}', { qos: 1 });
    await client.endAsync();
    await jetstream(await connect('producer')).publish(
      'fleet.8.position',
      '{"id":8,"lat":21.0288,"lng":105.8525}',
    );
    await expect.poll(() => countOf('HEXCODES_IN')).toBeGreaterThan(before);
    await expect
      .poll(async () => {
        const frames = await messagesOf(await connect('operator'), 'HEXCODES_IN');
        return frames.map(({ headers }) => headers.get('Hexcodes-Sources') ?? '').join('');
      })
      .toMatch(/7.*8/);
  });

  /** Subjects that a role cannot publish to: the server tells it, and nothing is stored. */
  async function refusedOf(role: string, subjects: readonly string[]): Promise<string[]> {
    const nc = await connect(role);
    const refused: string[] = [];
    (async () => {
      for await (const status of nc.status())
        if (status.type === 'error') refused.push(/to "([^"]+)"/.exec(status.error.message)?.[1] ?? '');
    })();
    for (const subject of subjects) nc.publish(subject, '{}');
    await nc.flush();
    await expect.poll(() => refused.length, { timeout: 5000 }).toBe(subjects.length);
    return refused;
  }

  const API = [
    ...['STREAM.PURGE', 'STREAM.DELETE', 'STREAM.UPDATE', 'STREAM.MSG.DELETE', 'CONSUMER.DELETE'].map(
      (what) => `$JS.API.${what}.HEXCODES_OUT`,
    ),
    '$JS.API.CONSUMER.DELETE.HEXCODES_IN.hexcodes',
  ];

  test('what a producer may not', async () => {
    const subjects = [
      ...[...API, '$JS.API.INFO'],
      ...['hexcodes.out.trucks.17', 'hexcodes.dead.x', 'hexcodes.in.collected.9', '$SRV.PING', 'other'],
    ];
    const before = await Promise.all(['HEXCODES_OUT', 'HEXCODES_DEAD'].map(countOf));
    expect((await refusedOf('producer', subjects)).sort()).toEqual([...subjects].sort());
    expect(await Promise.all(['HEXCODES_OUT', 'HEXCODES_DEAD'].map(countOf))).toEqual(before);
  });

  test('reply subjects of a producer stay in its account', async () => {
    const before = await Promise.all(['HEXCODES_OUT', 'HEXCODES_IN'].map(countOf));
    const nc = await connect('producer');
    for (const reply of ['hexcodes.out.x', '$JS.API.STREAM.PURGE.HEXCODES_OUT'])
      nc.publish('hexcodes.in.x', 'x', { reply });
    await nc.flush();
    await expect.poll(() => countOf('HEXCODES_IN'), { timeout: 5000 }).toBe(before[1]! + 2);
    expect(await countOf('HEXCODES_OUT')).toBe(before[0]);
  });

  test('what a worker may not', async () => {
    const subjects = [...[...API, 'hexcodes.in.x', 'fleet.7.position', 'other']];
    expect((await refusedOf('worker', subjects)).sort()).toEqual([...subjects].sort());
  });

  test('an operator stores neither answers nor dead letters', async () => {
    const subjects = ['hexcodes.out.x.1', 'hexcodes.dead.x'];
    expect((await refusedOf('operator', subjects)).sort()).toEqual([...subjects].sort());
  });

  test('a vehicle publishes its position by MQTT and nothing else', async () => {
    const before = await Promise.all(['HEXCODES_OUT', 'HEXCODES_IN'].map(countOf));
    await expect(connect('vehicle')).rejects.toThrow(/authorization/i);
    const options = { username: 'vehicle', password: passwordOf('vehicle'), reconnectPeriod: 0 };
    for (const topic of ['hexcodes/out/x', 'hexcodes/in/x', '$JS/API/STREAM/PURGE/HEXCODES_OUT']) {
      const client = mqtt.connect(`mqtt://127.0.0.1:${server.mqttPort}`, { ...options, clientId: 'v' });
      client.on('error', () => undefined);
      // The server ends the connection, or what it acknowledges is counted below.
      const closed = new Promise<void>((resolve) => client.once('close', () => resolve()));
      client.publish(topic, '{}', { qos: 1 }, () => client.end(true));
      await closed;
    }
    expect(await Promise.all(['HEXCODES_OUT', 'HEXCODES_IN'].map(countOf))).toEqual(before);
  });

  test('without credentials no client is admitted', async () => {
    await expect(server.connect()).rejects.toThrow(/authorization/i);
    const ran = await folder.run(['worker', 'setup', '--nats', server.url]);
    expect([ran.code, ran.stderr]).toEqual([1, expect.stringContaining('refuses these credentials')]);
  });
});

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

describe.skipIf(noNats !== undefined)(`workers of messages${natsNote}`, () => {
  const folder = new CliFolder();
  let server: NatsServer;
  let nc: NatsConnection;
  let processes: WorkerProcess[] = [];
  beforeEach(async () => {
    server = await NatsServer.start();
    nc = await server.connect();
    const setup = ['worker', 'setup', '--nats', server.url, '--max-bytes', '128M', '--collect', 'fleet.>'];
    expect((await folder.run(setup)).code).toBe(0);
  });
  afterEach(async () => {
    await Promise.all(processes.map((each) => each.end('SIGKILL')));
    processes = [];
    await server.remove();
  });
  afterAll(() => folder.remove());
  async function start(command: string, words: string): Promise<WorkerProcess> {
    const report = command === 'service' ? [] : ['--report', '100ms'];
    const started = new WorkerProcess(server.url, [command, ...report]);
    processes.push(started);
    await started.says(words);
    return started;
  }
  const countOf = async (stream: string): Promise<number> =>
    (await (await jetstreamManager(nc)).streams.info(stream)).state.messages;

  /** Sends lines of the protocol that no client sends. */
  async function raw(subject: string, headers: string, body: string): Promise<void> {
    const head = `NATS/1.0\r\n${headers}\r\n\r\n`;
    const socket = createConnection(Number(new URL(server.url).port), '127.0.0.1');
    socket.setEncoding('latin1');
    let said = '';
    socket.on('data', (text: string) => {
      said += text;
    });
    socket.write('CONNECT {"verbose":false,"headers":true,"echo":false}\r\n');
    socket.write(
      `HPUB ${subject} ${head.length} ${head.length + body.length}\r\n${head}${body}\r\nPING\r\n`,
      'latin1',
    );
    await expect.poll(() => said, { timeout: 5000 }).toContain('PONG');
    socket.destroy();
  }

  const HEADERS = [
    ...['a b: c', ' Lead: x', ': x', 'x\ty: z', 'Ünï: x', 'A: b\rc', 'A: b\nc', 'A: \u0000', 'no colon'],
    ...['Nats-Msg-Id: a\rb', 'Nats-Msg-Id: \u0000', `Nats-Msg-Id: ${'y'.repeat(5000)}`, 'nats-Rollup: all'],
    ...['Hexcodes-Format: __proto__', 'Hexcodes-Resolution: 1e9', 'Hexcodes-Id: x', 'Hexcodes-Subject: x'],
  ];

  test('long subjects and odd headers cost one dead letter each, and nothing else', async () => {
    const worker = await start('run', 'works on');
    for (const length of [3300, 3600, 3900])
      nc.publish(`hexcodes.in.${'x'.repeat(length)}`, encodeFrame(positionsOf(1, 1)));
    for (const length of [3300, 3600, 3900]) nc.publish(`hexcodes.in.${'y'.repeat(length)}`, 'no frame');
    await nc.flush();
    for (const header of HEADERS) await raw('hexcodes.in.odd', header, 'no frame');
    for (let i = 0; i < 50; i++) nc.publish('hexcodes.in.good', encodeFrame(positionsOf(i, 2)));
    await expect.poll(() => countOf('HEXCODES_OUT')).toBeGreaterThanOrEqual(51);
    await expect.poll(() => worker.counts.messages + worker.counts.dead).toBe(56 + HEADERS.length);
    expect([worker.counts.redelivered, worker.hasEnded]).toEqual([0, false]);
  });

  test('a collector continues after long ids, odd headers and long subjects', async () => {
    const collector = await start('collect', 'collects');
    const position = '{"id":1,"lat":21.0288,"lng":105.8525}';
    nc.publish('fleet.1', `{"id":"${'i'.repeat(900_000)}","lat":21,"lng":105}`);
    nc.publish(`fleet.${'x'.repeat(3900)}`, 'none');
    for (const header of HEADERS) await raw('fleet.odd', header, 'none');
    for (let i = 0; i < 10; i++) nc.publish('fleet.1', position);
    await collector.says(/10 positions/);
    expect(collector.text).toMatch(new RegExp(`${HEADERS.length + 2} dead letters`));
    expect(collector.text).not.toMatch(/stops for a moment|is not stored yet/);
  });

  test('a collector leaves no position out for a forged frame', async () => {
    nc.publish('fleet.1', '{"id":1,"lat":21.0288,"lng":105.8525}');
    await raw('hexcodes.in.collected.1', 'Hexcodes-Sequences: 1-999999999', 'x');
    const collector = await start('collect', 'stops for a moment');
    expect(collector.text).toMatch(
      /hexcodes\.in\.collected\.1, is not one of a collector: .*nats stream rmm HEXCODES_IN 1/,
    );
    await (await jetstreamManager(nc)).streams.deleteMessage('HEXCODES_IN', 1);
    await collector.says(/1 positions/);
  });

  test('a service answers no request whose answer would go to the server', async () => {
    await start('service', 'answers');
    const before = await countOf('HEXCODES_IN');
    nc.publish('hexcodes.in.x', encodeFrame(positionsOf(1, 1)));
    for (const what of ['STREAM.PURGE', 'STREAM.DELETE'])
      nc.publish('hexcodes.encode', '{"points":[]}', { reply: `$JS.API.${what}.HEXCODES_IN` });
    const reply = await nc.request('hexcodes.encode', '{"points":[]}', { timeout: 20_000 });
    expect(reply.json()).toMatchObject({ results: [] });
    expect(await countOf('HEXCODES_IN')).toBe(before + 1);
  });
});

test.skipIf(noNats !== undefined)(
  `seven seconds of kills: nothing lost, nothing doubled${natsNote}`,
  async () => {
    const report = await killsInNamespace({
      lengthMs: 7000,
      serverKills: 1,
      framesPerSecond: 60,
      minWorkerKills: 4,
      minGivenBack: 101,
    });
    expect(report).toMatchObject({ lost: 0, doubled: 0, wrong: 0, serverKills: 1 });
    expect(report.frames).toBeGreaterThan(300);
    expect(report.workerKills).toBeGreaterThan(3);
    expect(report.givenBack).toBeGreaterThan(100);
  },
);
