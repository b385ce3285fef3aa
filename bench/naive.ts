// `npm run bench -- naive [--rounds 7] [--only LOAD]`: server CPU of what one would write with h3-js and which-polygon
// around Fastify, Hono, node:http and uWebSockets.js, against the service with its keys, limits, counts and log. The
// frameworks are installed into build/rivals/naive. Each server is a process of its own, this process is the load;
// rounds are interleaved, and a row is printed when it is done. Some three minutes.
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { Hexcodes } from '#dist/hexcodes/library/hexcodes.js';
import { loadHttp } from './bulk/load.js';
import { makeCorpora } from './corpora.js';
import { batchRequests, encodeRequests, sendAll } from './http/requests.js';
import { FRAMEWORKS, NAIVE_SERVERS, type NaiveServer, OwnPackages } from './rivals.js';
import { bindLoad, ServerProcess, uwsVersion } from './server-process.js';
import { BenchTable, head, spread, spreadText } from './table.js';

const SERVERS = new URL('./naive/servers.js', import.meta.url);
const POSITIONS = 65_536;
const PATH = '/v1/hexcodes/encode';

interface Load {
  readonly name: string;
  /** The CPU is told for each. */
  readonly unit: 'request' | 'point';
  /** Sends `units`. */
  run(port: number, units: number): Promise<unknown>;
  /** Units of a round. */
  readonly units: number;
}

function loadsOf(positions: Float64Array): Load[] {
  const [singles, batches] = [encodeRequests(positions), batchRequests(positions)];
  const pair = (n: number): string => `${positions[2 * n]!.toFixed(6)},${positions[2 * n + 1]!.toFixed(6)}`;
  const bodies = (path: string, contentType: string, text: string, points: number, units: number): Load => ({
    ...{ name: path === 'bulk' ? `CSV of ${points} rows` : `batches of ${points}`, unit: 'point', units },
    run: (port) =>
      loadHttp(port, {
        ...{ path: `${PATH}/${path}`, contentType, body: Buffer.from(text), connections: 8 },
        requests: units / points,
      }),
  });
  const items = Array.from({ length: 1000 }, (_, n) => {
    const [lat, lng] = pair(n).split(',');
    return `{"lat":${lat},"lng":${lng},"id":${n}}`;
  });
  const rows = Array.from({ length: 10_000 }, (_, n) => pair(n));
  return [
    {
      ...{ name: 'singles, 32 connections, 1 in flight', unit: 'request', units: 10_000 },
      run: (port, units) => sendAll(port, singles, units, 32, 1),
    },
    {
      ...{ name: 'singles, 8 connections, 16 in flight', unit: 'request', units: 10_000 },
      run: (port, units) => sendAll(port, singles, units, 8, 16),
    },
    {
      ...{ name: 'batches of 10, 8 connections', unit: 'point', units: 20_000 },
      run: (port, units) => sendAll(port, batches, units / 10, 8, 1),
    },
    bodies('batch', 'application/json', `{"points":[${items.join(',')}]}`, 1000, 64_000),
    bodies('bulk', 'text/csv', `lat,lng\n${rows.join('\n')}\n`, 10_000, 160_000),
  ];
}

export default async function benchNaive(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: { rounds: { type: 'string', default: '7' }, only: { type: 'string', default: '' } },
  });
  const rounds = Number(values.rounds);
  const { versions } = new OwnPackages('naive', FRAMEWORKS);
  const { kernel } = await Hexcodes.load();
  const positions = makeCorpora(kernel, readFileSync('data/index.bin'), POSITIONS).cities;
  bindLoad();
  const kinds: readonly (NaiveServer | 'hexcodes')[] = ['hexcodes', ...NAIVE_SERVERS];
  const servers = new Map<NaiveServer | 'hexcodes', ServerProcess>();
  for (const kind of kinds) servers.set(kind, await ServerProcess.start(SERVERS, kind));
  const packages = ['h3-js', 'which-polygon', 'csv-parse'];
  const table = new BenchTable(
    'naive',
    head(packages, { ...(await uwsVersion()), ...versions }),
    ['load', 'server', 'CPU ÷ hexcodes', 'server CPU'],
    `Corpus "cities"; ${rounds} rounds in turns, medians and quartiles. Fastify reads CSV by csv-parse, the others split at commas.`,
    { rounds },
  );
  for (const load of loadsOf(positions)) {
    if (!load.name.includes(values.only)) continue;
    const micros = new Map(kinds.map((kind) => [kind, [] as number[]]));
    // The first two rounds are a warm-up.
    for (let round = -2; round < rounds; round++)
      for (const kind of kinds) {
        const server = servers.get(kind)!;
        const before = await server.cpuMicros();
        await load.run(server.port, load.units);
        if (round >= 0) micros.get(kind)!.push(((await server.cpuMicros()) - before) / load.units);
      }
    const ours = micros.get('hexcodes')!;
    for (const [kind, own] of micros) {
      const ratios = own.map((value, round) => value / ours[round]!);
      const isRequest = load.unit === 'request';
      const cost = spreadText(spread(isRequest ? own : own.map((value) => 1000 * value)));
      const unit = isRequest ? 'µs a request' : 'ns a point';
      table.row([load.name, kind, spreadText(spread(ratios), 2), `${cost} ${unit}`], { kind, micros: own });
    }
  }
  for (const server of servers.values()) server.end();
  table.end();
}
