// A quota is never passed and is used to its last point, by parallel work of every kind, on one, two and four
// processes, over two nodes on PostgreSQL, and over processes that are killed: no answer of 503, and no line of an
// error.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import WebSocket from 'ws';
import { freePort } from '../../support/free-port.js';
import { noPostgres, Postgres } from '../../support/postgres.js';
import { COMMAND_KEY, ServeCommand } from '../../support/serve-command.js';
import { startServer } from '../../support/server.js';

const root = mkdtempSync(join(tmpdir(), 'hexcodes-quota-'));
afterAll(() => rmSync(root, { recursive: true }));

const HEADERS = { 'X-API-Key': COMMAND_KEY };

interface Answered {
  readonly points: number;
  readonly statuses: number[];
}

const sumOf = (all: readonly Answered[]): number => all.reduce((sum, { points }) => sum + points, 0);
const statusesOf = (all: readonly Answered[]): number[] =>
  [...new Set(all.flatMap(({ statuses }) => statuses))].sort();

async function batch(
  base: string,
  points: number,
  headers: Record<string, string> = HEADERS,
): Promise<Answered> {
  const answer = await fetch(`${base}/v1/hexcodes/encode/batch`, {
    method: 'POST',
    headers: { ...headers, 'Content-Type': 'application/json', Connection: 'close' },
    body: JSON.stringify({ points: Array.from({ length: points }, () => [21.0288123, 105.8525123]) }),
  });
  const { summary } = (await answer.json()) as { summary?: { total: number } };
  return { points: summary?.total ?? 0, statuses: [answer.status] };
}

async function single(base: string): Promise<Answered> {
  const { status } = await fetch(`${base}/v1/hexcodes/encode?lat=21.03&lng=105.85`, { headers: HEADERS });
  return { points: status === 200 ? 1 : 0, statuses: [status] };
}

async function bulk(base: string, rows: number): Promise<Answered> {
  const answer = await fetch(`${base}/v1/hexcodes/encode/bulk`, {
    method: 'POST',
    headers: { ...HEADERS, 'Content-Type': 'text/csv' },
    body: `lat,lng\n${'21.0288,105.8525\n'.repeat(rows)}`,
  });
  const text = await answer.text();
  return { points: text.split(',OK\n').length - 1, statuses: [answer.status] };
}

/** Sends JSON frames one after the other until the stream is closed. */
function stream(base: string, pointsOfFrame: number): Promise<Answered> {
  const socket = new WebSocket(`${base.replace('http', 'ws')}/v1/hexcodes/stream`, 'hexcodes.v1.json', {
    headers: HEADERS,
  });
  const points = Array.from({ length: pointsOfFrame }, () => [21.03, 105.85]);
  let answered = 0;
  const send = (): void => socket.send(JSON.stringify({ seq: 1, op: 'encode', points }));
  return new Promise((resolve) => {
    socket.on('message', (data) => {
      const { summary } = JSON.parse(String(data)) as { summary?: { total: number } };
      answered += summary?.total ?? 0;
      send();
    });
    socket.on('close', (code) => resolve({ points: answered, statuses: [code] }));
    socket.on('unexpected-response', (_, { statusCode }) =>
      resolve({ points: answered, statuses: [statusCode ?? 0] }),
    );
    socket.on('error', () => {});
  });
}

/** Starts a service of several processes. @returns the address of each process */
async function start(processes: number, perDay: number): Promise<{ service: ServeCommand; bases: string[] }> {
  const port = await freePort(1 + processes);
  const service = new ServeCommand(
    [
      ...['--default-points-per-day', String(perDay), '--usage-flush-ms', '200'],
      ...(processes === 1 ? [] : ['--processes', String(processes), '--own-ports']),
    ],
    { HEXCODES_PORT: String(port) },
  );
  const base = await service.base();
  const bases =
    processes === 1
      ? [base]
      : Array.from({ length: processes }, (_, at) => `http://127.0.0.1:${port + 1 + at}`);
  return { service, bases };
}

