// Quotas: used up to their last point, by the clock of their zone, and while the database is away.

import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import WebSocket from 'ws';
import { databaseAway } from '../../support/load.js';
import { freePort } from '../../support/network.js';
import { noPostgres, Postgres } from '../../support/postgres.js';
import { startServer } from '../../support/server.js';
import { COMMAND_KEY, ServeCommand } from '../../support/server-process.js';
import { ownFolder, sharedOf } from '../../support/shared.js';

const root = ownFolder('quota');

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

async function single(base: string, key: string): Promise<Answered> {
  const headers = { 'X-API-Key': key };
  const { status } = await fetch(`${base}/v1/hexcodes/encode?lat=21.03&lng=105.85`, { headers });
  return { points: status === 200 ? 1 : 0, statuses: [status] };
}

async function bulk(base: string, rows: number, key: string): Promise<Answered> {
  const answer = await fetch(`${base}/v1/hexcodes/encode/bulk`, {
    method: 'POST',
    headers: { 'X-API-Key': key, 'Content-Type': 'text/csv' },
    body: `lat,lng\n${'21.0288,105.8525\n'.repeat(rows)}`,
  });
  const text = await answer.text();
  return { points: text.split(',OK\n').length - 1, statuses: [answer.status] };
}

/** Sends JSON frames one after the other until the stream is closed. */
function stream(base: string, pointsOfFrame: number, key: string): Promise<Answered> {
  const socket = new WebSocket(`${base.replace('http', 'ws')}/v1/hexcodes/stream`, 'hexcodes.v1.json', {
    headers: { 'X-API-Key': key },
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

/** Points that each key may use. */
const PER_DAY = 6600;

/** Work of each kind, as often as it takes to use more, with a key of its own. */
const KINDS = [
  // The second kind of batch is too large for the thread of the service, and its points are not known before.
  ['batches of 100', 80, (base: string, key: string) => batch(base, 100, { 'X-API-Key': key })],
  ['batches of 6,500', 4, (base: string, key: string) => batch(base, 6500, { 'X-API-Key': key })],
  ['bulk bodies', 3, (base: string, key: string) => bulk(base, 6500, key)],
  ['streams', 3, (base: string, key: string) => stream(base, 500, key)],
] as const;

const keyOf = (kind: string): string => `${kind.replace(/\W/g, '')}_0123456789abcdef`;

describe.each(process.platform === 'linux' ? [1, 3] : [1])('%i processes', (processes) => {
  let service: ServeCommand;
  /** The address of each process. */
  let bases: string[];
  beforeAll(async () => {
    const port = await freePort(1 + processes);
    service = new ServeCommand(
      [
        ...['--default-points-per-day', String(PER_DAY), '--usage-flush-ms', '200'],
        ...(processes === 1 ? [] : ['--processes', String(processes), '--own-ports']),
      ],
      {
        HEXCODES_PORT: String(port),
        HEXCODES_API_KEYS: KINDS.map(([kind], at) => `k${at}:${keyOf(kind)}`).join(','),
      },
    );
    const base = await service.base();
    bases =
      processes === 1
        ? [base]
        : Array.from({ length: processes }, (_, at) => `http://127.0.0.1:${port + 1 + at}`);
  });
  afterAll(() => service.remove());

  test.each(KINDS)('%s at once', async (kind, each, work) => {
    const key = keyOf(kind);
    const all = await Promise.all(
      bases.flatMap((base) => Array.from({ length: each }, () => work(base, key))),
    );
    const used = sumOf(all);
    expect(used).toBeLessThanOrEqual(PER_DAY);
    // Whatever is left is less than one piece of work, and goes one by one.
    const rest: Answered[] = [];
    do rest.push(await single(bases[rest.length % bases.length] as string, key));
    while (rest.at(-1)?.statuses[0] === 200);
    expect(used + sumOf(rest)).toBe(PER_DAY);
    expect(statusesOf([...all, ...rest]).filter((status) => ![200, 429, 4002].includes(status))).toEqual([]);
  });

  test('nothing of it is an error, and the service ends with 0', async () => {
    expect(service.log.filter(({ level }) => (level as number) >= 50)).toEqual([]);
    expect(await service.stop()).toBe(0);
  });
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
    const postgres = sharedOf(
      () => Postgres.start(),
      (made) => made.remove(),
    );

    test.each([
      [300, 1],
      [5000, 37],
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

    test('under load the database stops and comes back: no call fails, and every point is stored once', async () => {
      const { requests, frames, points, faults } = await databaseAway(1500, {
        shared: postgres,
        pauseMs: 25,
      });
      expect(faults).toEqual([]);
      expect(requests).toBeGreaterThan(0);
      expect(frames).toBeGreaterThan(0);
      expect(points).toBeGreaterThan(0);
    }, 120_000);
  },
);

const LIBRARY = '/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1';

const isInstalled = existsSync(LIBRARY);

const HOUR_SECONDS = 3600;

const DAY_SECONDS = 24 * HOUR_SECONDS;

/** Seconds from now to the next half past eleven in the evening in Viet Nam. */
function toLateEvening(): number {
  const seconds = Math.floor(Date.now() / 1000) % DAY_SECONDS;
  return (16.5 * HOUR_SECONDS - seconds + DAY_SECONDS) % DAY_SECONDS;
}

/** A clock that the test sets, by seconds from now. */
function ownClock(): { setClock: (seconds: number) => void; env: Record<string, string> } {
  const file = join(mkdtempSync(join(root, 'clock-')), 'offset');
  return {
    setClock: (seconds) => writeFileSync(file, `+${seconds}`),
    env: {
      LD_PRELOAD: LIBRARY,
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      DONT_FAKE_MONOTONIC: '1',
    },
  };
}

test.skipIf(!isInstalled)(
  `a clock that is ten years ahead at two starts removes no usage${isInstalled ? '' : ' (skipped: faketime is not installed)'}`,
  async () => {
    const { setClock, env } = ownClock();
    const dataDir = mkdtempSync(join(root, 'ahead-'));
    for (const seconds of [0, 3650 * DAY_SECONDS, 3650 * DAY_SECONDS]) {
      setClock(seconds);
      const service = new ServeCommand([], { HEXCODES_DATA_DIR: dataDir, ...env });
      try {
        expect((await single(await service.base(), COMMAND_KEY)).points).toBe(1);
        expect(await service.stop()).toBe(0);
      } finally {
        service.remove();
      }
    }
    const exported = [
      'dist/cli/main.js',
      'usage',
      'export',
      '--csv',
      '--from',
      '2000-01-01',
      '--data-dir',
      dataDir,
    ];
    const rows = execFileSync(process.execPath, exported, { encoding: 'utf8' }).trim().split('\n').slice(1);
    expect(rows.map((row) => row.split(',').at(-1))).toEqual(['1', '2']);
  },
);

test.skipIf(!isInstalled)(
  `the clock an hour forward, over midnight, and back${isInstalled ? '' : ' (skipped: faketime is not installed)'}`,
  async () => {
    const { setClock, env } = ownClock();
    const evening = toLateEvening();
    setClock(evening);
    const dataDir = join(root, 'data');
    const service = new ServeCommand(['--default-points-per-day', '20', '--usage-flush-ms', '100'], {
      HEXCODES_DATA_DIR: dataDir,
      ...env,
    });
    try {
      const base = await service.base();
      const admin = await service.adminBase();
      const headers = { 'X-API-Key': COMMAND_KEY };
      const encode = async (): Promise<number> =>
        (await fetch(`${base}/v1/hexcodes/encode?lat=21.03&lng=105.85`, { headers })).status;
      const statuses = async (count: number): Promise<number[]> => {
        const all: number[] = [];
        for (let i = 0; i < count; i++) all.push(await encode());
        return all;
      };
      const moved = 'the clock of the machine was moved, or the machine slept';
      expect(new Set(await statuses(15))).toEqual(new Set([200]));

      setClock(evening + HOUR_SECONDS);
      expect(await service.line(moved)).toMatchObject({ moved_seconds: HOUR_SECONDS });
      // A busy service is answered for by its last page, which is 50 ms old or more.
      await expect
        .poll(async () => (await fetch(`${admin}/readyz`)).text())
        .toBe('ready\nwarning: the clock of the machine was moved by 3600 s, or the machine slept\n');
      // Another day.
      expect(await statuses(21)).toEqual([...Array.from({ length: 20 }, () => 200), 429]);

      setClock(evening);
      expect(await service.line(moved, 2)).toMatchObject({ moved_seconds: -HOUR_SECONDS });
      // The day that has begun goes on, and so does all that needs no points.
      expect(await encode()).toBe(429);
      expect((await fetch(`${base}/v1/meta`, { headers })).status).toBe(200);
      await sleep(200);
      expect(await service.stop()).toBe(0);
    } finally {
      service.remove();
    }
    const exported = ['dist/cli/main.js', 'usage', 'export', '--csv', '--data-dir', dataDir];
    const rows = execFileSync(process.execPath, exported, { encoding: 'utf8' }).trim().split('\n').slice(1);
    const points = { ok: 0, refused: 0 };
    for (const row of rows) {
      const [, , , outcome, , count] = row.split(',');
      points[outcome as keyof typeof points] += Number(count);
    }
    expect(points).toEqual({ ok: 35, refused: 2 });
  },
  60_000,
);
