// `npm run proof -- engine [--for 75s]`: frames go through three workers while one at a time is killed every second,
// the server is killed twice and the network cut once. Every point must be among the answers once, equal to the
// library's.
import { parseArgs } from 'node:util';
import { killsInNamespace } from '../support/engine/run-kills.js';
import { noNats } from '../support/nats.js';
import { millisecondsOf } from './run-length.js';

const FRAMES_PER_SECOND = 100;

export default async function proveEngine(args: string[]): Promise<void> {
  const { values } = parseArgs({ args, options: { for: { type: 'string', default: '75s' } } });
  if (noNats !== undefined) throw new Error(noNats);
  const report = await killsInNamespace({
    lengthMs: millisecondsOf(values.for),
    serverKills: 2,
    framesPerSecond: FRAMES_PER_SECOND,
  });
  for (const [name, count] of Object.entries(report)) console.log(`${name.padEnd(16)} ${count}`);
  if (report.lost + report.doubled + report.wrong > 0) process.exitCode = 1;
}
