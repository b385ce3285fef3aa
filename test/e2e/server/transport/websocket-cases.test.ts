// The cases of the Autobahn suite by number, those of megabytes left out: the small twin of the proof `websocket`.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { BareUws } from '../../../support/bare-uws.js';
import { BINARY, frame, webSocketCases } from '../../../support/websocket/cases.js';
import { ECHO_LIMIT_BYTES, openEcho } from '../../../support/websocket/echo.js';
import { runCase } from '../../../support/websocket/run-case.js';

let echo: BareUws;
beforeAll(async () => {
  echo = await openEcho();
});
afterAll(() => echo.close());

const all = webSocketCases();

test.each(['1', '2', '3', '4', '5', '6', '7'])(
  'cases %s.*: each passes, or the connection is failed',
  async (group) => {
    const cases = all.filter(({ id }) => id.startsWith(`${group}.`));
    expect(cases.length).toBeGreaterThan(0);
    const failed: string[] = [];
    for (const each of cases) {
      if ((await runCase(echo.port, '/echo', each, ECHO_LIMIT_BYTES)) === 'FAIL') failed.push(each.id);
    }
    expect(failed).toEqual([]);
  },
);

test('a message beyond the limit ends the connection', async () => {
  const steps = [frame(BINARY, Buffer.alloc(ECHO_LIMIT_BYTES + 1))];
  const large = { id: '9.2.5', steps, due: [], ends: 'open' as const, largestBytes: ECHO_LIMIT_BYTES + 1 };
  expect(await runCase(echo.port, '/echo', large, ECHO_LIMIT_BYTES)).toBe('refused by limit');
});