describe.each(process.platform === 'linux' ? [1, 2, 4] : [1])('%i processes', (processes) => {
  test.each([
    // The second kind of batch is too large for the thread of the service, and its points are not known before.
    ['batches of 100', 2000, 30, (base: string) => batch(base, 100)],
    ['batches of 6,500', 7_000, 4, (base: string) => batch(base, 6500)],
    ['bulk bodies', 10_000, 3, (base: string) => bulk(base, 9000)],
    ['streams', 10_000, 3, (base: string) => stream(base, 1000)],
  ] as const)(
    '%s at once',
    async (_, perDay, each, work) => {
      const { service, bases } = await start(processes, perDay);
      try {
        const all = await Promise.all(
          bases.flatMap((base) => Array.from({ length: each }, () => work(base))),
        );
        const used = sumOf(all);
        expect(used).toBeLessThanOrEqual(perDay);
        // Whatever is left is less than one piece of work, and goes one by one.
        const rest: Answered[] = [];
        do rest.push(await single(bases[rest.length % bases.length] as string));
        while (rest.at(-1)?.statuses[0] === 200);
        expect(used + sumOf(rest)).toBe(perDay);
        expect(statusesOf([...all, ...rest]).filter((status) => ![200, 429, 4002].includes(status))).toEqual(
          [],
        );
        expect(service.log.filter(({ level }) => (level as number) >= 50)).toEqual([]);
      } finally {
        await service.stop();
      }
    },
    60_000,
  );
});

test('processes that are killed can give no point again', async () => {
  const dataDir = mkdtempSync(join(root, 'killed-'));
  const answered: Answered[] = [];
  for (let kills = 0; kills < 4; kills++) {
    const service = new ServeCommand(['--default-points-per-day', '1000', '--usage-flush-ms', '60000'], {
      HEXCODES_DATA_DIR: dataDir,
    });
    const base = await service.base();
    answered.push(...(await Promise.all(Array.from({ length: 8 }, () => batch(base, 50)))));
    service.child.kill('SIGKILL');
    await service.exit;
  }
  const used = sumOf(answered);
  expect(used).toBeLessThanOrEqual(1000);
  expect(used).toBeGreaterThanOrEqual(800);
  expect(statusesOf(answered)).toEqual([200, 429]);
});

describe.skipIf(noPostgres !== undefined)(
  `two nodes on PostgreSQL${noPostgres === undefined ? '' : ` (${noPostgres})`}`,
  () => {
    let postgres: Postgres;
    beforeAll(async () => {
      postgres = await Postgres.start();
    });
    afterAll(() => postgres.remove());

    test.each([
      [1000, 1],
      [20_000, 37],
    ])(
      '%i points by batches of %i: used to the last point, then 429, and no error',
      async (perDay, size) => {
        const settings = {
          store: postgres.newDatabase(),
          keyPepper: 'a pepper that all nodes have in common',
          apiKeys: [{ name: 'one', secret: COMMAND_KEY }],
          defaultPointsPerDay: perDay,
          usageFlushMs: 200,
        };
        const nodes = [];
        for (const name of ['one', 'two']) {
          const dataDir = mkdtempSync(join(root, `node-${name}-`));
          nodes.push(await startServer({ ...settings, dataDir }));
        }
        const use = async (base: string): Promise<Answered> => {
          let points = 0;
          const statuses = new Set<number>();
          while (!statuses.has(429)) {
            const one = await batch(base, size);
            points += one.points;
            for (const status of one.statuses) statuses.add(status);
          }
          return { points, statuses: [...statuses] };
        };
        const all = await Promise.all(
          nodes.flatMap(({ base }) => Array.from({ length: 6 }, () => use(base))),
        );
        expect(sumOf(all)).toBe(perDay - (perDay % size));
        expect(statusesOf(all)).toEqual([200, 429]);
        for (const node of nodes) {
          expect(
            node
              .log()
              .split('\n')
              .filter((line) => line.includes('"level":50')),
          ).toEqual([]);
          await node.stop();
        }
      },
      60_000,
    );
  },
);
