// `npm run bench -- bulk [--rounds 7] [--points 200000] [--only 'NAME|NAME'] [--sleeping-load] [--beside X]`: server
// CPU of one point by every bulk way in, or by those with a part of --only in their name, against the kernel alone and
// a uWS echo of the same bytes; then the pool on large jobs against one worker. Each server is a process of its own,
// bound to one core; this process is the load, bound to another. Rounds are interleaved, and a row is printed when it
// is done.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { Kernel } from '#dist/hexcodes/kernel/kernel.js';
import { Hexcodes } from '#dist/hexcodes/library/hexcodes.js';
import { Pool } from '#pool';
import { encodeFrame } from '../test/support/raw-stream.js';
import { BESIDE_OPTION, placeBeside } from './beside.js';
import type { BulkProcess, KernelWork } from './bulk/servers.js';
import { BODY_POINTS, LARGE_SCALE, waysOf } from './bulk/ways.js';
import { CORPUS_NOTES, makeCorpora } from './corpora.js';
import { bindLoad, ServerProcess, uwsVersion } from './server-process.js';
import { BenchTable, head, OVER_LOADS, overLoads, spread, spreadText } from './table.js';

// The pool on large jobs, in process: all its workers against one, in turns. Two workers cost as much CPU as one, so
// time is measured, and the machine should have nothing else to do.

const JOBS = 16;
/** Counting this far takes a thread about as long as the jobs take one worker. */
const SPIN_COUNT = 4_000_000;
/** Rounds here for each of the bench, since they are short. */
const ROUNDS_PER_ROUND = 10;

interface PoolResult {
  readonly threads: number;
  readonly ratios: readonly number[];
  readonly control: readonly number[];
  readonly text: string;
}

/** Threads that count, the control: one of them counts as far as all of them together. */
class Spinners {
  readonly #workers: Worker[];
  constructor(threads: number) {
    const source = `
      const { parentPort } = require('node:worker_threads');
      parentPort.on('message', (count) => {
        let x = 1;
        for (let i = 0; i < count; i++) x = (x * 48271) % 2147483647;
        parentPort.postMessage(x);
      });`;
    this.#workers = Array.from({ length: threads }, () => new Worker(source, { eval: true }));
  }

  async millis(threads: number): Promise<number> {
    const startMs = performance.now();
    await Promise.all(
      this.#workers.slice(0, threads).map((worker) => {
        worker.postMessage(SPIN_COUNT / threads);
        return once(worker, 'message');
      }),
    );
    return performance.now() - startMs;
  }

  async close(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.terminate()));
  }
}

async function poolAgainstOneWorker(pairsDeg: Float64Array, rounds: number): Promise<PoolResult> {
  const kernel = {
    module: await Kernel.compile(readFileSync('dist/kernel.wasm')),
    index: readFileSync('data/index.bin'),
    reach: readFileSync('data/reach.bin'),
  };
  const one = new Pool({ kernel, threads: 1 });
  const all = new Pool({ kernel });
  const frame = encodeFrame(1, pairsDeg);
  const millis = async (pool: Pool): Promise<number> => {
    const startMs = performance.now();
    await Promise.all(Array.from({ length: JOBS }, async () => pool.giveBack(await pool.answerFrame(frame))));
    return performance.now() - startMs;
  };
  await millis(one);
  await millis(all);
  const spinners = new Spinners(all.threads);
  await spinners.millis(1);
  const ratios: number[] = [];
  const control: number[] = [];
  for (let round = 0; round < ROUNDS_PER_ROUND * rounds; round++) {
    const spunAloneMs = await spinners.millis(1);
    const oneMs = await millis(one);
    const allMs = await millis(all);
    ratios.push(oneMs / allMs);
    control.push(spunAloneMs / (await spinners.millis(all.threads)));
  }
  await spinners.close();
  const { threads } = all;
  await Promise.all([one.close(), all.close()]);
  const points = pairsDeg.length / 2;
  const text = `Pool: ${threads} workers against one, ${JOBS} frames of ${points} points, in process: ${spreadText(spread(ratios), 2)} times the
throughput. The control, ${threads} threads that only count against one, was ${spreadText(spread(control), 2)} times as fast in the same rounds:
that is what the machine had to give.`;
  return { threads, ratios, control, text };
}

const SERVERS = new URL('./bulk/servers.js', import.meta.url);

/**
 * Keeps this process from sleeping while it waits for answers. Waking a sleeping peer on the same machine costs the
 * server up to a tenth of its time; a peer on another machine is woken by its network card.
 */
async function awake<T>(work: () => Promise<T>): Promise<T> {
  let isOver = false;
  const turn = (): void => {
    if (!isOver) setImmediate(turn);
  };
  turn();
  try {
    return await work();
  } finally {
    isOver = true;
  }
}

