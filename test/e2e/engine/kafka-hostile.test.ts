// A worker on Kafka among what goes wrong in odd ways: processes that stand still, partitions that are added, topics
// that go, messages of no bytes, headers that are none. Every message has one answer or dead letter.
import { setTimeout as sleep } from 'node:timers/promises';
import { Admin, Producer } from '@platformatic/kafka';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { CliFolder } from '../../support/cli.js';
import { WorkerProcess } from '../../support/engine/worker-process.js';
import { KafkaBroker, type KafkaMessage, kafkaNote, noKafka } from '../../support/kafka.js';

const NATS = 'nats://127.0.0.1:4222';
const WITHIN = { timeout: 90_000, interval: 500 };
/** Longer than the silence after which a member has left its group. */
const STOPPED_MS = 14_000;

describe.skipIf(noKafka !== undefined)(`a worker on Kafka among misfortunes${kafkaNote}`, () => {
  const folder = new CliFolder();
  let broker: KafkaBroker;
  let admin: Admin;
  let workers: WorkerProcess[] = [];
  let count = 0;
  beforeAll(async () => {
    broker = await KafkaBroker.start();
    admin = new Admin({ clientId: 'test', bootstrapBrokers: [`127.0.0.1:${broker.port}`] });
  });
  afterEach(async () => {
    for (const worker of workers) await worker.end('SIGKILL');
    workers = [];
  });
  afterAll(async () => {
    folder.remove();
    await admin?.close();
    await broker?.remove();
  });

  const start = (args: string[]): WorkerProcess => {
    const worker = new WorkerProcess(NATS, [...args, '--report', '100ms']);
    workers.push(worker);
    return worker;
  };
  async function setUp(partitions: number): Promise<{ name: string; args: string[] }> {
    const name = `h${++count}`;
    const args = ['--from', broker.url, '--map', `${name}.in=${name}.out`, '--dead-subject', `${name}.dead`];
    args.push('--consumer', name);
    const made = await folder.run(['worker', 'setup', ...args, '--partitions', String(partitions)]);
    expect(made.code, made.stderr).toBe(0);
    return { name, args: [...args, '--as', `${name}.in=csv`] };
  }
  const produce = (name: string, from: number, to: number): void =>
    broker.produce(
      `${name}.in`,
      Array.from(
        { length: to - from },
        (_, i) => `v${(from + i) % 30}\t21.${String(from + i).padStart(4, '0')},105.8`,
      ),
    );
  /** Waits for all that are wanted, and for those that would come twice. */
  async function answersOf(name: string, wanted: number): Promise<KafkaMessage[]> {
    await expect.poll(() => broker.messagesOf(`${name}.out`).length, WITHIN).toBeGreaterThanOrEqual(wanted);
    await sleep(1500);
    const answers = broker.messagesOf(`${name}.out`);
    expect(new Set(answers.map(({ headers }) => headers.get('Hexcodes-Id'))).size).toBe(wanted);
    expect(answers).toHaveLength(wanted);
    return answers;
  }

  test('messages of no bytes, without a value, and headers that are none', async () => {
    const { name, args } = await setUp(2);
    start(args);
    const producer = new Producer<Buffer, Buffer, Buffer, Buffer>({
      ...{ clientId: 'test', bootstrapBrokers: [`127.0.0.1:${broker.port}`] },
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

  test('one partition and three workers, of which the one at work stands still and wakes up', async () => {
    const { name, args } = await setUp(1);
    const all = [start(args), start(args), start(args)];
    for (const each of all) await each.says('works on');
    produce(name, 0, 500);
    await answersOf(name, 500);
    const busy = all.find(({ counts }) => counts.messages > 0)!;
    produce(name, 500, 1500);
    busy.child.kill('SIGSTOP');
    produce(name, 1500, 2500);
    await sleep(STOPPED_MS);
    await expect.poll(() => broker.messagesOf(`${name}.out`).length, WITHIN).toBe(2500);
    busy.child.kill('SIGCONT');
    produce(name, 2500, 3000);
    const answers = await answersOf(name, 3000);
    const lats = answers.map(({ value }) => Number(value.toString().split(',')[0]));
    expect(lats).toEqual([...lats].sort((a, b) => a - b));
    expect(busy.hasEnded).toBe(false);
  });

  test('a broker that stands still for longer than all patience', async () => {
    const { name, args } = await setUp(3);
    const worker = start(args);
    await worker.says('works on');
    produce(name, 0, 300);
    await answersOf(name, 300);
    broker.signal('SIGSTOP');
    await sleep(STOPPED_MS + 6000);
    broker.signal('SIGCONT');
    produce(name, 300, 600);
    await answersOf(name, 600);
    expect(worker.hasEnded).toBe(false);
  });

  test('partitions that are added while workers run', async () => {
    const { name, args } = await setUp(1);
    const worker = start(args);
    await worker.says('works on');
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
    await answersOf(name, 500);
  });

  test('a topic that goes while a worker runs ends it with a sentence', async () => {
    const { name, args } = await setUp(1);
    const worker = start(args);
    await worker.says('works on');
    produce(name, 0, 10);
    await answersOf(name, 10);
    await admin.deleteTopics({ topics: [`${name}.in`] });
    expect(await worker.ended()).toBe(1);
    expect(worker.text).toMatch(new RegExp(`hexcodes: topic ${name}.in of .* is gone`));
  });
});
