// `npm run bench -- http [--rounds 15] [--requests 20000] [--only LOAD] [--beside X]`: server CPU of one encode
// request, or of a batch of ten, key check and request id included, against the service without limits, usage, metrics
// and request log, a bare uWS handler that returns a constant of the same size, the same job made of libraries, and
// node:http. Each server is a process of its own, this process is the load; rounds are interleaved, and a row is
// printed when it is done.
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { Hexcodes } from '#dist/hexcodes/library/hexcodes.js';
import { BESIDE_OPTION, placeBeside } from './beside.js';
import { CORPUS_NOTES, makeCorpora } from './corpora.js';
import { batchRequests, encodeRequests, sendAll } from './http/requests.js';
import type { ServerKind } from './http/servers.js';
import { bindLoad, ServerProcess, uwsVersion } from './server-process.js';
import { BenchTable, head, OVER_LOADS, overLoads, spread, spreadText } from './table.js';

const POSITIONS = 5000;

/** Connections and requests in flight on each. */
const LOADS = [
  { name: '32 connections, 1 in flight', connections: 32, depth: 1, isBatch: false },
  { name: '8 connections, 4 in flight', connections: 8, depth: 4, isBatch: false },
  { name: '8 connections, 16 in flight', connections: 8, depth: 16, isBatch: false },
  { name: 'batches of ten, 8 connections, 16 in flight', connections: 8, depth: 16, isBatch: true },
];
/** The servers without batches. */
const SINGLES_ONLY: ReadonlySet<Peer> = new Set<Peer>(['h3', 'node']);

/** `beside` is the service again, of `--beside`. */
type Peer = ServerKind | 'beside';

const PEERS: Record<ServerKind, string> = {
  bare: 'bare uWS handler, constant',
  hexcodes: 'hexcodes',
  unmetered: 'hexcodes without limits, usage, metrics and log of requests',
  h3: 'uWS + h3-js + which-polygon, no keys',
  node: 'node:http, constant',
};

const SERVERS = new URL('./http/servers.js', import.meta.url);

export default async function benchHttp(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      rounds: { type: 'string', default: '15' },
      requests: { type: 'string', default: '20000' },
      only: { type: 'string', default: '' },
      ...BESIDE_OPTION,
    },
  });
  const place = placeBeside(values.beside, 'http');
  const rounds = Number(values.rounds);
  const total = Number(values.requests);
  const { kernel } = await Hexcodes.load();
  const positions = makeCorpora(kernel, readFileSync('data/index.bin'), POSITIONS).cities;
  const [singles, batches] = [encodeRequests(positions), batchRequests(positions)];
  const names: Partial<Record<Peer, string>> = { ...PEERS };
  bindLoad();
  const servers = new Map<Peer, ServerProcess>();
  for (const kind of Object.keys(PEERS) as ServerKind[])
    servers.set(kind, await ServerProcess.start(SERVERS, kind));
  if (place !== undefined) {
    names.beside = `hexcodes of ${values.beside}`;
    servers.set('beside', await ServerProcess.start(SERVERS, 'hexcodes', true, place));
  }

  const start = head(['h3-js', 'which-polygon'], await uwsVersion());
  const titles = [
    ...['load', 'server', 'CPU ÷ bare', 'CPU ÷ unmetered', ...(place === undefined ? [] : ['CPU ÷ beside'])],
    ...['server CPU, µs a request', 'requests a second seen'],
  ];
  const table = new BenchTable(
    'http',
    start,
    titles,
    `Single encode, corpus "cities": ${CORPUS_NOTES.cities}; ${rounds} rounds of ${total} requests, medians and quartiles.
Requests a second are bounded by the one load process.`,
    { rounds, requests: total },
  );
  const singlesOf = new Map<Peer, { readonly ratios: number[]; readonly micros: number[] }>();
  for (const { name, connections, depth, isBatch } of LOADS) {
    if (!name.includes(values.only)) continue;
    const requests = isBatch ? batches : singles;
    const kinds = [...servers.keys()].filter((kind) => !isBatch || !SINGLES_ONLY.has(kind));
    const micros = new Map<Peer, number[]>(kinds.map((kind) => [kind, []]));
    const perSecond = new Map<Peer, number[]>(kinds.map((kind) => [kind, []]));
    for (let round = -1; round < rounds; round++) {
      for (const kind of kinds) {
        const server = servers.get(kind)!;
        const before = await server.cpuMicros();
        const startMs = performance.now();
        await sendAll(server.port, requests, total, connections, depth);
        const tookMs = performance.now() - startMs;
        const after = await server.cpuMicros();
        // The first round is a warm-up.
        if (round < 0) continue;
        micros.get(kind)?.push((after - before) / total);
        perSecond.get(kind)?.push((1000 * total) / tookMs);
      }
    }
    const ratiosTo = (peer: Peer, own: number[]): number[] =>
      own.map((value, round) => value / micros.get(peer)![round]!);
    for (const kind of kinds) {
      const own = micros.get(kind) as number[];
      const ratios = ratiosTo('bare', own);
      const row = [
        name,
        names[kind]!,
        spreadText(spread(ratios), 2),
        spreadText(spread(ratiosTo('unmetered', own)), 3),
        ...(place === undefined ? [] : [spreadText(spread(ratiosTo('beside', own)), 2)]),
        spreadText(spread(own), 2),
        spread(perSecond.get(kind) as number[]).median.toFixed(0),
      ];
      table.row(row, { micros: own });
      if (isBatch) continue;
      const ofKind = singlesOf.get(kind) ?? { ratios: [], micros: [] };
      ofKind.ratios.push(spread(ratios).median);
      ofKind.micros.push(spread(own).median);
      singlesOf.set(kind, ofKind);
    }
  }
  for (const [kind, { ratios, micros }] of singlesOf) {
    const cells = ['', ...(place === undefined ? [] : ['']), overLoads(micros).toFixed(2), ''];
    table.row([`singles, ${OVER_LOADS}`, names[kind]!, overLoads(ratios).toFixed(2), ...cells]);
  }
  for (const server of servers.values()) server.end();
  table.end();
}
