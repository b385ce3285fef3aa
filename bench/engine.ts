// `npm run bench -- engine [--rounds 7] [--subjects 200000]`: points a second that one worker moves through JetStream,
// by itself and with a thread that converts, against the same worker with the kernel left out, interleaved; CPU time of
// worker and server; one message at a time (--ordered). With --subjects: the server's memory for N answers, each under
// a subject of its own.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { Hexcodes } from '#dist/hexcodes/library/hexcodes.js';
import { CliFolder } from '../test/support/cli.js';
import { encodeFrame } from '../test/support/engine/frames.js';
import { NatsServer, noNats } from '../test/support/nats.js';
import { makeCorpora } from './corpora.js';
import type { Measured, Subject } from './engine/worker-child.js';
import { head, headLine, saveResult } from './head.js';
import { type Spread, spread, spreadText, table } from './measure.js';

/** Messages of a turn by points of each. */
const LOADS = [
  { points: 256, messages: 2500 },
  { points: 4096, messages: 800 },
  { points: 16_384, messages: 150 },
];
const CHILD = new URL('./engine/worker-child.js', import.meta.url);
const CLOCK_TICKS = 100;
const WINDOW = 32;

interface Turn extends Measured {
  readonly serverCpuMs: number;
}

export default async function benchEngine(args: string[]): Promise<void> {
  const options = { rounds: { type: 'string', default: '7' }, subjects: { type: 'string' } } as const;
  const { values } = parseArgs({ args, options });
  if (noNats !== undefined) throw new Error(noNats);
  const server = await NatsServer.start();
  try {
    if (values.subjects !== undefined) await measureSubjects(server, Number(values.subjects));
    else await measureSpeed(server, Number(values.rounds));
  } finally {
    await server.remove();
  }
}

async function measureSpeed(server: NatsServer, rounds: number): Promise<void> {
  const nc = await server.connect();
  const { kernel: drawing } = await Hexcodes.load();
  const { tracks } = makeCorpora(drawing, readFileSync('data/index.bin'), LOADS.at(-1)!.points);
  const cells: string[][] = [];
  const kinds = ['kernel', 'pool', 'control', 'ordered'] as const;
  for (const { points, messages } of LOADS) {
    const frame = encodeFrame(tracks.subarray(0, 2 * points));
    const turns: Record<Subject | 'ordered', Turn[]> = { kernel: [], pool: [], control: [], ordered: [] };
    for (let round = 0; round < rounds; round++)
      for (const name of round % 2 === 0 ? kinds : kinds.toReversed()) {
        const isOrdered = name === 'ordered';
        const count = isOrdered ? Math.ceil(messages / 5) : messages;
        await prepare(server, nc, frame, count, isOrdered);
        turns[name].push(await turn(server, isOrdered ? 'kernel' : name, count));
      }
    const rate = (name: Subject | 'ordered'): Spread =>
      spread(
        turns[name].map(
          ({ ms }) => (points * (name === 'ordered' ? Math.ceil(messages / 5) : messages)) / ms / 1000,
        ),
      );
    const nsOf = (pick: (turn: Turn) => number, name: Subject): Spread =>
      spread(turns[name].map((each) => (pick(each) * 1e6) / (points * messages)));
    const [kernel, pool, control] = [rate('kernel'), rate('pool'), rate('control')];
    cells.push([
      points.toLocaleString('en'),
      spreadText(kernel),
      spreadText(pool),
      spreadText(control),
      (kernel.median / control.median).toFixed(2),
      (pool.median / control.median).toFixed(2),
      spreadText(
        nsOf(({ cpuMs }) => cpuMs, 'kernel'),
        0,
      ),
      spreadText(
        nsOf(({ cpuMs }) => cpuMs, 'control'),
        0,
      ),
      spreadText(
        nsOf(({ serverCpuMs }) => serverCpuMs, 'kernel'),
        0,
      ),
      spreadText(rate('ordered')),
    ]);
  }
  const titles = [
    ...[
      'points a message',
      'worker, M points/s',
      'with --threads 1',
      'control',
      'ratio',
      'ratio, --threads 1',
    ],
    ...['worker CPU, ns a point', 'control CPU', 'server CPU', '--ordered, M points/s'],
  ];
  const heading = headOf(nc);
  console.log(`${headLine(heading)}\n\n${table(titles, cells)}`);
  saveResult('engine', { head: heading, titles, cells });
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

async function turn(server: NatsServer, subject: Subject, messages: number): Promise<Turn> {
  const child = fork(CHILD, [server.url, subject, String(messages)]);
  await once(child, 'message');
  const before = cpuMsOf(server.pid);
  child.send('go');
  const [measured] = (await once(child, 'message')) as [Measured];
  const serverCpuMs = cpuMsOf(server.pid) - before;
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
