// `npm run proof -- kafka [--for 75s]`: messages of four formats go through three workers on Kafka while one at a time
// is killed every second, and the broker twice. kcat counts: every message must have one answer, equal to the
// library's.
import { parseArgs } from 'node:util';
import { runKafkaKills } from '../support/engine/kafka-kill-run.js';
import { noKafka } from '../support/kafka.js';
import { millisecondsOf } from './run-length.js';

const MESSAGES_PER_SECOND = 900;

export default async function proveKafka(args: string[]): Promise<void> {
  const { values } = parseArgs({ args, options: { for: { type: 'string', default: '75s' } } });
  if (noKafka !== undefined) throw new Error(noKafka);
  const report = await runKafkaKills({
    lengthMs: millisecondsOf(values.for),
    brokerKills: 2,
    messagesPerSecond: MESSAGES_PER_SECOND,
  });
  for (const [name, count] of Object.entries(report)) console.log(`${name.padEnd(16)} ${count}`);
  if (report.lost + report.doubled + report.wrong + report.disordered > 0) process.exitCode = 1;
}
