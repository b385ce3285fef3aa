// Messages of four formats go through three workers on Kafka while one at a time is killed every second and the broker
// is killed; at the end kcat, which knows nothing of our client, reads messages and answers, and each answer is
// compared with the library.

import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Admin, type Producer as KafkaProducer, Producer } from '@platformatic/kafka';
import { CliFolder } from '../cli.js';
import { KafkaBroker, type KafkaMessage } from '../kafka.js';
import { ThrottledLink } from '../throttled-link.js';
import { answerByLibrary, encodeFrame, loadLibrary, positionsOf, WorkerProcess } from './frames.js';

interface KafkaKillOptions {
  readonly lengthMs: number;
  readonly brokerKills: number;
  readonly messagesPerSecond: number;
  /** Messages go on until this number of workers is killed, for longer than `lengthMs` where workers begin slowly. */
  readonly minWorkerKills: number;
}

interface KafkaKillReport {
  /** Messages of the topic, as the reader counts them. */
  readonly messages: number;
  readonly points: number;
  readonly lost: number;
  readonly doubled: number;
  /** Answers with other codes than the library's, another key or other headers. */
  readonly wrong: number;
  /** Answers of a key that do not be in the order of their messages. */
  readonly disordered: number;
  readonly dead: number;
  readonly workerKills: number;
  readonly brokerKills: number;
  readonly lengthS: number;
}

const FORMATS = ['frames', 'csv', 'ndjson', 'json'] as const;
const POINTS = { frames: 256, csv: 40, ndjson: 20, json: 1 };
const RESOLUTION = 13;
const KEYS = 50;
const WORKERS = 3;
const KILL_EVERY_MS = 1000;
const BROKER_DOWN_MS = 500;
const SETTLE_MS = 60_000;
const TICK_MS = 50;

const formatOf = (number: number): (typeof FORMATS)[number] => FORMATS[number % FORMATS.length]!;

/** The message of a number. */
function bytesOf(number: number): Buffer {
  const format = formatOf(number);
  const latLng = positionsOf(number, POINTS[format]);
  if (format === 'frames') return Buffer.from(encodeFrame(latLng, number));
  const rows = Array.from(
    { length: POINTS[format] },
    (_, i) => [latLng[2 * i]!, latLng[2 * i + 1]!] as const,
  );
  return Buffer.from(
    rows.map(([lat, lng]) => (format === 'csv' ? `${lat},${lng}` : JSON.stringify({ lat, lng }))).join('\n'),
  );
}

/** @param shared a broker that is killed, and started again; default: one of the run's own */
export async function runKafkaKills(
  options: KafkaKillOptions,
  shared?: KafkaBroker,
): Promise<KafkaKillReport> {
  const broker = shared ?? (await KafkaBroker.start());
  const folder = new CliFolder();
  const workers: WorkerProcess[] = [];
  const startedMs = performance.now();
  const startWorker = (at: number): WorkerProcess =>
    new WorkerProcess('nats://127.0.0.1:4222', [
      '--from',
      broker.plainUrl,
      '--instance',
      `w${at}`,
      '--report',
      '100ms',
      '-r',
      `${RESOLUTION}`,
    ]);
  const producer = new Producer<Buffer, Buffer, Buffer, Buffer>({
    ...{ clientId: 'test', bootstrapBrokers: [broker.plain], idempotent: true },
    ...{ retryDelay: 100, timeout: 5000 },
  });
  try {
    const setup = await folder.run(['worker', 'setup', '--from', broker.plainUrl, '--partitions', '6']);
    if (setup.code !== 0) throw new Error(setup.stderr);
    for (let at = 0; at < WORKERS; at++) workers.push(startWorker(at));
    let hasEnded = false;
    let workerKills = 0;
    const isEnough = (): boolean => workerKills >= options.minWorkerKills;
    const producing = produce(producer, options, isEnough).finally(() => {
      hasEnded = true;
    });
    const misfortunes = killBroker(broker, options);
    while (!hasEnded) {
      await sleep(KILL_EVERY_MS);
      const at = workerKills++ % WORKERS;
      // On a busy machine none would ever work.
      await workers[at]!.says('joins group', SETTLE_MS);
      await workers[at]!.end('SIGKILL');
      workers[at] = startWorker(at);
    }
    await Promise.all([producing, misfortunes]);
    const asked = broker.messagesOf('hexcodes.in');
    for (const deadline = performance.now() + SETTLE_MS; performance.now() < deadline; await sleep(500))
      if (broker.messagesOf('hexcodes.out').length >= asked.length) break;
    // Time for answers that would be doubled.
    await sleep(KILL_EVERY_MS);
    for (const worker of workers) await worker.end();
    const compared = await comparisonOf(asked, broker.messagesOf('hexcodes.out'));
    if (compared.lost > 0) for (const { text } of workers) console.error(text.slice(-2000));
    return {
      ...compared,
      dead: broker.messagesOf('hexcodes.dead').length,
      ...{ workerKills, brokerKills: options.brokerKills },
      lengthS: Math.round((performance.now() - startedMs) / 1000),
    };
  } finally {
    for (const worker of workers) await worker.end('SIGKILL');
    await Promise.resolve(producer.close(true)).catch(() => {});
    folder.remove();
    if (shared === undefined) await broker.remove();
  }
}