export default async function benchBulk(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      rounds: { type: 'string', default: '7' },
      points: { type: 'string', default: '200000' },
      only: { type: 'string', default: '' },
      'sleeping-load': { type: 'boolean', default: false },
      ...BESIDE_OPTION,
    },
  });
  const place = placeBeside(values.beside, 'bulk');
  const rounds = Number(values.rounds);
  const smallPoints = Number(values.points);
  const library = await Hexcodes.load();
  const pairsDeg = makeCorpora(library.kernel, readFileSync('data/index.bin'), BODY_POINTS).land;
  const pool = values.only === '' ? await poolAgainstOneWorker(pairsDeg, rounds) : { text: '' };
  bindLoad();
  const start = (kind: BulkProcess, isBound = true) => ServerProcess.start(SERVERS, kind, isBound);
  const kernel = await start('kernel');
  const echo = await start('echo');
  const onOneCore = await start('hexcodes');
  const onAllCores = await start('hexcodes', false);
  const besideOnOneCore = place && (await ServerProcess.start(SERVERS, 'hexcodes', true, place));
  const besideOnAllCores = place && (await ServerProcess.start(SERVERS, 'hexcodes', false, place));

  const headOfRun = head(['piscina'], await uwsVersion());
  const table = new BenchTable(
    'bulk',
    headOfRun,
    [
      ...['way', 'connections', 'CPU ÷ kernel', ...(place === undefined ? [] : ['CPU ÷ beside'])],
      ...['server, ns a point', 'kernel, ns', 'echo, ns', 'M points/s', 'echo, M points/s'],
    ],
    `Corpus "land": ${CORPUS_NOTES.land}; ${rounds} rounds of ${smallPoints * LARGE_SCALE} points (frames and batches below 2,048
points: fewer), after up to 5,000 small requests of each way by HTTP, medians and quartiles. CPU is that of the whole
server process, on one core; where the name says so it has all cores and its workers share in. The load is one process on
the other core${values['sleeping-load'] ? '' : ' and, but for the rows of all cores, never sleeps'}; its own ceiling shows in what the echo answers
it: the last column.`,
    { rounds, points: smallPoints },
  );
  /** Ratio to the kernel and nanoseconds a point of each load, by the way. */
  const loads = new Map<string, { readonly ratios: number[]; readonly nanos: number[] }>();
  for (const way of waysOf(library, pairsDeg)) {
    if (!values.only.split('|').some((part) => way.name.includes(part))) continue;
    const nanos = {
      kernel: [] as number[],
      echo: [] as number[],
      hexcodes: [] as number[],
      beside: [] as number[],
    };
    const perSecond: number[] = [];
    const echoPerSecond: number[] = [];
    const points = smallPoints * way.scale;
    const ours = way.isOnAllCores ? onAllCores : onOneCore;
    const beside = way.isOnAllCores ? besideOnAllCores : besideOnOneCore;
    await way.warm?.(ours.port);
    if (beside !== undefined) await way.warm?.(beside.port);
    for (let round = -1; round < rounds; round++) {
      const cost = async (peer: ServerProcess, run: () => Promise<number>): Promise<[number, number]> => {
        const before = await peer.cpuMicros();
        const startMs = performance.now();
        const answered = await run();
        const tookMs = performance.now() - startMs;
        return [((await peer.cpuMicros()) - before) * (1000 / answered), (answered * 1000) / tookMs];
      };
      const [kernelNanos] = await cost(kernel, async () => {
        await kernel.ask({ operation: way.operation, points, pairsDeg } satisfies KernelWork);
        return points;
      });
      const load = (peer: ServerProcess): Promise<number> => way.run(peer.port, points, peer === echo);
      // On all cores the workers of the service need the core of the load, so the load sleeps while it waits.
      const isAsleep = values['sleeping-load'] || way.isOnAllCores;
      const loaded = (peer: ServerProcess) =>
        cost(peer, () => (isAsleep ? load(peer) : awake(() => load(peer))));
      // The two services take turns in going first.
      const besideFirst = beside !== undefined && round % 2 !== 0 ? await loaded(beside) : undefined;
      const [ourNanos, ourRate] = await loaded(ours);
      const besideLast = beside !== undefined && round % 2 === 0 ? await loaded(beside) : undefined;
      const echoed = way.hasEcho ? await loaded(echo) : undefined;
      // The first round is a warm-up.
      if (round < 0) continue;
      nanos.kernel.push(kernelNanos);
      nanos.hexcodes.push(ourNanos);
      perSecond.push(ourRate);
      nanos.beside.push(...[besideFirst ?? besideLast].flatMap((measured) => measured?.[0] ?? []));
      if (echoed === undefined) continue;
      nanos.echo.push(echoed[0]);
      echoPerSecond.push(echoed[1]);
    }
    const ratiosTo = (peer: number[]) => nanos.hexcodes.map((value, round) => value / peer[round]!);
    const text = (values: number[], digits: number): string =>
      values.length === 0 ? '' : spreadText(spread(values), digits);
    const millions = (values: number[]): string =>
      values.length === 0 ? '' : (spread(values).median / 1e6).toFixed(2);
    const row = [
      way.name,
      String(way.connections),
      text(ratiosTo(nanos.kernel), 2),
      ...(place === undefined ? [] : [text(ratiosTo(nanos.beside), 2)]),
      text(nanos.hexcodes, 0),
      text(nanos.kernel, 0),
      text(nanos.echo, 0),
      millions(perSecond),
      millions(echoPerSecond),
    ];
    table.row(row, { name: way.name, nanos, perSecond });
    const ofWay = loads.get(way.name) ?? { ratios: [], nanos: [] };
    ofWay.ratios.push(spread(ratiosTo(nanos.kernel)).median);
    ofWay.nanos.push(spread(nanos.hexcodes).median);
    loads.set(way.name, ofWay);
  }
  for (const [name, { ratios, nanos }] of loads) {
    if (ratios.length < 2) continue;
    const cells = [...(place === undefined ? [] : ['']), overLoads(nanos).toFixed(0), '', '', '', ''];
    table.row([name, OVER_LOADS, overLoads(ratios).toFixed(2), ...cells], { name, ratios, nanos });
  }
  for (const server of [kernel, echo, onOneCore, onAllCores, besideOnOneCore, besideOnAllCores])
    server?.end();
  if (pool.text !== '') console.log(`\n${pool.text}`);
  table.end({ pool });
}
