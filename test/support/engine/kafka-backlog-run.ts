// A backlog on Kafka behind a slow link: messages wait, workers start, and each in turn is killed while they work it
// off. The broker's own log and the offsets of the group say what happened, and each answer is compared with the
// library.
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Admin } from '@platformatic/kafka';
import { CliFolder } from '../cli.js';
import { KafkaBroker } from '../kafka.js';
import { ThrottledLink } from '../throttled-link.js';
import { loadLibrary, positionsOf } from './frames.js';
import { WorkerProcess } from './worker-process.js';

export interface BacklogOptions {
  readonly messages: number;
  /** Bytes of a text in each message. */
  readonly noteBytes: number;
  /** Bytes a second of the link in each direction, which all workers share. */
  readonly bytesPerSecond: number;
  readonly workers: number;
  readonly workerKills: number;
}

export interface BacklogReport {
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
const KEYS = 200;
const RESOLUTION = 13;
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
    const percentOf = (bytes: number): number => Math.round((100 * bytes) / bytesOf(broker, 'positions'));
    return {
      ...(await comparisonOf(broker, options.messages)),
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
    return `vehicle-${n % KEYS}\t{"n":${n},"lat":${lat!.toFixed(6)},"lng":${lng!.toFixed(6)}${note}}`;
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
const bytesOf = (broker: KafkaBroker, topic: string): number =>
  Array.from({ length: PARTITIONS }, (_, n) => join(broker.folder, 'logs', `${topic}-${n}`))
    .flatMap((folder) => readdirSync(folder).map((name) => join(folder, name)))
    .filter((path) => path.endsWith('.log'))
    .reduce((sum, path) => sum + statSync(path).size, 0);

async function comparisonOf(
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
    if (!isAsked || answer.hexcodes !== code || key !== `vehicle-${answer.n % KEYS}`) wrong++;
    else answered[answer.n]!++;
  }
  const count = (isCounted: (times: number) => boolean): number => answered.filter(isCounted).length;
  return { messages, lost: count((times) => times === 0), doubled: count((times) => times > 1), wrong };
}