async function produce(
  producer: KafkaProducer<Buffer, Buffer, Buffer, Buffer>,
  { lengthMs, messagesPerSecond }: KafkaKillOptions,
  isEnough: () => boolean,
): Promise<void> {
  const startMs = performance.now();
  let sent = 0;
  for (let elapsedMs = 0; elapsedMs < lengthMs || !isEnough(); elapsedMs = performance.now() - startMs) {
    const due = Math.floor((elapsedMs * messagesPerSecond) / 1000);
    const numbers = Array.from({ length: Math.min(due - sent, 400) }, (_, i) => sent + i);
    sent += numbers.length;
    const messages = numbers.map((number) => ({
      topic: 'hexcodes.in',
      key: Buffer.from(`vehicle-${number % KEYS}`),
      value: bytesOf(number),
      headers: new Map([
        [Buffer.from('number'), Buffer.from(`${number}`)],
        [Buffer.from('Hexcodes-Format'), Buffer.from(formatOf(number))],
      ]),
    }));
    // Whatever the producer repeats counts as another message: the reader says what there is.
    if (messages.length > 0) await producer.send({ messages }).catch(() => sleep(200));
    await sleep(TICK_MS);
  }
}

async function killBroker(broker: KafkaBroker, { lengthMs, brokerKills }: KafkaKillOptions): Promise<void> {
  for (let kill = 0; kill < brokerKills; kill++) {
    await sleep(lengthMs / (brokerKills + 1));
    await broker.kill();
    await sleep(BROKER_DOWN_MS);
    await broker.resume();
  }
}

type Comparison = Pick<KafkaKillReport, 'messages' | 'points' | 'lost' | 'doubled' | 'wrong' | 'disordered'>;

async function comparisonOf(
  asked: readonly KafkaMessage[],
  answers: readonly KafkaMessage[],
): Promise<Comparison> {
  const hexcodes = await loadLibrary();
  const byId = new Map<string, KafkaMessage[]>();
  for (const answer of answers) {
    const id = answer.headers.get('Hexcodes-Id') ?? '';
    byId.set(id, [...(byId.get(id) ?? []), answer]);
  }
  const counts = { messages: asked.length, points: 0, lost: 0, doubled: 0, wrong: 0, disordered: 0 };
  const last = new Map<string, number>();
  for (const message of [...asked].sort((a, b) => a.partition - b.partition || a.offset - b.offset)) {
    const number = Number(message.headers.get('number'));
    const format = formatOf(number);
    counts.points += POINTS[format];
    const id = `hexcodes.in-${message.partition}:${message.offset}`;
    const [answer, ...others] = byId.get(id) ?? [];
    byId.delete(id);
    if (answer === undefined) {
      counts.lost++;
      continue;
    }
    if (others.length > 0) counts.doubled++;
    const latLng = positionsOf(number, POINTS[format]);
    const isRight =
      answer.key === message.key &&
      answer.headers.get('number') === `${number}` &&
      answer.headers.get('Hexcodes-Format') === format &&
      (format === 'frames'
        ? Buffer.compare(answer.value, answerByLibrary(hexcodes, latLng, number)) === 0
        : codesIn(answer.value) === codesBy(hexcodes, latLng));
    if (!isRight) counts.wrong++;
    const at = last.get(answer.key) ?? -1;
    if (answer.offset < at) counts.disordered++;
    last.set(answer.key, answer.offset);
  }
  // Any other answer was never asked for.
  return { ...counts, wrong: counts.wrong + byId.size };
}

