// `npm run proof -- rolling [--rounds 20] [--proxy HAProxy]`: rolling restarts of two nodes behind each proxy that is
// installed, with the files of deploy/ as they ship, under singles, batches, uploads and streams of the client. Needs
// root.
import { parseArgs } from 'node:util';
import { hasProgram, PROXIES } from '../support/deploy/proxies.js';
import { runRolling } from '../support/deploy/run-rolling.js';
import { report } from './run-length.js';

export default async function proveRolling(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: { rounds: { type: 'string', default: '20' }, proxy: { type: 'string' } },
  });
  const wanted = PROXIES.filter(({ name }) => values.proxy === undefined || values.proxy === name);
  for (const { name, program } of wanted) {
    if (!hasProgram(program)) {
      console.log(`rolling: ${name} is not installed`);
      continue;
    }
    const { restarts, requests, points, reconnections, faults } = await runRolling(
      name,
      Number(values.rounds),
    );
    const reached = `${name}: ${restarts} restarts, ${requests} requests, ${points} points on streams, ${reconnections} reconnections`;
    report('rolling', reached, 0, faults);
  }
}
