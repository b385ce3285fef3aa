// `npm run bench -- engine [--rounds 7] [--points N] [--longer TIMES] [--only KINDS] [--kafka] [--subjects 200000]`:
// points a second that one worker moves through JetStream, or Kafka, by itself and with a thread that converts, against
// the same worker with the kernel left out and against the least program that a client can be, interleaved; CPU time of
// worker and server; one message at a time (--ordered). --longer: turns of as many times the messages. --subjects: the
// server's memory for N answers, each under a subject of its own.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { Admin, Producer } from '@platformatic/kafka';
import { Hexcodes } from '#dist/hexcodes/library/hexcodes.js';
import { CliFolder } from '../test/support/cli.js';
import { encodeFrame } from '../test/support/engine/frames.js';
import { KafkaBroker, noKafka } from '../test/support/kafka.js';
import { NatsServer, noNats } from '../test/support/nats.js';
import { makeCorpora } from './corpora.js';
import type { Measured, Subject } from './engine/worker-child.js';
import { BenchTable, type Head, head, headLine, spread, spreadText } from './table.js';

/** Messages of a turn by points of each. */
const LOADS = [
  { points: 256, messages: 2500 },
  { points: 4096, messages: 800 },
  { points: 16_384, messages: 150 },
];
const CHILD = new URL('./engine/worker-child.js', import.meta.url);
const CLOCK_TICKS = 100;
const WINDOW = 32;
const NATS_KINDS = ['kernel', 'pool', 'control', 'minimal', 'ordered'] as const;
const KAFKA_KINDS = ['kernel', 'control'] as const;

interface Turn extends Measured {
  readonly serverCpuMs: number;
}

export default async function benchEngine(args: string[]): Promise<void> {
  const options = {
    rounds: { type: 'string', default: '7' },
    subjects: { type: 'string' },
    only: { type: 'string' },
    points: { type: 'string' },
    longer: { type: 'string', default: '1' },
    kafka: { type: 'boolean', default: false },
  } as const;
  const { values } = parseArgs({ args, options });
  for (const load of LOADS) load.messages *= Number(values.longer);
  const reason = values.kafka ? noKafka : noNats;
  if (reason !== undefined) throw new Error(reason);
  const kinds = (values.only?.split(',') ?? (values.kafka ? KAFKA_KINDS : NATS_KINDS)) as Kind[];
  const server = values.kafka ? await KafkaBroker.start() : await NatsServer.start();
  try {
    if (server instanceof KafkaBroker) {
      const points = values.points === undefined ? undefined : Number(values.points);
      const heading = head(['@platformatic/kafka'], { 'Apache Kafka': '4.1.1' });
      const place = await kafkaPlace(server);
      await measureSpeed('engine-kafka', heading, place, kinds, Number(values.rounds), points);
      return;
    }
    if (values.subjects !== undefined) return await measureSubjects(server, Number(values.subjects));
    const nc = await server.connect();
    const points = values.points === undefined ? undefined : Number(values.points);
    await measureSpeed('engine', headOf(nc), natsPlace(server, nc), kinds, Number(values.rounds), points);
  } finally {
    await server.remove();
  }
}

/** A bus with a backlog that workers read. */
interface Place {
  readonly url: string;
  readonly pid: number;
  /** @returns the consumer or group that a turn is to use */
  prepare(frame: Uint8Array, count: number, isOrdered: boolean): Promise<string>;
}

type Kind = Subject | 'ordered';

async function measureSpeed(
  name: string,
  heading: Head,
  place: Place,
  kinds: readonly Kind[],
  rounds: number,
  points?: number,
): Promise<void> {
  const { kernel: drawing } = await Hexcodes.load();
  const { tracks } = makeCorpora(drawing, readFileSync('data/index.bin'), LOADS.at(-1)!.points);
  const titles = ['points a message', 'what', 'M points/s', 'CPU, ns a point', 'CPU ÷ least'];
  const table = new BenchTable(name, heading, [...titles, 'server CPU, ns a point'], '', { rounds });
  for (const load of LOADS.filter((each) => points === undefined || each.points === points)) {
    const frame = encodeFrame(tracks.subarray(0, 2 * load.points));
    const turns = new Map<Kind, Turn[]>(kinds.map((kind) => [kind, []]));
    for (let round = 0; round < rounds; round++)
      for (const kind of round % 2 === 0 ? kinds : kinds.toReversed()) {
        const isOrdered = kind === 'ordered';
        const count = isOrdered ? Math.ceil(load.messages / 5) : load.messages;
        const group = await place.prepare(frame, count, isOrdered);
        turns.get(kind)!.push(await turn(place, isOrdered ? 'kernel' : kind, count, group));
      }
    const base = turns.get(kinds.includes('minimal') ? 'minimal' : 'control')!;
    for (const [kind, own] of turns) {
      const count = kind === 'ordered' ? Math.ceil(load.messages / 5) : load.messages;
      const all = load.points * count;
      table.row([
        load.points.toLocaleString('en'),
        kind,
        spreadText(spread(own.map(({ ms }) => all / ms / 1000))),
        spreadText(spread(own.map(({ cpuMs }) => (cpuMs * 1e6) / all)), 0),
        spreadText(
          spread(own.map(({ cpuMs }, i) => (cpuMs / all / base[i]!.cpuMs) * load.points * load.messages)),
        ),
        spreadText(spread(own.map(({ serverCpuMs }) => (serverCpuMs * 1e6) / all)), 0),
      ]);
    }
  }
  table.end();
}

