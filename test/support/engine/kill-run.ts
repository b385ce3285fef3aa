// Frames go through three workers while one at a time is killed every second, the server is killed and the network cut;
// the stream of the messages is so small that room must be given back in it all the time. At the end the stream of the
// answers is compared with the library, point by point. It is a process of its own, with the options in its
// argument, and prints the report as JSON.
import { spawn, spawnSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { CliFolder } from '../cli.js';
import { messagesOf, NatsServer } from '../nats.js';
import { canHaveNamespaces } from '../network.js';
import { answerByLibrary, encodeFrame, loadLibrary, positionsOf, WorkerProcess } from './frames.js';

const OWN_PATH = fileURLToPath(import.meta.url);
const COMPILED = OWN_PATH.endsWith('.ts') ? 'build/test/support/engine/kill-run.js' : OWN_PATH;

/** The network is cut only where this process may make namespaces. */
export async function killsInNamespace(options: Omit<KillRunOptions, 'isCut'>): Promise<KillReport> {
  const isCut = canHaveNamespaces();
  const inner = [process.execPath, COMPILED, JSON.stringify({ ...options, isCut })];
  const script = 'ip link set lo up && exec "$@"';
  const [program = '', ...args] = isCut ? ['unshare', '-n', 'sh', '-c', script, 'sh', ...inner] : inner;
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  child.stdout.setEncoding('utf8');
  for await (const piece of child.stdout) text += piece;
  return JSON.parse(text) as KillReport;
}

export interface KillRunOptions {
  readonly lengthMs: number;
  readonly serverKills: number;
  /** Only where this process has a network namespace of its own. */
  readonly isCut: boolean;
  readonly framesPerSecond: number;
  /** Frames go on until this number of workers is killed, for longer than `lengthMs` where workers begin slowly. */
  readonly minWorkerKills: number;
  /** Messages that must be given back before the run ends; workers that are killed too soon give none back. */
  readonly minGivenBack: number;
}

/** Some hundreds of frames. */
const INPUT_BYTES = 1024 * 1024;

export interface KillReport {
  readonly frames: number;
  readonly points: number;
  readonly lost: number;
  readonly doubled: number;
  /** Answers with other bytes than the library's. */
  readonly wrong: number;
  readonly workerKills: number;
  readonly serverKills: number;
  readonly cuts: number;
  /** Deliveries that were not the first, by the consumer's own count. */
  readonly redelivered: number;
  /** Answers that were refused because they were stored already, as far as workers lived to say so. */
  readonly already: number;
  readonly producerRetries: number;
  /** Messages that were removed when their answers were stored. */
  readonly givenBack: number;
  readonly lengthS: number;
}

const POINTS = 256;
const WORKERS = 3;
const KILL_EVERY_MS = 1000;
const CUT_MS = 3000;
const SERVER_DOWN_MS = 500;
const SETTLE_MS = 120_000;
const TICK_MS = 50;

export async function runKills(options: KillRunOptions): Promise<KillReport> {
  const server = await NatsServer.start();
  const folder = new CliFolder();
  const workers: WorkerProcess[] = [];
  const startedMs = performance.now();
  const startWorker = (): WorkerProcess =>
    new WorkerProcess(server.url, ['--report', '100ms', '--give-back', '1s']);
  let already = 0;
  try {
    const setup = await folder.run(['worker', 'setup', '--nats', server.url, '--ack-wait', '2s']);
    if (setup.code !== 0) throw new Error(setup.stderr);
    for (let i = 0; i < WORKERS; i++) workers.push(startWorker());
    const nc = await server.connect();
    const jsm = await jetstreamManager(nc);
    await jsm.streams.update('HEXCODES_IN', { max_bytes: INPUT_BYTES });
    const producer = new Producer(nc, options.framesPerSecond);
    let workerKills = 0;
    const isEnough = (): boolean => workerKills >= options.minWorkerKills;
    const misfortunes = misfortunesOf(server, options);
    // On a busy machine they take longer than the run.
    const producing = producer.run(options.lengthMs, misfortunes, isEnough);
    while (!producer.hasEnded) {
      await sleep(KILL_EVERY_MS);
      const at = workerKills++ % WORKERS;
      const victim = workers[at]!;
      // On a busy machine none would ever work.
      await victim.says(/works on|joins/, SETTLE_MS);
      await victim.end('SIGKILL');
      already += victim.counts.already;
      workers[at] = startWorker();
    }
    const frames = await producing;
    const cuts = options.isCut ? 1 : 0;

    const givenBack = async (): Promise<number> =>
      (await jsm.streams.info('HEXCODES_IN')).state.first_seq - 1;
    const isSettled = async (): Promise<boolean> => {
      const { num_ack_pending, num_pending } = await jsm.consumers.info('HEXCODES_IN', 'hexcodes');
      return num_ack_pending + num_pending === 0 && (await givenBack()) >= options.minGivenBack;
    };
    for (const deadline = performance.now() + SETTLE_MS; performance.now() < deadline; await sleep(200))
      if (await isSettled()) break;
    const { delivered, ack_floor } = await jsm.consumers.info('HEXCODES_IN', 'hexcodes');
    for (const worker of workers) {
      await worker.end();
      already += worker.counts.already;
    }
    return {
      ...(await comparisonOf(nc, frames)),
      ...{ frames, points: frames * POINTS, workerKills, serverKills: options.serverKills, cuts, already },
      redelivered: Math.max(delivered.consumer_seq - delivered.stream_seq, 0),
      producerRetries: producer.retries,
      givenBack: await givenBack(),
      lengthS: Math.round((performance.now() - startedMs) / 1000),
      ...(ack_floor.stream_seq < frames ? { lost: frames - ack_floor.stream_seq } : {}),
    };
  } finally {
    for (const worker of workers) await worker.end('SIGKILL');
    folder.remove();
    await server.remove();
  }
}

/** Kills the server at even distances, and cuts the network once in the middle. */
async function misfortunesOf(
  server: NatsServer,
  { lengthMs, serverKills, isCut }: KillRunOptions,
): Promise<void> {
  const times = Array.from({ length: serverKills }, (_, i) => ((i + 0.5) * lengthMs) / serverKills);
  const events: { atMs: number; happen: () => Promise<void> }[] = times.map((atMs) => ({
    atMs,
    happen: async () => {
      await server.kill();
      await sleep(SERVER_DOWN_MS);
      await server.resume();
    },
  }));
  if (isCut) events.push({ atMs: lengthMs * (serverKills === 1 ? 0.1 : 0.5), happen: cutNetwork });
  const startMs = performance.now();
  for (const { atMs, happen } of events.sort((a, b) => a.atMs - b.atMs)) {
    await sleep(Math.max(0, atMs - (performance.now() - startMs)));
    await happen();
  }
}

async function cutNetwork(): Promise<void> {
  const link = (state: string): void => {
    const { status, stderr } = spawnSync('ip', ['link', 'set', 'lo', state], { encoding: 'utf8' });
    if (status !== 0) throw new Error(`ip link set lo ${state}: ${stderr}`);
  };
  link('down');
  await sleep(CUT_MS);
  link('up');
}

/** Publishes frames at a steady rate, each again and again until the server has it. */
class Producer {
  retries = 0;
  hasEnded = false;
  readonly #underWay = new Set<Promise<void>>();

  constructor(
    readonly nc: NatsConnection,
    readonly framesPerSecond: number,
  ) {}

  /** Runs for `lengthMs`, until `other` has ended and it is enough. @returns how many it has published */
  async run(lengthMs: number, other: Promise<void>, isEnough: () => boolean): Promise<number> {
    const startMs = performance.now();
    let sent = 0;
    let mayEnd = false;
    const ending = other.then(() => {
      mayEnd = true;
    });
    for (let elapsedMs = 0, isLast = false; !isLast; ) {
      isLast = elapsedMs >= lengthMs && mayEnd && isEnough();
      elapsedMs = performance.now() - startMs;
      const due = Math.floor((elapsedMs * this.framesPerSecond) / 1000);
      for (; sent < due; sent++) {
        const publishing = this.#publish(sent);
        this.#underWay.add(publishing);
        publishing.finally(() => this.#underWay.delete(publishing));
      }
      await sleep(TICK_MS);
    }
    await Promise.all([ending, ...this.#underWay]);
    this.hasEnded = true;
    return sent;
  }

  async #publish(number: number): Promise<void> {
    const frame = encodeFrame(positionsOf(number, POINTS), number);
    for (;;) {
      try {
        await jetstream(this.nc).publish('hexcodes.in.fleet', frame, { msgID: idOf(number), timeout: 2000 });
        return;
      } catch {
        this.retries++;
        await sleep(100);
      }
    }
  }
}

const idOf = (number: number): string => `frame-${number}`;

async function comparisonOf(
  nc: NatsConnection,
  frames: number,
): Promise<{ lost: number; doubled: number; wrong: number }> {
  const hexcodes = await loadLibrary();
  const found = new Map<string, number>();
  let wrong = 0;
  for (const { bytes, headers } of await messagesOf(nc, 'HEXCODES_OUT')) {
    const id = headers.get('Hexcodes-Id') ?? '';
    found.set(id, (found.get(id) ?? 0) + 1);
    const number = Number(id.slice(idOf(0).length - 1));
    const wanted = answerByLibrary(hexcodes, positionsOf(number, POINTS), number);
    if (Buffer.compare(bytes, wanted) !== 0) wrong++;
  }
  let lost = 0;
  let doubled = 0;
  for (let number = 0; number < frames; number++) {
    const times = found.get(idOf(number)) ?? 0;
    if (times === 0) lost++;
    if (times > 1) doubled++;
    found.delete(idOf(number));
  }
  // Any other answer was never asked for.
  return { lost, doubled, wrong: wrong + found.size };
}

if (process.argv[1] === OWN_PATH) {
  console.log(JSON.stringify(await runKills(JSON.parse(process.argv[2]!) as KillRunOptions)));
  process.exit(0);
}
