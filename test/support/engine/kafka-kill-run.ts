// Messages of four formats go through three workers on Kafka while one at a time is killed every second and the broker
// is killed; at the end kcat, which knows nothing of our client, reads messages and answers, and each answer is
// compared with the library.
import { setTimeout as sleep } from 'node:timers/promises';
import { type Producer as KafkaProducer, Producer } from '@platformatic/kafka';
import { CliFolder } from '../cli.js';
import { KafkaBroker, type KafkaMessage } from '../kafka.js';
import { answerByLibrary, encodeFrame, loadLibrary, positionsOf } from './frames.js';
import { WorkerProcess } from './worker-process.js';

export interface KafkaKillOptions {
  readonly lengthMs: number;
  readonly brokerKills: number;
  readonly messagesPerSecond: number;
  /** Messages go on until this number of workers is killed, for longer than `lengthMs` where workers begin slowly. */
  readonly minWorkerKills: number;
}

export interface KafkaKillReport {
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
      await workers[at]!.says('works on', SETTLE_MS);
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
