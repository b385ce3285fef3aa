// `npm run proof -- bus-rate [--kafka] [--single] [--points-per-second 10000] [--for 10m]`: a steady rate of positions
// through one worker on NATS JetStream or Kafka, on this machine. On NATS each position is a message that a collector
// puts into frames; Kafka gets frames of as many points as a collector makes. With --single each position is a message
// of its own for the worker. At the end every position has one answer; CPU of each process is beside the plan's.
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { jetstreamManager } from '@nats-io/jetstream';
import { createInbox, headers } from '@nats-io/transport-node';
import { Producer } from '@platformatic/kafka';
import { busBytesPerSecond, collectedPoints, SPARE } from '#dist/bus/sizing.js';
import { busOf } from '#dist/capacity/model/bus.js';
import { CliFolder } from '../support/cli.js';
import { encodeFrame, positionsOf } from '../support/engine/frames.js';
import { WorkerProcess } from '../support/engine/worker-process.js';
import { KafkaBroker, noKafka } from '../support/kafka.js';
import { NatsServer, noNats } from '../support/nats.js';
import { millisecondsOf, optionsOf } from './run-length.js';

const TICK_MS = 50;
const SETTLE_MS = 60_000;
const COLLECT_MS = 200;
const KINDS = 1000;
const REPEAT_MS = 5000;
const MAX_UNANSWERED = 20_000;
const AT_ONCE = 1000;
const SEQUENCE = Buffer.from('"seq":');

/** Sends positions `from` to `from + count`; with a count of 0 it waits until all that were sent are stored. */
type Send = (from: number, count: number) => Promise<void>;

const secondsOf = (pid: number): number => {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
};

export default async function busRate(args: string[]): Promise<void> {
  const values = optionsOf(args, { kafka: false, single: false, 'points-per-second': '10000', for: '10m' });
  const pointsPerSecond = Number(values['points-per-second']);
  const lengthMs = millisecondsOf(values.for);
  const reason = values.kafka ? noKafka : noNats;
  if (reason !== undefined) throw new Error(reason);
  const pointsPerMessage = values.single ? 1 : collectedPoints(pointsPerSecond, COLLECT_MS);
  const server = values.kafka
    ? await KafkaBroker.start()
    : await NatsServer.start((store) => [`jetstream { store_dir: "${store}", max_file: 60G }`]);
  const folder = new CliFolder();
  const processes = new Map<string, WorkerProcess>();
  try {
    const at = server instanceof KafkaBroker ? ['--from', server.url] : ['--nats', server.url];
    const isCollected = !values.kafka && !values.single;
    const made = await folder.run([
      ...['worker', 'setup', ...at, '--points-per-second', String(pointsPerSecond), '--keep', '20m'],
      ...(isCollected
        ? ['--collect', 'fleet.*.position']
        : ['--points-per-message', String(pointsPerMessage)]),
    ]);
    if (made.code !== 0) throw new Error(made.stderr);
    const as = values.single ? ['--as', values.kafka ? 'hexcodes.in=json' : 'hexcodes.in.>=json'] : [];
    const start = (command: string[], more: string[] = []): WorkerProcess =>
      new WorkerProcess(
        server instanceof NatsServer ? server.url : 'nats://127.0.0.1:4222',
        ['--report', '1s', ...more],
        {},
        { command },
      );
    processes.set('worker', start(['worker'], [...(values.kafka ? at : []), ...as]));
    if (isCollected) processes.set('collector', start(['worker', 'collect']));
    for (const each of processes.values()) await each.says(/works on|collects/);
    const send =
      server instanceof KafkaBroker
        ? await kafkaSend(server, values.single)
        : await natsSend(server, values.single);
    const before = new Map([...processes].map(([name, { child }]) => [name, secondsOf(child.pid!)]));
    const serverBefore = secondsOf(server.pid);
    const generatorBefore = secondsOf(process.pid);
    const started = performance.now();
    let sent = 0;
    const step = values.kafka && !values.single ? pointsPerMessage : 1;
    for (let elapsedMs = 0; elapsedMs < lengthMs; elapsedMs = performance.now() - started) {
      const due = Math.floor((elapsedMs * pointsPerSecond) / 1000 / step) * step;
      if (due > sent) await send(sent, due - sent);
      sent = Math.max(sent, due);
      await sleep(TICK_MS);
    }
    await send(sent, 0);
    const lengthS = (performance.now() - started) / 1000;
    const worker = processes.get('worker')!;
    for (const end = performance.now() + SETTLE_MS; worker.counts.points < sent && performance.now() < end; )
      await sleep(500);
    const behindS = (performance.now() - started) / 1000 - lengthS;
    console.log(
      `${sent} positions in ${lengthS.toFixed(0)} s, ${worker.counts.points} with an answer ${behindS.toFixed(1)} s after the last, ${worker.counts.messages} messages, ${worker.counts.redelivered} delivered again, ${worker.counts.dead} dead letters`,
    );
    for (const [name, { child }] of processes)
      console.log(
        `${name}: ${((100 * (secondsOf(child.pid!) - before.get(name)!)) / lengthS).toFixed(1)} % of a core`,
      );
    console.log(
      `generator: ${((100 * (secondsOf(process.pid) - generatorBefore)) / lengthS).toFixed(1)} % of a core`,
    );
    console.log(
      `server: ${((100 * (secondsOf(server.pid) - serverBefore)) / lengthS).toFixed(1)} % of a core`,
    );
    const plan = busOf(
      {
        ...{ pointsPerS: pointsPerSecond, meanPointsPerS: pointsPerSecond, pointsPerMessage, replicas: 1 },
        ...{ isCollected, maxAgeS: 3600, coresPerMachine: 2, linkBitsPerS: 1e9 },
      },
      { bytesPerSecond: busBytesPerSecond, spare: SPARE },
    );
    console.log(
      `plan: worker ${(100 * plan.workerCores).toFixed(1)} %, collector ${(100 * plan.collectorCores).toFixed(1)} %, server ${(100 * plan.serverCores).toFixed(1)} % of a core`,
    );
    if (server instanceof NatsServer)
      await tellFill(server, pointsPerSecond, pointsPerMessage, isCollected, lengthS);
    if (worker.counts.points !== sent) process.exitCode = 1;
  } finally {
    for (const each of processes.values()) await each.end('SIGKILL');
    folder.remove();
    await server.remove();
  }
}

