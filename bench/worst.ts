// `npm run bench -- worst [--rounds 5] [--only NAME] [--beside X]`: CPU of the server's main thread for one of the
// requests that take the most of it, and for a body of good rows of the same size. The work of the pool is not counted:
// it holds up nobody.
import { parseArgs } from 'node:util';
import { sendWorst, worstRequests } from '../test/support/worst-requests.js';
import { BESIDE_OPTION, placeBeside } from './beside.js';
import { ServerProcess, uwsVersion } from './server-process.js';
import { BENCH_KEY } from './service.js';
import { BenchTable, head, spread, spreadText } from './table.js';

const SERVERS = new URL('./http/servers.js', import.meta.url);
const WARM_UPS = 2;

const GOOD = {
  'good: CSV, 65 KB': {
    path: '/v1/hexcodes/encode/bulk',
    type: 'text/csv',
    accept: 'application/x-ndjson',
    body: Buffer.from(`lat,lng\n${'21.0288,105.8525\n'.repeat(3800)}`),
  },
};

export default async function benchWorst(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      rounds: { type: 'string', default: '5' },
      only: { type: 'string', default: '' },
      ...BESIDE_OPTION,
    },
  });
  const place = placeBeside(values.beside, 'http');
  const rounds = Number(values.rounds);
  const headOfRun = head([], await uwsVersion());
  // Bound to no core, as a service is that uses its workers.
  const servers = [await ServerProcess.start(SERVERS, 'hexcodes', false)];
  if (place !== undefined) servers.push(await ServerProcess.start(SERVERS, 'hexcodes', false, place));

  const besideTitles = place === undefined ? [] : [`${values.beside}, ms`, '×'];
  const titles = ['request', 'main thread, ms', ...besideTitles];
  const table = new BenchTable('worst', headOfRun, titles, `${rounds} rounds.`);
  for (const [name, request] of Object.entries({ ...GOOD, ...worstRequests() })) {
    if (!name.includes(values.only)) continue;
    const millis: number[][] = servers.map(() => []);
    for (let round = -WARM_UPS; round < rounds; round++) {
      for (const [i, server] of servers.entries()) {
        const before = server.mainThreadMicros();
        await sendWorst(server.port, BENCH_KEY, request);
        if (round >= 0) millis[i]!.push((server.mainThreadMicros() - before) / 1000);
      }
    }
    const spreads = millis.map(spread);
    const [ours, theirs] = spreads;
    const others =
      theirs === undefined ? [] : [spreadText(theirs, 2), (theirs.median / ours!.median).toFixed(1)];
    table.row([name, spreadText(ours!, 2), ...others], { name, millis });
  }
  for (const server of servers) server.end();
  table.end();
}
