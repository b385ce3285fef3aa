// A worker of the bench as a process of its own, with the kernel or with a constant in its place, or the least program
// that a client of NATS can be in its stead. It connects, waits for the word, answers as many messages as it is told,
// and reports the time from the first answer to the last and its CPU time.
import { jetstream } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { AnswerBuffers, MessageConverter } from '#dist/bus/messages/message-converter.js';
import { DEFAULT_RULES } from '#dist/bus/messages/message-shape.js';
import { BUSES } from '#dist/bus/open-bus.js';
import { SubjectMap } from '#dist/bus/subjects.js';
import { Worker } from '#dist/bus/worker.js';
import { workerKernel } from '#dist/files/library.js';
import { Hexcodes } from '#dist/hexcodes/library/hexcodes.js';
import { Pool } from '#pool';

/**
 * `pool`: the kernel of one thread of a pool, as with --threads 1; `control`: the worker without the kernel; `minimal`:
 * nothing but the client, which stores zero bytes under the same subjects and acknowledges.
 */
export type Subject = 'kernel' | 'pool' | 'control' | 'minimal';

export interface Measured {
  readonly ms: number;
  readonly cpuMs: number;
}

const HEADER_BYTES = 16;
const POINT_BYTES = 16;
const RECORD_BYTES = 20;
const UNDER_WAY = 32;

const [url = '', subject = '', wanted = '', group = ''] = process.argv.slice(2);
const isKafka = url.startsWith('kafka:');
interface Running {
  readonly answered: () => number;
  readonly run: () => Promise<void>;
  readonly end: () => Promise<void>;
}

const pointsOf = (bytes: Uint8Array): number => (bytes.length - HEADER_BYTES) / POINT_BYTES;
const answerBytes = (points: number): number => HEADER_BYTES + points * RECORD_BYTES;

async function startMinimal(): Promise<Running> {
  const nc = await connect({ servers: url });
  const client = jetstream(nc);
  const consumer = await client.consumers.get('HEXCODES_IN', group);
  let answered = 0;
  return {
    answered: () => answered,
    run: async () => {
      for await (const message of await consumer.consume({ max_messages: UNDER_WAY })) {
        const zeros = new Uint8Array(answerBytes(pointsOf(message.data)));
        const id = message.headers?.get('Nats-Msg-Id') ?? '';
        void client.publish(`hexcodes.out.bench.${id}`, zeros, { msgID: id }).then(() => {
          message.ack();
          answered++;
        });
      }
    },
    end: () => nc.close(),
  };
}

async function startWorker(): Promise<Running> {
  const names = [
    'natsUser',
    'natsPassword',
    'natsToken',
    'natsNkey',
    'natsCreds',
    'natsTlsCa',
    'natsTlsCert',
    'natsTlsKey',
  ];
  const none = Object.fromEntries(names.map((name) => [name, undefined]));
  const settings = { ...none, natsUrl: [url] } as unknown as Parameters<typeof BUSES.NATS.open>[0];
  const bus = await BUSES.NATS.open(settings, { isPatient: true, say: console.error });
  const pool =
    subject === 'pool' ? new Pool({ kernel: await workerKernel(), threads: 1, maxQueued: 256 }) : undefined;
  const converter = new MessageConverter((await Hexcodes.load()).kernel, DEFAULT_RULES, pool);
  const buffers = new AnswerBuffers();
  if (subject === 'control')
    // As many bytes leave, in memory that is used again, and no point is read.
    converter.convert = async (bytes) => {
      const points = pointsOf(bytes);
      const answer = buffers.take(answerBytes(points)).subarray(0, answerBytes(points));
      return { points, bytes: answer, failed: 0, release: () => buffers.giveBack(answer) };
    };
  const shared = {
    maps: [new SubjectMap(isKafka ? 'hexcodes.in=hexcodes.out' : 'hexcodes.in.>=hexcodes.out.>')],
    deadPrefix: 'hexcodes.dead',
    maxHeldBytes: 64 * 1024 * 1024,
  };
  const { engine } = await bus.work({
    ...shared,
    ...{
      names: { input: 'HEXCODES_IN', output: 'HEXCODES_OUT', dead: 'HEXCODES_DEAD', consumer: group },
    },
    ...{
      maxMessages: UNDER_WAY,
      isOrdered: false,
      monitor: undefined,
      instance: undefined,
      collected: 'hexcodes.in.collected',
    },
  });
  const worker = new Worker(engine, converter, {
    ...{ ...shared, rules: DEFAULT_RULES },
    ...{ tries: 3, keepEveryMs: 1000, say: console.error },
  });
  return {
    answered: () => worker.figures.messages,
    run: () => worker.run(),
    end: async () => {
      worker.stop(0);
      await bus.close();
    },
  };
}

const running = await (subject === 'minimal' ? startMinimal() : startWorker());
process.once('message', async () => {
  void running.run();
  while (running.answered() === 0) await new Promise(setImmediate);
  const before = { ms: performance.now(), cpu: process.cpuUsage(), messages: running.answered() };
  while (running.answered() < Number(wanted)) await new Promise((resolve) => setTimeout(resolve, 1));
  const { user, system } = process.cpuUsage(before.cpu);
  const share = Number(wanted) / (Number(wanted) - before.messages);
  const measured: Measured = {
    ms: (performance.now() - before.ms) * share,
    cpuMs: ((user + system) / 1000) * share,
  };
  process.send!(measured);
  await running.end();
  process.exit(0);
});
process.send!('ready');
