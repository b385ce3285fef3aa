// Two nodes on one PostgreSQL under load, while the database is stopped and comes back: no call may fail, readiness and
// log have to tell, and what the nodes have converted has to be stored in the end, once.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readExposition, sumOf } from '../metrics.js';
import { Postgres } from '../postgres.js';
import { COMMAND_KEY, ServeCommand } from '../serve-command.js';
import { Load } from './load.js';

export interface AwayResult {
  readonly requests: number;
  readonly frames: number;
  readonly points: number;
  readonly storedPoints: number;
  readonly faults: readonly string[];
}

const NODES = 2;

/**
 * @param awayMs how long the database is stopped; as long there is load before and after, 10 s at most
 * @param shared a database that is stopped, and started again; default: one of its own
 */
export async function databaseAway(
  awayMs: number,
  { shared, pauseMs = 5 }: { readonly shared?: Postgres; readonly pauseMs?: number } = {},
): Promise<AwayResult> {
  const postgres = shared ?? (await Postgres.start());
  const folder = mkdtempSync(join(tmpdir(), 'hexcodes-away-'));
  const store = postgres.newDatabase();
  const nodes: ServeCommand[] = [];
  const loads: Load[] = [];
  const faults: string[] = [];
  try {
    const settings = ['--usage-flush-ms', '500', '--default-points-per-second', '50000000'];
    for (let i = 0; i < NODES; i++) {
      nodes.push(
        new ServeCommand(settings, {
          HEXCODES_STORE: store,
          HEXCODES_KEY_PEPPER: 'a pepper that all nodes have in common',
          HEXCODES_DATA_DIR: mkdtempSync(join(folder, 'node-')),
        }),
      );
      await nodes[i]!.base();
    }
    for (const node of nodes) {
      const options = { mayLoseNothing: true, pauseMs, singles: 2, batches: 1, uploads: 1, streams: 1 };
      loads.push(new Load({ base: await node.base(), key: COMMAND_KEY, ...options }));
    }
    const besideMs = Math.min(awayMs, 10_000);
    await sleep(besideMs);
    await postgres.halt();
    await sleep(awayMs);
    for (const [i, node] of nodes.entries()) {
      const page = await fetch(`${await node.adminBase()}/readyz`);
      const text = await page.text();
      if (page.status !== 200 || !text.includes('warning: the database of HEXCODES_STORE'))
        faults.push(`node ${i + 1} says ${page.status} ${text}`);
    }
    await postgres.resume();
    await sleep(besideMs);
    for (const load of loads) {
      await load.stop();
      faults.push(...load.faults);
      if (load.unanswered > 0) faults.push(`${load.unanswered} calls were not answered`);
    }
    let points = 0;
    for (const node of nodes) {
      for (const text of [
        'usage cannot be stored; it is kept in memory until it can',
        'usage can be stored again',
      ])
        await node.line(text);
      const metrics = readExposition(await (await fetch(`${await node.adminBase()}/metrics`)).text());
      points += sumOf(metrics, 'hexcodes_points_total');
      if ((await node.stop()) !== 0) faults.push(`a node did not end well: ${node.err}`);
    }
    const storedPoints = Number(
      postgres.sql("SELECT sum(points) FROM hexcodes_usage WHERE outcome <> 'refused'", store),
    );
    if (storedPoints !== points) faults.push(`${points} points were converted, ${storedPoints} are stored`);
    const sum = (of: (load: Load) => number): number => loads.reduce((total, load) => total + of(load), 0);
    return {
      requests: sum((load) => load.requests),
      frames: sum((load) => load.frames),
      points,
      storedPoints,
      faults,
    };
  } finally {
    for (const node of nodes) node.remove();
    if (shared === undefined) await postgres.remove();
    rmSync(folder, { recursive: true, force: true });
  }
}