const codesBy = (hexcodes: Awaited<ReturnType<typeof loadLibrary>>, latLng: Float64Array): string =>
  Buffer.from(hexcodes.encodeBatch(latLng, RESOLUTION))
    .toString('latin1')
    .match(/[\s\S]{20}/g)!
    .map((record) => (record.charCodeAt(19) === 0 ? record.slice(0, 19).replace(/\0+$/, '') : '-'))
    .join(' ');

/** Codes of rows, in CSV after the coordinates, in JSON the member. */
const codesIn = (bytes: Buffer): string =>
  bytes
    .toString()
    .trimEnd()
    .split('\n')
    .map((row) =>
      row.startsWith('{')
        ? ((JSON.parse(row) as { hexcodes: string | null }).hexcodes ?? '-')
        : row.split(',')[2] || '-',
    )
    .join(' ');

// A backlog on Kafka behind a slow link: messages wait, workers start, and each in turn is killed while they work it
// off. The broker's own log and the offsets of the group say what happened, and each answer is compared with the
// library.

interface BacklogOptions {
  readonly messages: number;
  /** Bytes of a text in each message. */
  readonly noteBytes: number;
  /** Bytes a second of the link in each direction, which all workers share. */
  readonly bytesPerSecond: number;
  readonly workers: number;
  readonly workerKills: number;
}

interface BacklogReport {
  readonly messages: number;
  readonly lost: number;
  readonly doubled: number;
  /** Answers that are not the library's. */
  readonly wrong: number;
  readonly dead: number;
  readonly workerKills: number;
  /** Messages that a worker says it had before. */
  readonly redelivered: number;
  /** Bytes over the link, in percent of those of the topic: what a killed worker had read counts twice. */
  readonly readPercent: number;
  /** Bytes over the link up to the first answers that are committed, in percent of those of the topic. */
  readonly readFirstPercent: number;
  /** From the start of the workers to the first answers that are committed. */
  readonly firstAnswersS: number;
  readonly lengthS: number;
}

const PARTITIONS = 12;
const VEHICLES = 200;
const GROUP = 'backlog';
const LOOK_MS = 100;
/** Time without an answer after which the run has failed. */
const STALLED_MS = 60_000;

/** @param shared a broker that is left as it is; default: one of the run's own */
export async function runKafkaBacklog(options: BacklogOptions, shared?: KafkaBroker): Promise<BacklogReport> {
  const broker = shared ?? (await KafkaBroker.start());
  const { linkPort, behindPort } = broker;
  const folder = new CliFolder();
  const admin = new Admin({ clientId: 'test', bootstrapBrokers: [broker.plain] });
  const link = await ThrottledLink.open({
    from: linkPort,
    to: behindPort,
    bytesPerSecond: options.bytesPerSecond,
  });
  const names = [
    '--from',
    `kafka://127.0.0.1:${linkPort}`,
    '--map',
    'positions=answers',
    '--dead-subject',
    'positions.dead',
    '--consumer',
    GROUP,
  ];
  const start = (at: number): WorkerProcess => {
    const own = [
      '--as',
      'positions=json',
      '--instance',
      `w${at}`,
      '--report',
      '100ms',
      '-r',
      `${RESOLUTION}`,
    ];
    return new WorkerProcess('nats://127.0.0.1:4222', [...names, ...own]);
  };
  const workers: WorkerProcess[] = [];
  let redelivered = 0;
  try {
    const setup = await folder.run(['worker', 'setup', ...names, '--partitions', `${PARTITIONS}`]);
    if (setup.code !== 0) throw new Error(setup.stderr);
    fill(broker, options);
    const setUpBytes = (await link.carried()).down;
    const startedMs = performance.now();
    for (let at = 0; at < options.workers; at++) workers.push(start(at));
    let [firstMs, firstBytes] = [0, 0];
    let kills = 0;
    for (let done = 0, doneMs = startedMs; done < options.messages; await sleep(LOOK_MS)) {
      const now = await committedOf(admin);
      if (now > done) {
        done = now;
        doneMs = performance.now();
        if (firstMs === 0) {
          firstMs = doneMs - startedMs;
          firstBytes = (await link.carried()).down - setUpBytes;
        }
      } else if (performance.now() - doneMs > STALLED_MS)
        throw new Error(`no answer for a minute: ${workers.map(({ text }) => text.slice(-1000)).join('\n')}`);
      if (
        kills < options.workerKills &&
        done > ((kills + 1) * options.messages) / (options.workerKills + 1)
      ) {
        const at = kills++ % options.workers;
        await workers[at]!.end('SIGKILL');
        redelivered += workers[at]!.counts.redelivered;
        workers[at] = start(at);
      }
    }
    const lengthS = Math.round((performance.now() - startedMs) / 1000);
    const readBytes = (await link.carried()).down - setUpBytes;
    for (const worker of workers) {
      await worker.end();
      redelivered += worker.counts.redelivered;
    }
    const percentOf = (bytes: number): number => Math.round((100 * bytes) / logBytesOf(broker, 'positions'));
    return {
      ...(await backlogComparisonOf(broker, options.messages)),
      dead: broker.messagesOf('positions.dead').length,
      ...{ workerKills: kills, redelivered },
      readPercent: percentOf(readBytes),
      readFirstPercent: percentOf(firstBytes),
      ...{ firstAnswersS: Math.round(firstMs / 100) / 10, lengthS },
    };
  } finally {
    for (const worker of workers) await worker.end('SIGKILL');
    await admin.close();
    await link.close();
    folder.remove();
    if (shared === undefined) await broker.remove();
  }
}

