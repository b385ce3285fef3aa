// Workers on Kafka killed every second, and the broker once: every message has one answer. The large twin is `npm run
// proof -- kafka`.
import { expect, test } from 'vitest';
import { runKafkaKills } from '../../support/engine/kafka-kill-run.js';
import { kafkaNote, noKafka } from '../../support/kafka.js';

test.skipIf(noKafka !== undefined)(
  `fifteen seconds of kills on Kafka: nothing lost, nothing doubled${kafkaNote}`,
  async () => {
    const report = await runKafkaKills({ lengthMs: 15_000, brokerKills: 1, messagesPerSecond: 200 });
    expect(report).toMatchObject({ lost: 0, doubled: 0, wrong: 0, disordered: 0, dead: 0, brokerKills: 1 });
    expect(report.messages).toBeGreaterThan(500);
    expect(report.workerKills).toBeGreaterThan(8);
  },
  240_000,
);
