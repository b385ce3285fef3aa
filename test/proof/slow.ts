// `npm run proof -- slow [--size 2000] [--for 5s] [--rounds 5]`: slowhttptest (Debian's package) with SIZE connections,
// as slowloris, with slow bodies and with slow reads, beside a healthy client: its rate and its median against those of
// the quiet server, in turns. The server has one core, all load the other.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { type HonestTally, sendHonestSingles } from '../support/honest-singles.js';
import { quantile } from '../support/quantile.js';
import { ServerProcess } from '../support/server-process.js';
import { millisecondsOf, report } from './run-length.js';

const SERVER_CORE = '0';
const LOAD_CORE = '1';
/** Aims: of the quiet rate, and of the quiet median. */
const MIN_RATE = 0.9;
const MAX_MEDIAN = 2;
/** Connections of slowhttptest a second. */
const OPENED_PER_SECOND = 1000;

/** The options of slowhttptest, by the name of the attack. */
function attacksOn({ port, otherKey }: ServerProcess): Readonly<Record<string, readonly string[]>> {
  const base = `http://127.0.0.1:${port}`;
  const batch = `${base}/v1/hexcodes/encode/batch?apikey=${otherKey}`;
  return {
    slowloris: ['-H', '-i', '3', '-u', `${base}/v1/hexcodes/encode?lat=21&lng=105&apikey=${otherKey}`],
    'slow body': ['-B', '-i', '3', '-s', '100000', '-f', 'application/json', '-u', batch],
    'slow read': [
      '-X',
      '-k',
      '10',
      '-n',
      '3',
      '-z',
      '32',
      '-w',
      '512',
      '-y',
      '1024',
      '-u',
      `${base}/openapi.json`,
    ],
  };
}

export default async function proveSlow(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      size: { type: 'string', default: '2000' },
      for: { type: 'string', default: '5s' },
      rounds: { type: 'string', default: '5' },
    },
  });
  const lengthMs = millisecondsOf(values.for);
  spawnSync('taskset', ['-a', '-cp', LOAD_CORE, String(process.pid)]);
  const server = await ServerProcess.start({ core: SERVER_CORE, isQuiet: true });
  const faults: string[] = [];
  const figures: string[] = [];
  try {
    await during(server, 3000);
    for (const [name, options] of Object.entries(attacksOn(server))) {
      const quiet: HonestTally[] = [];
      const beside: HonestTally[] = [];
      let open = 0;
      for (let round = 0; round < Number(values.rounds); round++) {
        quiet.push(await during(server, lengthMs));
        const attack = attackWith(options, values.size, lengthMs);
        // It ends by itself where the server has closed all its connections.
        const ended = once(attack, 'exit');
        // Until all are open.
        await sleep((1000 * Number(values.size)) / OPENED_PER_SECOND + 1000);
        open = Math.max(open, openConnections(server.port));
        beside.push(await during(server, lengthMs));
        attack.kill('SIGKILL');
        await ended;
        await sleep(2000);
      }
      const rate = countOf(beside) / countOf(quiet);
      const medians = [quiet, beside].map((tallies) => quantile(latenciesOf(tallies), 0.5)) as [
        number,
        number,
      ];
      const median = medians[1] / medians[0];
      const failures = [...quiet, ...beside].flatMap((tally) => Object.entries(tally.failures));
      if (rate < MIN_RATE) faults.push(`${name}: ${rate.toFixed(2)} of the quiet rate`);
      if (median > MAX_MEDIAN) faults.push(`${name}: the median is ${median.toFixed(2)} times the quiet one`);
      if (failures.length > 0) faults.push(`${name}: failed ${JSON.stringify(failures)}`);
      figures.push(
        `${name} (${open} open): rate ${rate.toFixed(2)}, median ${median.toFixed(2)} times ${medians[0].toFixed(2)} ms`,
      );
    }
    if (server.hasEnded) faults.push('the server has ended');
  } finally {
    await server.kill();
  }
  report('slow', figures.join('; '), 0, faults);
}

function attackWith(options: readonly string[], size: string, lengthMs: number): ChildProcess {
  const seconds = String(Math.ceil(lengthMs / 1000) + 20);
  const common = ['-c', size, '-r', String(OPENED_PER_SECOND), '-l', seconds, '-p', '5'];
  // It leaves the core to the healthy client, as a machine of its own would.
  return spawn('nice', ['-n', '10', 'slowhttptest', ...options, ...common], { stdio: 'ignore' });
}

/** Established connections to the port, as the system counts them. */
function openConnections(port: number): number {
  const { stdout } = spawnSync('ss', ['-Htn', 'state', 'established', 'sport', '=', `:${port}`], {
    encoding: 'utf8',
  });
  return stdout?.split('\n').filter((line) => line !== '').length ?? 0;
}

async function during(server: ServerProcess, lengthMs: number): Promise<HonestTally> {
  const stop = new AbortController();
  const sent = sendHonestSingles(server.port, server.key, { pauseMs: 5, signal: stop.signal });
  await sleep(lengthMs);
  stop.abort();
  return sent;
}

const latenciesOf = (tallies: readonly HonestTally[]): number[] =>
  tallies.flatMap(({ latenciesMs }) => latenciesMs);
const countOf = (tallies: readonly HonestTally[]): number => latenciesOf(tallies).length;
