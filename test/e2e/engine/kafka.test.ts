// `hexcodes worker --from kafka://…` against a real broker: formats, headers, keys, dead letters, groups, TLS and SASL,
// what goes wrong in odd ways, and kills. kcat reads the answers.

import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createConnection, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import * as zlib from 'node:zlib';
import { Admin, Producer } from '@platformatic/kafka';
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { CliFolder } from '../../support/cli.js';
import { WorkerProcess } from '../../support/engine/frames.js';
import { runKafkaBacklog, runKafkaKills } from '../../support/engine/kafka-runs.js';
import { KafkaBroker, type KafkaMessage, kafkaNote, noKafka } from '../../support/kafka.js';
import { listening } from '../../support/network.js';
import { sharedCommand } from '../../support/shared.js';

const NATS = 'nats://127.0.0.1:4222';

const WITHIN = { timeout: 90_000, interval: 200 };

/** The broker that all share. */
let broker: KafkaBroker;
/** Path of the certificate of its listener with users. */
let ca = '';
if (noKafka === undefined) {
  beforeAll(async () => {
    broker = await KafkaBroker.start({
      protocol: 'SASL_SSL',
      scram: ['256', '512'].map((size) => `SCRAM-SHA-${size}=[name=worker,password=secret${size}]`),
      lines: (place) => {
        ca = join(place, 'cert.pem');
        const key = join(place, 'key.pem');
        const made = 'req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=127.0.0.1'.split(' ');
        made.push('-addext', 'subjectAltName=IP:127.0.0.1', '-keyout', key, '-out', ca);
        execFileSync('openssl', made, { stdio: 'ignore' });
        execFileSync('sh', ['-c', `cat "${key}" "${ca}" > "${join(place, 'store.pem')}"`]);
        return [
          ...['ssl.keystore.type=PEM', `ssl.keystore.location=${join(place, 'store.pem')}`],
          'listener.name.clients.sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256,SCRAM-SHA-512',
          ...['256', '512'].map(
            (size) =>
              `listener.name.clients.scram-sha-${size}.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;`,
          ),
          'listener.name.clients.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required user_worker="secret";',
        ];
      },
    });
  });
  afterAll(() => broker.remove());
}

/** Workers of a block of tests, which end with each test, and topics of a test's own. */
function kafkaWorkers() {
  const folder = sharedCommand();
  const workers: WorkerProcess[] = [];
  afterEach(async () => {
    for (const worker of workers.splice(0)) await worker.end('SIGKILL');
  });
  return {
    folder,
    start: (args: string[]): WorkerProcess => {
      const worker = new WorkerProcess(NATS, [...args, '--report', '100ms']);
      workers.push(worker);
      return worker;
    },
    /** Makes topics, and returns the options that name them. */
    setUp: async (partitions = 3): Promise<{ name: string; args: string[] }> => {
      const name = `t${++topics}`;
      const subjects = ['--map', `${name}.in=${name}.out`, '--dead-subject', `${name}.dead`];
      const args = ['--from', broker.plainUrl, ...subjects, '--consumer', name];
      const made = await folder.run(['worker', 'setup', ...args, '--partitions', String(partitions)]);
      const lines = /^(made topic .*\n){3}kept for .*\n$/;
      expect([made.code, made.stderr]).toEqual([0, expect.stringMatching(lines)]);
      expect(made.stdout).toContain(`--operation Read --operation Describe --topic ${name}.in\n`);
      return { name, args };
    },
  };
}

let topics = 0;

