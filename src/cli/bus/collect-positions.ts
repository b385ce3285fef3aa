// `hexcodes worker collect`: turns single positions, as trackers and MQTT bring them, into frames for workers.
import type { Command } from 'commander';
import { DEFAULT_RULES } from '../../bus/messages/message-shape.js';
import { Collector } from '../../bus/nats/collector.js';
import { connectBus } from '../../bus/nats/connect.js';
import { BUS_NAMES, type BusConfig } from '../../config/config.js';
import { requireResolution } from '../../files/position-options.js';
import { addFlags } from '../settings.js';
import { CountsReport } from './counts-report.js';
import { requireCount, requireTime } from './quantities.js';
import { COLLECTED_SUBJECT, requireSubject, sayer, withBus } from './shared-options.js';
import { StopSignal } from './stop-signal.js';

interface Options {
  readonly positions: string;
  readonly stream: string;
  readonly subject: string;
  readonly deadSubject: string;
  readonly resolution?: string;
  readonly points: string;
  readonly wait: string;
  readonly report: string;
  readonly quiet?: boolean;
}

const MOST_POINTS = 16_384;

export function declareCollect(worker: Command): void {
  const collect = worker
    .command('collect')
    .description('collect single positions (JSON, also over MQTT) into frames for workers');
  addFlags(collect, BUS_NAMES)
    .option('--positions <name>', 'stream of the single positions', 'HEXCODES_POSITIONS')
    .option('--stream <name>', 'stream of the frames: that of the messages of workers', 'HEXCODES_IN')
    .option('--subject <words>', 'before the subjects of the frames', COLLECTED_SUBJECT)
    .option('--dead-subject <words>', 'before the subjects of dead letters', 'hexcodes.dead')
    .option('-r, --resolution <0-15>', `of the frames (${DEFAULT_RULES.resolution})`)
    .option('--points <n>', 'of a frame, at most', String(MOST_POINTS))
    .option('--wait <time>', 'a position waits no longer for others', '200ms')
    .option('--report <time>', 'how often the counts are said', '10s')
    .option('-q, --quiet', 'say nothing but faults')
    .addHelpText(
      'after',
      `
Examples:
  $ hexcodes worker setup --collect 'fleet.*.position'
  $ hexcodes worker collect
  $ mosquitto_pub -q 1 -t fleet/7/position -m '{"id":7,"lat":21.0288,"lng":105.8525}'`,
    );
  collect.action((options: Options) => withBus(collect, (settings) => run(options, settings)));
}

async function run(options: Options, settings: BusConfig): Promise<void> {
  const { resolution } = options;
  const given = {
    positions: options.positions,
    stream: options.stream,
    subject: requireSubject('--subject', options.subject),
    deadPrefix: requireSubject('--dead-subject', options.deadSubject),
    resolution: resolution === undefined ? DEFAULT_RULES.resolution : requireResolution(resolution),
    mostPoints: requireCount('--points', options.points, 1, MOST_POINTS),
    waitMs: requireTime('--wait', options.wait),
    say: sayer(false),
  };
  const reportMs = requireTime('--report', options.report);
  const stopped = new StopSignal();
  const { nc, jsm } = await connectBus(settings, { isPatient: true, say: given.say, signal: stopped.signal });
  const collector = new Collector(nc, jsm, given);
  const { figures } = collector;
  const report = new CountsReport(
    () => [
      [figures.positions, 'positions'],
      [figures.frames, 'frames'],
      [figures.dead, 'dead letters'],
    ],
    reportMs,
    options.quiet === true,
  );
  stopped.onStop(() => collector.stop());
  sayer(options.quiet === true)(`collects ${given.positions} of ${nc.getServer()}`);
  try {
    await collector.run();
  } finally {
    report.end();
    stopped.end();
    await nc.close();
  }
}