function natsPlace(server: NatsServer, nc: NatsConnection): Place {
  return {
    url: server.url,
    pid: server.pid,
    prepare: async (frame, count, isOrdered) => {
      await prepare(server, nc, frame, count, isOrdered);
      return 'hexcodes';
    },
  };
}

/** Topics of one size of messages, which each turn reads from the beginning as a group of its own. */
async function kafkaPlace(broker: KafkaBroker): Promise<Place> {
  const folder = new CliFolder();
  const producer = new Producer<Buffer, Buffer, Buffer, Buffer>({
    ...{ clientId: 'bench', bootstrapBrokers: [`127.0.0.1:${broker.port}`], maxBytes: 2 ** 20 },
  });
  let made: Uint8Array | undefined;
  let turns = 0;
  return {
    url: broker.url,
    pid: broker.pid,
    prepare: async (frame, count) => {
      if (made !== frame) {
        const admin = new Admin({ clientId: 'bench', bootstrapBrokers: [`127.0.0.1:${broker.port}`] });
        await admin
          .deleteTopics({ topics: ['hexcodes.in', 'hexcodes.out', 'hexcodes.dead'] })
          .catch(() => {});
        await admin.close();
        const args = ['worker', 'setup', '--from', broker.url, '--partitions', '4'];
        // Topics that are being deleted cannot be made yet.
        while ((await folder.run(args)).code !== 0);
        for (let at = 0; at < count; at++)
          await producer.send({
            messages: [{ topic: 'hexcodes.in', partition: at % 4, value: Buffer.from(frame) }],
          });
        made = frame;
      }
      return `turn-${turns++}`;
    },
  };
}

/** Streams as setup makes them, empty, and a backlog. */
async function prepare(
  server: NatsServer,
  nc: NatsConnection,
  frame: Uint8Array,
  count: number,
  isOrdered: boolean,
): Promise<void> {
  const jsm = await jetstreamManager(nc);
  for (const name of ['HEXCODES_IN', 'HEXCODES_OUT', 'HEXCODES_DEAD'])
    await jsm.streams.delete(name).catch(() => {});
  const folder = new CliFolder();
  const ran = await folder.run([
    'worker',
    'setup',
    '--nats',
    server.url,
    ...(isOrdered ? ['--ordered'] : []),
  ]);
  folder.remove();
  if (ran.code !== 0) throw new Error(ran.stderr);
  const client = jetstream(nc);
  for (let from = 0; from < count; from += WINDOW)
    await Promise.all(
      Array.from({ length: Math.min(WINDOW, count - from) }, (_, k) =>
        client.publish('hexcodes.in.bench', frame, { msgID: `m${from + k}` }),
      ),
    );
}

async function turn(place: Place, subject: Subject, messages: number, group: string): Promise<Turn> {
  const child = fork(CHILD, [place.url, subject, String(messages), group]);
  await once(child, 'message');
  const before = cpuMsOf(place.pid);
  child.send('go');
  const [measured] = (await once(child, 'message')) as [Measured];
  const serverCpuMs = cpuMsOf(place.pid) - before;
  if (child.exitCode === null) await once(child, 'exit');
  return { ...measured, serverCpuMs };
}

/** CPU time of a process, all its threads. */
function cpuMsOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / CLOCK_TICKS;
}

async function measureSubjects(server: NatsServer, subjects: number): Promise<void> {
  const nc = await server.connect();
  const jsm = await jetstreamManager(nc);
  const folder = new CliFolder();
  const ran = await folder.run(['worker', 'setup', '--nats', server.url]);
  folder.remove();
  if (ran.code !== 0) throw new Error(ran.stderr);
  const residentMb = (): number =>
    Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))![1]) / 1024;
  const before = residentMb();
  const client = jetstream(nc);
  const answer = new Uint8Array(SMALL_ANSWER_BYTES);
  for (let from = 0; from < subjects; from += 1000)
    await Promise.all(
      Array.from({ length: 1000 }, (_, k) =>
        client.publish(`hexcodes.out.bench.0190c3a2-${from + k}`, answer),
      ),
    );
  const { state } = await jsm.streams.info('HEXCODES_OUT');
  const after = residentMb();
  const bytes = ((after - before) * 2 ** 20) / state.messages;
  console.log(`${headLine(headOf(nc))}\n`);
  console.log(
    `${state.messages} subjects: ${before.toFixed(0)} MB before, ${after.toFixed(0)} MB after, ${bytes.toFixed(0)} bytes each`,
  );
}

const headOf = (nc: NatsConnection) =>
  head(['@nats-io/jetstream'], { 'nats-server': nc.info?.version ?? 'unknown' });

/** A small answer: its own bytes lie on the disk. */
const SMALL_ANSWER_BYTES = 36;
