// `npm run proof -- intervals [--vehicles 60] [--seconds 180] [--delay 50] [--proxy nginx]`: vehicles that report every
// 5, 9, 10, 11, 15, 30 and 60 s over one kept connection each, a quarter of them outside of the country, behind each
// proxy that is installed with the file of deploy/ as it ships, by Node's agent, undici over HTTP/2, and Go. No report
// may fail. Needs root. The twin with shorter timers is test/e2e/deploy/proxies.test.ts.
import { parseArgs } from 'node:util';
import { hasProgram, PROXIES } from '../support/deploy/proxies.js';
import { runProxied } from '../support/deploy/run-in-namespace.js';
import { report } from './run-length.js';

export default async function proveIntervals(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      vehicles: { type: 'string', default: '60' },
      seconds: { type: 'string', default: '180' },
      delay: { type: 'string', default: '50' },
      proxy: { type: 'string' },
    },
  });
  const options = {
    vehicles: Number(values.vehicles),
    seconds: Number(values.seconds),
    delayMs: Number(values.delay),
  };
  for (const { name, program } of PROXIES) {
    if (values.proxy !== undefined && values.proxy !== name) continue;
    if (!hasProgram(program)) {
      console.log(`intervals: ${name} is not installed`);
      continue;
    }
    const { done, faults, notes } = await runProxied(name, 'paced', options);
    report('intervals', `${name}: ${done} answers; failures: ${notes.join('; ')}`, 0, faults);
  }
}