describe.skipIf(noKafka !== undefined)(`a worker on Kafka${kafkaNote}`, () => {
  const { folder, start, setUp } = kafkaWorkers();
  const stored = async (topic: string, wanted: number): Promise<KafkaMessage[]> => {
    await expect.poll(() => broker.messagesOf(topic).length, WITHIN).toBe(wanted);
    return broker.messagesOf(topic);
  };

  test('formats, headers and keys; what cannot be read is a dead letter', async () => {
    const { name, args } = await setUp();
    start([...args, '--as', `${name}.in=json`, '-r', '11']);
    broker.produce(`${name}.in`, ['car\t{"lat":21.0288,"lng":105.8525,"own":1}', 'sea\t{"lat":1,"lng":1}'], {
      'Hexcodes-Id': 'a/b',
      own: 'kept',
    });
    broker.produce(`${name}.in`, ['rows\t21.0288,105.8525'], {
      'Hexcodes-Format': 'csv',
      'Hexcodes-Resolution': '9',
    });
    broker.produce(`${name}.in`, ['bad\t{"a":1}', 'bad\tx'], { own: 'kept too' });
    const answers = await stored(`${name}.out`, 3);
    const car = answers.find(({ key }) => key === 'car')!;
    const { hexcodes, ...rest } = JSON.parse(car.value.toString()) as Record<string, unknown>;
    expect(rest).toEqual({
      lat: 21.0288,
      lng: 105.8525,
      own: 1,
      resolution: 11,
      admin_code: 'HN',
      status: 'OK',
    });
    expect(hexcodes).toMatch(/^HN-/);
    expect([...car.headers]).toEqual(
      expect.arrayContaining([
        ['own', 'kept'],
        ['Hexcodes-Id', 'a/b'],
        ['Hexcodes-Format', 'json'],
      ]),
    );
    expect(answers.find(({ key }) => key === 'sea')!.value.toString()).toContain('"status":"NOT_FOUND"');
    const rows = answers.find(({ key }) => key === 'rows')!;
    expect(rows.value.toString()).toMatch(/^21\.0288,105\.8525,HN-.*,9,HN,OK\n?$/);
    const { partition, offset } = broker.messagesOf(`${name}.in`).find(({ key }) => key === 'rows')!;
    expect([rows.headers.get('Hexcodes-Id'), rows.partition]).toEqual([
      `${name}.in-${partition}:${offset}`,
      partition,
    ]);
    const dead = await stored(`${name}.dead`, 2);
    expect(dead.map(({ value }) => value.toString()).sort()).toEqual(['x', '{"a":1}']);
    for (const { headers, key } of dead) {
      expect([key, headers.get('own')]).toEqual(['bad', 'kept too']);
      expect(headers.get('Hexcodes-Reason')).toMatch(/./);
      expect(headers.get('Hexcodes-Place')).toMatch(new RegExp(`^topic ${name}.in`));
    }
  });

  test('a record in Avro, whose schema is in a registry, is answered as JSON', async () => {
    const fields = ['lat', 'lng'].map((name) => ({ name, type: 'double' }));
    const schema = JSON.stringify({ type: 'record', name: 'Position', fields });
    const { base: url, close } = await listening((_, response) => response.end(JSON.stringify({ schema })));
    onTestFinished(close);
    const { name, args } = await setUp();
    start([...args, '--as', `${name}.in=avro`, '--schema-registry', url]);
    const message = Buffer.alloc(21);
    message.writeUInt32BE(300, 1);
    message.writeDoubleLE(21.0288, 5);
    message.writeDoubleLE(105.8525, 13);
    const file = join(folder.path, 'position.avro');
    writeFileSync(file, message);
    broker.produceFile(`${name}.in`, 'car', file);
    const [answer] = await stored(`${name}.out`, 1);
    expect([answer?.key, answer?.headers.get('Hexcodes-Format')]).toEqual(['car', 'json']);
    expect(JSON.parse(answer!.value.toString())).toEqual({
      ...{ lat: 21.0288, lng: 105.8525, hexcodes: 'HN-6GHP4-83RFR' },
      ...{ resolution: 13, admin_code: 'HN', status: 'OK' },
    });
    const refused = await folder.run(['worker', ...args, '--as', `${name}.in=avro`]);
    expect([refused.code, refused.stderr]).toEqual([2, 'hexcodes: --as …=avro needs --schema-registry\n']);
  });

  test('workers share the partitions; one that leaves in the middle costs nothing', async () => {
    const { name, args } = await setUp();
    const [one, other] = [
      start([...args, '--as', `${name}.in=csv`]),
      start([...args, '--as', `${name}.in=csv`]),
    ];
    for (const each of [one, other]) await each.says('joins group');
    const lines = Array.from(
      { length: 3000 },
      (_, i) => `v${i % 30}\t21.${String(i).padStart(4, '0')},105.8525`,
    );
    for (let at = 0; at < lines.length; at += 500) {
      broker.produce(`${name}.in`, lines.slice(at, at + 500));
      if (at === 1500) expect(await one.end()).toBe(0);
    }
    const answers = await stored(`${name}.out`, 3000);
    expect(new Set(answers.map(({ headers }) => headers.get('Hexcodes-Id'))).size).toBe(3000);
    const asked = broker
      .messagesOf(`${name}.in`)
      .map(({ partition, value }) => [partition, value.toString()]);
    const order = (of: readonly (readonly unknown[])[], partition: number): unknown[] =>
      of.filter(([each]) => each === partition).map(([, text]) => text);
    const told = answers.map(({ partition, value }) => [
      partition,
      value.toString().split(',').slice(0, 2).join(','),
    ]);
    for (const partition of [0, 1, 2]) expect(order(told, partition)).toEqual(order(asked, partition));
  });

  test('an answer that its topic does not take is a dead letter, and the others go on', async () => {
    const { name, args } = await setUp();
    start([...args, '--as', `${name}.in=csv`]);
    const file = join(folder.path, 'large.csv');
    writeFileSync(file, '21.0288,105.8525\n'.repeat(30_000));
    broker.produceFile(`${name}.in`, 'big', file);
    broker.produce(`${name}.in`, ['small\t21.0288,105.8525']);
    const [answer] = await stored(`${name}.out`, 1);
    expect(answer?.key).toBe('small');
    const [dead] = await stored(`${name}.dead`, 1);
    expect([dead?.key, dead?.value.length]).toEqual(['big', 30_000 * 17]);
    expect(dead?.headers.get('Hexcodes-Reason')).toContain('max.message.bytes');
  });

  test('headers, a key or an id that leave no space for a letter stop nothing', async () => {
    const { name, args } = await setUp(1);
    start([...args, '--as', `${name}.in=csv`]);
    const producer = new Producer<Buffer, Buffer, Buffer, Buffer>({
      ...{ clientId: 'test', bootstrapBrokers: [broker.plain] },
    });
    const [topic, large, own] = [`${name}.in`, Buffer.alloc(1_040_000, 'x'), Buffer.from('own')];
    const value = Buffer.from('21.0288,105.8525');
    const messages = [
      { headers: new Map([[own, large]]) },
      { headers: new Map([[Buffer.from('Hexcodes-Id'), large]]) },
      { key: large },
      { key: own },
    ];
    for (const each of messages) await producer.send({ messages: [{ topic, partition: 0, value, ...each }] });
    await producer.close();
    expect((await stored(`${name}.out`, 1))[0]?.key).toBe('own');
    for (const { key, value: bytes, headers } of await stored(`${name}.dead`, 3)) {
      expect([key, bytes.length, headers.has('own')]).toEqual(['', 0, false]);
      expect(headers.get('Hexcodes-Reason')).toContain(`its bytes are in topic ${topic}`);
    }
  });

  test.each(['gzip', 'snappy', 'lz4', 'zstd'])('batches of Java and of librdkafka in %s', async (codec) => {
    const { name, args } = await setUp(1);
    const worker = start([...args, '--as', `${name}.in=json`]);
    broker.producePacked(`${name}.in`, codec, 1000);
    const lines = Array.from({ length: 100 }, (_, i) => `kcat${i}\t{"lat":21.0288,"lng":105.8525}`);
    broker.produce(`${name}.in`, lines, {}, ['-z', codec]);
    if (codec === 'zstd' && !('zstdDecompressSync' in zlib)) {
      await expect.poll(() => worker.child.exitCode, WITHIN).toBeGreaterThan(0);
      expect(worker.text).toContain('22.15');
      return;
    }
    const answers = await stored(`${name}.out`, 1100);
    expect(new Set(answers.map(({ key }) => key)).size).toBe(1100);
    expect(answers.every(({ value }) => value.includes('"hexcodes":"HN-'))).toBe(true);
  });

  test('a batch in gzip that unpacks to 140 MB ends the worker, which names the remedy', async () => {
    const { name, args } = await setUp(1);
    const worker = start([...args, '--as', `${name}.in=json`]);
    const producer = new Producer<Buffer, Buffer, Buffer, Buffer>({
      ...{ clientId: 'test', bootstrapBrokers: [broker.plain], compression: 'gzip' },
    });
    const value = Buffer.alloc(2_000_000, ' ');
    await producer.send({ messages: Array.from({ length: 70 }, () => ({ topic: `${name}.in`, value })) });
    await producer.close();
    await expect.poll(() => worker.child.exitCode, WITHIN).toBeGreaterThan(0);
    expect(worker.text).toContain('--reset-offsets');
  });

  test('a start whose connection breaks when it asks for its topics goes on', async () => {
    const { name, args } = await setUp(1);
    let isBroken = false;
    const relay = createServer((socket) => {
      const onward = createConnection(broker.behindPort, '127.0.0.1');
      socket.on('data', (bytes) => {
        if (isBroken || !bytes.includes(`${name}.in`)) return void onward.write(bytes);
        isBroken = true;
        socket.destroy();
      });
      onward.pipe(socket);
      for (const each of [socket, onward])
        each.on('error', () => {}).on('close', () => (each === socket ? onward : socket).destroy());
    }).listen(broker.linkPort, '127.0.0.1');
    onTestFinished(() => void relay.close());
    const worker = start([
      ...args,
      '--as',
      `${name}.in=json`,
      '--from',
      `kafka://127.0.0.1:${broker.linkPort}`,
    ]);
    await worker.says(/cannot be reached: .*; waiting/);
    broker.produce(`${name}.in`, ['car\t{"lat":21.0288,"lng":105.8525}']);
    expect((await stored(`${name}.out`, 1))[0]?.key).toBe('car');
  });

  test('what cannot be is said in one sentence', async () => {
    const run = async (...args: string[]) => {
      const { code, stderr } = await folder.run(['worker', ...args]);
      return [code, stderr.split('\n')[0]];
    };
    expect(await run('--from', broker.plainUrl, '--map', 'nothing=answers')).toEqual([
      expect.any(Number),
      expect.stringMatching(/^hexcodes: there is no topic (nothing|answers)$/),
    ]);
    expect((await run('--from', broker.plainUrl, '--map', 'a.*=b.*'))[1]).toMatch(
      /a topic of Kafka has letters/,
    );
    expect((await run('setup', '--from', broker.plainUrl, '--map', 'a=a'))[1]).toMatch(
      /received as messages again/,
    );
    expect((await run('setup', '--from', 'kafka://127.0.0.1:1'))[1]).toMatch(
      /cannot be reached: .*ECONNREFUSED/,
    );
    expect((await run('--from', 'kafka://me:secret@host'))[1]).toMatch(/must not hold a user or password/);
    expect((await run('--from', 'kafka://ho st'))[1]).toMatch(/must be addresses as kafka:\/\//);
  });
});

describe.skipIf(noKafka !== undefined)(`TLS and SASL of Kafka${kafkaNote}`, () => {
  const folder = new CliFolder();
  afterAll(() => folder.remove());

  test('a worker with its user and the signer works; others are refused in a sentence', async () => {
    const args = ['--from', broker.url, '--map', 's.in=s.out'];
    const run = async (more: string[], password?: string) => {
      const env = password === undefined ? {} : { HEXCODES_KAFKA_PASSWORD: password };
      return folder.run(['worker', 'setup', ...args, '--partitions', '1', ...more], { env });
    };
    const user = ['--user', 'worker'];
    expect((await run([...user, '--tls-ca', ca])).stderr).toMatch(/a user needs a password/);
    expect((await run([...user, '--tls-ca', ca], 'wrong')).stderr).toMatch(/refuses these credentials/);
    expect(
      (await run([...user, '--from', broker.url.replace('kafka:', 'kafka+tls:')], 'secret')).stderr,
    ).toMatch(/no TLS connection: .*Give the signers/s);
    const made = await run([...user, '--tls-ca', ca], 'secret');
    expect(made.code, made.stderr).toBe(0);
    const start = (sasl: string, password: string): WorkerProcess =>
      new WorkerProcess(NATS, [...args, ...user, '--tls-ca', ca, '--sasl', sasl, '--as', 's.in=csv'], {
        HEXCODES_KAFKA_PASSWORD: password,
      });
    let answers = 0;
    for (const [sasl, password] of [
      ['plain', 'secret'],
      ['scram-sha-256', 'secret256'],
      ['scram-sha-512', 'secret512'],
    ] as const) {
      const worker = start(sasl, password);
      try {
        broker.produce('s.in', ['a\t21.0288,105.8525']);
        answers++;
        await expect.poll(() => broker.messagesOf('s.out').length, WITHIN).toBe(answers);
      } finally {
        await worker.end();
      }
    }
    const refused = start('scram-sha-512', 'wrong');
    expect(await refused.ended()).toBe(1);
    expect(refused.text).toMatch(/refuses these credentials/);
  });
});

/** Longer than all patience of a worker with its broker. */
const STOPPED_MS = 20_000;
/** Time in which an answer would come a second time. */
const TWICE_MS = 1500;

describe.skipIf(noKafka !== undefined)(`a worker on Kafka among misfortunes${kafkaNote}`, () => {
  const { start, setUp: made } = kafkaWorkers();
  let admin: Admin;
  beforeAll(() => {
    admin = new Admin({ clientId: 'test', bootstrapBrokers: [broker.plain] });
  });
  afterAll(() => admin?.close());
  const setUp = async (partitions: number) => {
    const { name, args } = await made(partitions);
    return { name, args: [...args, '--as', `${name}.in=csv`] };
  };
  const produce = (name: string, from: number, to: number): void =>
    broker.produce(
      `${name}.in`,
      Array.from(
        { length: to - from },
        (_, i) => `v${(from + i) % 30}\t21.${String(from + i).padStart(4, '0')},105.8`,
      ),
    );
  /** Waits for all that are wanted, and for those that would come twice, where the last ones have not shown them. */
  async function answersOf(name: string, wanted: number, waitMs = 0): Promise<KafkaMessage[]> {
    await expect.poll(() => broker.messagesOf(`${name}.out`).length, WITHIN).toBeGreaterThanOrEqual(wanted);
    await sleep(waitMs);
    const answers = broker.messagesOf(`${name}.out`);
    expect(new Set(answers.map(({ headers }) => headers.get('Hexcodes-Id'))).size).toBe(wanted);
    expect(answers).toHaveLength(wanted);
    return answers;
  }

  test('messages of no bytes, without a value, and headers that are none', async () => {
    const { name, args } = await setUp(2);
    start(args);
    const producer = new Producer<Buffer, Buffer, Buffer, Buffer>({
      ...{ clientId: 'test', bootstrapBrokers: [broker.plain] },
    });
    const topic = `${name}.in`;
    const value = Buffer.from('21.0288,105.8525');
    const odd = new Map([
      [Buffer.of(), Buffer.of()],
      [Buffer.from([0xff, 0xfe]), Buffer.from([0xff, 0x00, 0x0a])],
      [Buffer.from('Hexcodes-Id'), Buffer.of()],
      [Buffer.from('hexcodes-format'), Buffer.from(' CSV ')],
    ]);
    await producer.send({
      messages: [
        { topic, value: Buffer.of() },
        { topic } as never,
        { topic, key: Buffer.of(), value, headers: odd },
        { topic, key: Buffer.from([0xff, 0x00]), value },
        { topic, value, headers: new Map([[Buffer.from('Hexcodes-Resolution'), Buffer.from('99')]]) },
        { topic, value, headers: new Map([[Buffer.from('big'), Buffer.alloc(300_000, 'x')]]) },
      ],
    });
    await producer.close();
    await expect
      .poll(() => broker.messagesOf(`${name}.out`).length + broker.messagesOf(`${name}.dead`).length, WITHIN)
      .toBe(6);
    expect(broker.messagesOf(`${name}.out`).length).toBeGreaterThanOrEqual(3);
    produce(name, 0, 20);
    await expect
      .poll(() => broker.messagesOf(`${name}.out`).length + broker.messagesOf(`${name}.dead`).length, WITHIN)
      .toBe(26);
  });

  test('one partition and two workers, of which the one at work stands still and wakes up', async () => {
    const { name, args } = await setUp(1);
    const all = [start(args), start(args)];
    for (const each of all) await each.says('joins group');
    produce(name, 0, 500);
    await answersOf(name, 500);
    const busy = all.find(({ counts }) => counts.messages > 0)!;
    produce(name, 500, 1500);
    busy.child.kill('SIGSTOP');
    produce(name, 1500, 2500);
    // The other worker has the partition once the silent one is out of the group.
    await expect.poll(() => broker.messagesOf(`${name}.out`).length, WITHIN).toBe(2500);
    busy.child.kill('SIGCONT');
    produce(name, 2500, 3000);
    const answers = await answersOf(name, 3000, TWICE_MS);
    const lats = answers.map(({ value }) => Number(value.toString().split(',')[0]));
    expect(lats).toEqual([...lats].sort((a, b) => a - b));
    expect(busy.hasEnded).toBe(false);
  });

  test('a transaction that the brokers gave up has a sentence of its own, and its messages are answered', async () => {
    const { name, args } = await setUp(1);
    const worker = start([...args, '--instance', 'one']);
    await worker.says('joins group');
    produce(name, 0, 10);
    await answersOf(name, 10);
    // A producer of the same name has the brokers refuse the worker's, as they do after a transaction's time-out.
    const other = new Producer<Buffer, Buffer, Buffer, Buffer>({
      ...{ clientId: 'test', bootstrapBrokers: [broker.plain] },
      ...{ idempotent: true, transactionalId: `${name}.one` },
    });
    await (await other.beginTransaction({ producerId: -1n, producerEpoch: -1 })).cancel();
    await other.close();
    produce(name, 10, 20);
    await worker.says(
      'the brokers gave a transaction up, as it took 10 s or another worker has the same --instance',
    );
    expect(worker.text).not.toContain('PRODUCER_FENCED');
    await answersOf(name, 20, TWICE_MS);
    await worker.end();
    expect(worker.text).toContain('1 tries to store failed');
  });

  test('a broker that stands still for longer than all patience', async () => {
    const { name, args } = await setUp(3);
    const worker = start(args);
    await worker.says('joins group');
    produce(name, 0, 300);
    await answersOf(name, 300);
    broker.signal('SIGSTOP');
    await sleep(STOPPED_MS);
    broker.signal('SIGCONT');
    produce(name, 300, 600);
    await answersOf(name, 600, TWICE_MS);
    expect(worker.hasEnded).toBe(false);
  });

  test('partitions that are added while workers run', async () => {
    const { name, args } = await setUp(1);
    const worker = start(args);
    await worker.says('joins group');
    produce(name, 0, 100);
    await answersOf(name, 100);
    await admin.createPartitions({ topics: [{ name: `${name}.in`, count: 4, assignments: null }] } as never);
    produce(name, 100, 400);
    expect(new Set(broker.messagesOf(`${name}.in`).map(({ partition }) => partition)).size).toBeGreaterThan(
      1,
    );
    await answersOf(name, 400);
    await admin.createPartitions({ topics: [{ name: `${name}.out`, count: 4, assignments: null }] } as never);
    produce(name, 400, 500);
    await answersOf(name, 500, TWICE_MS);
  });

  test('a topic that goes while a worker runs ends it with a sentence', async () => {
    const { name, args } = await setUp(1);
    const worker = start(args);
    await worker.says('joins group');
    produce(name, 0, 10);
    await answersOf(name, 10);
    await admin.deleteTopics({ topics: [`${name}.in`] });
    expect(await worker.ended()).toBe(1);
    expect(worker.text).toMatch(new RegExp(`hexcodes: topic ${name}.in of .* is gone`));
  });
});

test.skipIf(noKafka !== undefined)(
  `five seconds of kills on Kafka: nothing lost, nothing doubled${kafkaNote}`,
  async () => {
    const report = await runKafkaKills(
      { lengthMs: 5000, brokerKills: 1, messagesPerSecond: 200, minWorkerKills: 3 },
      broker,
    );
    expect(report).toMatchObject({ lost: 0, doubled: 0, wrong: 0, disordered: 0, dead: 0, brokerKills: 1 });
    expect(report.messages).toBeGreaterThan(200);
    expect(report.workerKills).toBeGreaterThan(2);
  },
  240_000,
);

test.skipIf(noKafka !== undefined)(
  `a backlog behind a link of 250 kB/s, and workers that are killed: no more is read than the next transaction${kafkaNote}`,
  async () => {
    const backlog = { messages: 5000, noteBytes: 400, bytesPerSecond: 250_000 };
    const report = await runKafkaBacklog({ ...backlog, workers: 2, workerKills: 2 }, broker);
    expect(report).toMatchObject({ lost: 0, doubled: 0, wrong: 0, dead: 0, workerKills: 2 });
    // The next transaction of each worker, 5 % on a quiet machine; 179 % where a worker fetches as much as it may hold.
    expect(report.readFirstPercent).toBeLessThan(50);
  },
  300_000,
);
