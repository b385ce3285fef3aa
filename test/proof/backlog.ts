// `npm run proof -- backlog [--size 200000] [--rate 250000] [--kills 4]`: messages that wait on Kafka behind a link of
// that many bytes a second, worked off by two workers, one of which is killed now and then.
import { parseArgs } from 'node:util';
import { runKafkaBacklog } from '../support/engine/kafka-backlog-run.js';
import { noKafka } from '../support/kafka.js';

const FIRST_ANSWERS_S = 10;
const REDELIVERED_SHARE = 0.01;

export default async function proveBacklog(args: string[]): Promise<void> {
  const options = { size: '200000', rate: '250000', kills: '4' };
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
