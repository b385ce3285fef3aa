// `npm run proof -- websocket [--only 5.]`: the cases of the Autobahn suite by number, each with its verdict. The small
// twin is test/e2e/server/transport/websocket-cases.test.ts.
import { sizeCases, webSocketCases } from '../support/websocket/cases.js';
import { ECHO_LIMIT_BYTES, openEcho } from '../support/websocket/echo.js';
import { runCase, type Verdict } from '../support/websocket/run-case.js';
import { optionsOf, report } from './run-length.js';

export default async function proveWebSocket(args: string[]): Promise<void> {
  const values = optionsOf(args, { only: '' });
  const echo = await openEcho();
  const byVerdict = new Map<Verdict, string[]>();
  for (const each of [...webSocketCases(), ...sizeCases()]) {
    if (!each.id.startsWith(values.only)) continue;
    const verdict = await runCase(echo.port, '/echo', each, ECHO_LIMIT_BYTES);
    byVerdict.set(verdict, [...(byVerdict.get(verdict) ?? []), each.id]);
  }
  echo.close();
  for (const [verdict, ids] of byVerdict) console.log(`${verdict} (${ids.length}): ${ids.join(' ')}`);
  const counts = [...byVerdict].map(([verdict, ids]) => `${ids.length} ${verdict}`).join(', ');
  report('websocket', counts, 0, byVerdict.get('FAIL') ?? []);
}
