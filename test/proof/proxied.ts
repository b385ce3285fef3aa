// Two nodes behind each proxy that is installed.
import { hasProgram, PROXIES } from '../support/deploy/proxies.js';
import { runProxied } from '../support/deploy/run-in-namespace.js';
import type { TaskOptions } from '../support/deploy/task.js';
import type { TaskName } from '../support/deploy/tasks.js';
import { optionsOf, report } from './run-length.js';

// `npm run proof -- proxies [--megabytes 1000] [--times 10] [--refused 100] [--seconds 60] [--rate 12M] [--proxy
// nginx]`: two nodes behind each proxy that is installed, with the files of deploy/ as they ship. Bodies of a gigabyte
// pass whole, with and without TLS, from fast and slow clients; refused ones give their reason; under more batches than
// can be answered no answer is the proxy's own. The disk needs some five times a body. Needs root. The small twin is
// test/e2e/deploy/proxies.test.ts.
export async function proveProxies(args: string[]): Promise<void> {
  const values = optionsOf(args, {
    megabytes: '1000',
    times: '10',
    slow: '10',
    refused: '100',
    seconds: '60',
    rate: '12M',
    proxy: undefined,
  });
  const [megabytes, times, slow] = [Number(values.megabytes), Number(values.times), Number(values.slow)];
  const seconds = Number(values.seconds);
  for (const { name, program } of PROXIES) {
    if (values.proxy !== undefined && values.proxy !== name) continue;
    if (!hasProgram(program)) {
      console.log(`proxies: ${name} is not installed`);
      continue;
    }
    const run = async (what: string, task: TaskName, options: TaskOptions): Promise<void> => {
      const { done, faults, notes } = await runProxied(name, task, options);
      report('proxies', `${name}, ${what}: ${done} right; ${notes.slice(0, 12).join(', ')}`, 0, faults);
    };
    for (const isTls of [true, false]) {
      const way = isTls ? 'TLS' : 'no TLS';
      if (times > 0)
        await run(`${times} × ${megabytes} MB, ${way}, fast`, 'bodies', { isTls, megabytes, times });
      const { rate } = values;
      if (slow > 0)
        await run(`${slow} × ${megabytes} MB, ${way}, ${rate}B/s`, 'bodies', {
          isTls,
          megabytes,
          times: slow,
          rate,
        });
    }
    await run('forged addresses', 'forged', {});
    if (Number(values.refused) > 0) {
      const options = { times: Number(values.refused), isBulkOnly: true };
      await run(`${values.refused} × 15 refused bodies`, 'refused', options);
    }
    await run('nodes that are killed', 'killed', { isHttp1: true });
    if (seconds > 0) await run(`400 connections of batches for ${seconds} s`, 'saturated', { seconds });
  }
}

// `npm run proof -- intervals [--vehicles 60] [--seconds 180] [--delay 50] [--proxy nginx]`: vehicles that report every
// 5, 9, 10, 11, 15, 30 and 60 s over one kept connection each, a quarter of them outside of the country, behind each
// proxy that is installed with the file of deploy/ as it ships, by Node's agent, undici over HTTP/2, and Go. No report
// may fail. Needs root. The twin with shorter timers is test/e2e/deploy/proxies.test.ts.
export async function proveIntervals(args: string[]): Promise<void> {
  const values = optionsOf(args, { vehicles: '60', seconds: '180', delay: '50', proxy: undefined });
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
