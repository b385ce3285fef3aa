// How much slow work the main thread does in one turn of its event loop, counted over the worst requests known: rows
// that the host reads or writes, their bytes, and members of envelopes. The server runs in this process, its workers in
// threads.
import { expect, test } from 'vitest';
import { slowWork } from '#dist/hexcodes/wire/rows/row-report.js';
import { sharedServer } from '../../support/shared.js';
import { sendWorst, worstRequests } from '../../support/worst-requests.js';

/** The allowance of a turn may be refilled once within it, between its callbacks and its immediates. */
const MOST = { rows: 2 * (256 + 16), bytes: 2 * 64 * (256 + 16), members: 65 };

const server = sharedServer({ logLevel: 'info' });

/** The most of each count within one turn while the work goes on. */
async function maxInTurn(work: Promise<unknown>): Promise<typeof slowWork> {
  const most = { rows: 0, bytes: 0, members: 0 };
  let last = { ...slowWork };
  let isOver = false;
  const overNow = (): void => {
    isOver = true;
  };
  work.then(overNow, overNow);
  while (!isOver) {
    await new Promise((resolve) => setImmediate(resolve));
    for (const name of ['rows', 'bytes', 'members'] as const)
      most[name] = Math.max(most[name], slowWork[name] - last[name]);
    last = { ...slowWork };
  }
  await work;
  return most;
}

test.each(Object.entries(worstRequests()))('%s', async (_name, request) => {
  const most = await maxInTurn(sendWorst(server.port, server.key, request));
  for (const name of ['rows', 'bytes', 'members'] as const)
    expect([name, Math.min(most[name], MOST[name])]).toEqual([name, most[name]]);
});

test('forty connections together get no more slow rows in a turn, and a few each', async () => {
  const request = worstRequests()['NDJSON of {}']!;
  const work = Promise.all(Array.from({ length: 40 }, () => sendWorst(server.port, server.key, request)));
  expect((await maxInTurn(work)).rows).toBeLessThanOrEqual(2 * (256 + 40 * 16));
});

test('without slow rows nothing is counted', async () => {
  const before = { ...slowWork };
  const body = Buffer.from('lat,lng\n21.0288,105.8525\n');
  const path = '/v1/hexcodes/encode/bulk';
  await sendWorst(server.port, server.key, { path, type: 'text/csv', accept: 'text/csv', body });
  expect(slowWork).toEqual(before);
});