/** Stores the messages, beside the link, in batches as of producers that send often. */
function fill(broker: KafkaBroker, { messages, noteBytes }: BacklogOptions): void {
  const note = noteBytes === 0 ? '' : `,"note":"${'x'.repeat(noteBytes)}"`;
  const lines = Array.from({ length: messages }, (_, n) => {
    const [lat, lng] = positionsOf(n, 1);
    return `vehicle-${n % VEHICLES}\t{"n":${n},"lat":${lat!.toFixed(6)},"lng":${lng!.toFixed(6)}${note}}`;
  });
  broker.produce('positions', lines, {}, ['-X', 'batch.num.messages=100']);
}

/** Messages up to the offsets of the group. */
async function committedOf(admin: Admin): Promise<number> {
  const partitionIndexes = Array.from({ length: PARTITIONS }, (_, n) => n);
  const groups = [{ groupId: GROUP, topics: [{ name: 'positions', partitionIndexes }] }];
  const [found] = await admin.listConsumerGroupOffsets({ groups });
  let messages = 0;
  for (const { committedOffset } of found?.topics[0]?.partitions ?? [])
    messages += Math.max(0, Number(committedOffset));
  return messages;
}

/** Bytes of a topic in the files of the broker. */
const logBytesOf = (broker: KafkaBroker, topic: string): number =>
  Array.from({ length: PARTITIONS }, (_, n) => join(broker.folder, 'logs', `${topic}-${n}`))
    .flatMap((folder) => readdirSync(folder).map((name) => join(folder, name)))
    .filter((path) => path.endsWith('.log'))
    .reduce((sum, path) => sum + statSync(path).size, 0);

async function backlogComparisonOf(
  broker: KafkaBroker,
  messages: number,
): Promise<Pick<BacklogReport, 'messages' | 'lost' | 'doubled' | 'wrong'>> {
  const hexcodes = await loadLibrary();
  const answered = new Uint8Array(messages);
  let wrong = 0;
  for (const { key, value } of broker.messagesOf('answers')) {
    const answer = JSON.parse(value.toString()) as { n: number; lat: number; lng: number; hexcodes: string };
    const record = hexcodes.encodeBatch(Float64Array.of(answer.lat, answer.lng), RESOLUTION);
    const code =
      record[19] === 0 ? Buffer.from(record.subarray(0, 19)).toString('latin1').replace(/\0+$/, '') : null;
    const [lat, lng] = positionsOf(answer.n, 1);
    const isAsked = answer.lat === Number(lat!.toFixed(6)) && answer.lng === Number(lng!.toFixed(6));
    if (!isAsked || answer.hexcodes !== code || key !== `vehicle-${answer.n % VEHICLES}`) wrong++;
    else answered[answer.n]!++;
  }
  const count = (isCounted: (times: number) => boolean): number => answered.filter(isCounted).length;
  return { messages, lost: count((times) => times === 0), doubled: count((times) => times > 1), wrong };
}