const textOf = (n: number, latLng: Float64Array): string =>
  JSON.stringify({ id: n, lat: latLng[2 * (n % KINDS)], lng: latLng[2 * (n % KINDS) + 1] });

/**
 * Positions as producers must send them: each is acknowledged, since what a server drops before it has stored it is
 * told to nobody. One subscription takes all acknowledgements and one sweep repeats what has none; a promise and a
 * timer for each position would take the core that this measures.
 */
async function natsSend(server: NatsServer, isSingle: boolean): Promise<Send> {
  const nc = await server.connect();
  const latLng = positionsOf(1, KINDS);
  const inbox = createInbox();
  const sentAtMs = new Map<number, number>();
  const publish = (n: number): void => {
    sentAtMs.set(n, performance.now());
    const subject = isSingle ? `hexcodes.in.v${n % KINDS}` : `fleet.${n % KINDS}.position`;
    const id = headers();
    id.set('Nats-Msg-Id', `p${n}`);
    nc.publish(subject, textOf(n, latLng), { headers: id, reply: `${inbox}.${n}` });
  };
  nc.subscribe(`${inbox}.*`, {
    callback: (_, { subject, data }) => {
      // Refused (the stream is busy) or nobody there: the sweep repeats it.
      if (Buffer.from(data.buffer, data.byteOffset, data.length).includes(SEQUENCE))
        sentAtMs.delete(Number(subject.slice(inbox.length + 1)));
    },
  });
  const sweep = (): void => {
    for (const [n, atMs] of sentAtMs) {
      // The map is in the order of sending.
      if (performance.now() - atMs < REPEAT_MS) break;
      sentAtMs.delete(n);
      publish(n);
    }
  };
  return async (from, count) => {
    for (let n = from; ; ) {
      for (const end = Math.min(from + count, n + AT_ONCE); n < end; n++) publish(n);
      do {
        sweep();
        await sleep(1);
      } while (sentAtMs.size > (count === 0 ? 0 : MAX_UNANSWERED));
      if (n >= from + count) return;
    }
  };
}

async function kafkaSend(broker: KafkaBroker, isSingle: boolean): Promise<Send> {
  const producer = new Producer<Buffer, Buffer, Buffer, Buffer>({
    ...{ clientId: 'rate', bootstrapBrokers: [`127.0.0.1:${broker.port}`] },
  });
  const latLng = positionsOf(1, KINDS);
  const topic = 'hexcodes.in';
  return async (from, count) => {
    if (count === 0) return;
    const messages = isSingle
      ? Array.from({ length: count }, (_, i) => ({
          ...{
            topic,
            key: Buffer.from(`v${(from + i) % KINDS}`),
            value: Buffer.from(textOf(from + i, latLng)),
          },
        }))
      : [{ topic, value: Buffer.from(encodeFrame(positionsOf(from, count), from)) }];
    await producer.send({ messages });
  };
}

/** Says how fast the streams have grown, beside the arithmetic of setup. */
async function tellFill(
  server: NatsServer,
  pointsPerSecond: number,
  pointsPerMessage: number,
  isCollected: boolean,
  lengthS: number,
): Promise<void> {
  const jsm = await jetstreamManager(await server.connect());
  const bytes = busBytesPerSecond({ pointsPerSecond, pointsPerMessage, isCollected });
  for (const [stream, name] of [
    ['HEXCODES_IN', 'input'],
    ['HEXCODES_OUT', 'output'],
    ...(isCollected ? [['HEXCODES_POSITIONS', 'positions'] as const] : []),
  ] as const) {
    const { state } = await jsm.streams.info(stream);
    console.log(
      `${stream}: ${Math.round(state.bytes / lengthS)} bytes/s, setup says ${Math.round(bytes[name])}`,
    );
  }
}
