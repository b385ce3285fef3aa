// `npm run bench -- bulk [--rounds 7] [--points 200000] [--only 'NAME|NAME'] [--sleeping-load] [--beside X]`: server
// CPU of one point by every bulk way in, or by those with a part of --only in their name, against the kernel alone and
// a uWS echo of the same bytes; then the pool on large jobs against one worker. Each server is a process of its own,
// bound to one core; this process is the load, bound to another. Rounds are interleaved, and a row is printed when it
// is done.
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { Hexcodes } from '#dist/hexcodes/library/hexcodes.js';
import { BESIDE_OPTION, placeBeside } from './beside.js';
import { poolAgainstOneWorker } from './bulk/pool.js';
import type { BulkProcess, KernelWork } from './bulk/servers.js';
import { BODY_POINTS, LARGE_SCALE, waysOf } from './bulk/ways.js';
import { CORPUS_NOTES, makeCorpora } from './corpora.js';
import { BenchTable, head } from './head.js';
import { OVER_LOADS, overLoads, spread, spreadText } from './measure.js';
import { bindLoad, ServerProcess, uwsVersion } from './server-process.js';

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
