// A fact about the connections of uWebSockets.js, as numbered in src/server/transport/README.md, shown on uWS itself.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { UwsResponse } from '#dist/server/transport/uws.js';
import { openBareUws } from '../../../support/bare-uws.js';
import { Crowd } from '../../../support/crowd.js';
import { below, type Random } from '../../../support/mutate.js';
import { randomFrom } from '../../../support/open-world.js';

/** Answers in one of the ways in which an answer, or the connection, may end. */
function answer(res: UwsResponse, random: Random): void {
  const kind = below(6, random);
  let isGone = false;
  if (kind === 0) res.end('hello');
  else if (kind === 1) res.end('hello', true);
  else if (kind === 2) res.close();
  else res.onAborted(() => (isGone = true));
  const later = (work: () => void): void =>
    void setTimeout(() => isGone || res.cork(work), below(20, random));
  if (kind === 3) later(() => void res.end('late', random() < 0.5));
  else if (kind === 4) later(() => void res.close());
  else if (kind === 5)
    res.onData((_, isLast) => {
      if (isLast && !isGone) res.end('body');
      if (isLast) isGone = true;
    });
}

test('U40: the calls of the filter come in pairs, however a connection ends', async () => {
  const random = randomFrom(40);
  const calls: number[] = [];
  let open = 0;
  let sockets = 0;
  const bare = await openBareUws((app) => {
    const counted = (res: UwsResponse, change: number): void => {
      calls.push(change);
      open += change;
      if (change > 0 && random() < 0.1) res.close();
    };
    app.filter(counted);
    app.ws('/v1/hexcodes/stream', {
      ...{ idleTimeout: 8, maxLifetime: 0, maxPayloadLength: 1000, maxBackpressure: 1000, compression: 0 },
      ...{ closeOnBackpressureLimit: true, sendPingsAutomatically: true, message: () => {}, drain: () => {} },
      open: () => sockets++,
      close: () => open--,
      upgrade: (res, req, context) =>
        void (random() < 0.5
          ? res.upgrade({}, req.getHeader('sec-websocket-key'), '', '', context)
          : res.end('no', random() < 0.5)),
    });
    app.any('/*', (res) => answer(res, random));
  });
  const crowd = new Crowd({ port: bare.port, random, atOnce: 40 });
  await crowd.run((requests) => requests < 6000);
  crowd.end();
  while (open !== 0) await sleep(50);
  await sleep(500);
  bare.close();
  expect(new Set(calls)).toEqual(new Set([1, -1]));
  expect(sockets).toBeGreaterThan(0);
  expect(open).toBe(0);
});
