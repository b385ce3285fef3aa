// Workers on a bus that are killed, with their server, while messages go through them.
import { parseArgs } from 'node:util';
import { runKafkaBacklog, runKafkaKills } from '../support/engine/kafka-runs.js';
import { killsInNamespace } from '../support/engine/kill-run.js';
import { noKafka } from '../support/kafka.js';
import { noNats } from '../support/nats.js';
import { millisecondsOf, optionsOf } from './run-length.js';

const FRAMES_PER_SECOND = 100;

// `npm run proof -- engine [--for 75s]`: frames go through three workers while one at a time is killed every second,
// the server is killed twice and the network cut once. Every point must be among the answers once, equal to the
// library's.
export async function proveEngine(args: string[]): Promise<void> {
  const values = optionsOf(args, { for: '75s' });
  if (noNats !== undefined) throw new Error(noNats);
  const report = await killsInNamespace({
    lengthMs: millisecondsOf(values.for),
    serverKills: 2,
    framesPerSecond: FRAMES_PER_SECOND,
    minWorkerKills: 1,
    minGivenBack: 1,
  });
  for (const [name, count] of Object.entries(report)) console.log(`${name.padEnd(16)} ${count}`);
  if (report.lost + report.doubled + report.wrong > 0) process.exitCode = 1;
}

const MESSAGES_PER_SECOND = 900;

// `npm run proof -- kafka [--for 75s]`: messages of four formats go through three workers on Kafka while one at a time
// is killed every second, and the broker twice. kcat counts: every message must have one answer, equal to the
// library's.
export async function proveKafka(args: string[]): Promise<void> {
  const values = optionsOf(args, { for: '75s' });
  if (noKafka !== undefined) throw new Error(noKafka);
  const report = await runKafkaKills({
    lengthMs: millisecondsOf(values.for),
    brokerKills: 2,
    messagesPerSecond: MESSAGES_PER_SECOND,
    minWorkerKills: 1,
  });
  for (const [name, count] of Object.entries(report)) console.log(`${name.padEnd(16)} ${count}`);
  if (report.lost + report.doubled + report.wrong + report.disordered > 0) process.exitCode = 1;
}

const FIRST_ANSWERS_S = 10;
const REDELIVERED_SHARE = 0.01;

// `npm run proof -- backlog [--size 200000] [--note 0] [--rate 250000] [--kills 4]`: messages that wait on Kafka behind
// a link of that many bytes a second, worked off by two workers, one of which is killed now and then.
export async function proveBacklog(args: string[]): Promise<void> {
  const options = { size: '200000', note: '0', rate: '250000', kills: '4' };
  const { values } = parseArgs({
    args,
    options: Object.fromEntries(
      Object.entries(options).map(([name, value]) => [name, { type: 'string', default: value } as const]),
    ) as Record<keyof typeof options, { type: 'string'; default: string }>,
  });
  if (noKafka !== undefined) throw new Error(noKafka);
  const messages = Number(values.size);
  const report = await runKafkaBacklog({
    messages,
    noteBytes: Number(values.note),
    bytesPerSecond: Number(values.rate),
    workers: 2,
    workerKills: Number(values.kills),
  });
  for (const [name, count] of Object.entries(report)) console.log(`${name.padEnd(16)} ${count}`);
  const faults = report.lost + report.doubled + report.wrong + report.dead;
  if (
    faults > 0 ||
    report.redelivered >= REDELIVERED_SHARE * messages ||
    report.firstAnswersS > FIRST_ANSWERS_S
  )
    process.exitCode = 1;
}
