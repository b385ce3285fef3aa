// Stops of a service and of its database, under load. First a stop with its default times under clients that know
// nothing of it: they keep their connections, ask on, and connect again where they are told that a connection closes.
// A call on a kept connection that gets no answer is lost; one that finds nobody who listens is not.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readExposition, sumOf } from '../metrics.js';
import { Postgres } from '../postgres.js';
import { COMMAND_KEY, ServeCommand } from '../server-process.js';
import { agentFor, call, Load, LostCall } from './load.js';

const CLIENTS = 12;
const PATH = '/v1/hexcodes/encode?lat=21.0288&lng=105.8525';

interface PlainStop {
  readonly answered: number;
  readonly lost: readonly string[];
}

/** @param drain value of HEXCODES_DRAIN_MS */
export async function stopUnderPlainClients(afterMs: number, drain = '2000'): Promise<PlainStop> {
  const service = new ServeCommand([], {
    HEXCODES_LOG_LEVEL: 'info',
    HEXCODES_DRAIN_MS: drain,
  });
  const base = await service.base();
  let isOver = false;
  let answered = 0;
  const lost: string[] = [];
  const client = async (number: number): Promise<void> => {
    const agent = agentFor(base);
    while (!isOver) {
      try {
        const { status } = await call(agent, base, {
          ...{ path: PATH, method: 'GET' },
          headers: { 'X-API-Key': COMMAND_KEY },
        });
        if (status === 200) answered++;
        else lost.push(`${status}`);
      } catch (error) {
        if (!(error instanceof LostCall)) throw error;
        // Nobody listens any more: a connection is refused, or reset where it came in the moment in which the port
        // closed.
        if (!error.wasKept && !error.hadBegun) break;
        lost.push(error.message);
      }
      // Some ask soon again, some rest.
      await sleep(10 + (number % 4) * 60);
    }
    agent.destroy();
  };
  try {
    const clients = Array.from({ length: CLIENTS }, (_, i) => client(i));
    await sleep(afterMs);
    await service.stop();
    isOver = true;
    await Promise.all(clients);
    return { answered, lost };
  } finally {
    isOver = true;
    service.remove();
  }
}

// A stop in the middle of load: every request whose head was read, and every frame taken, must be answered. The service
// counts what it has read, the load counts what was answered in whole, and the two must be equal.
interface StopResult {
  readonly requests: number;
  readonly frames: number;
  readonly stopMs: number;
  readonly faults: readonly string[];
}

/** @param after requests and frames that are answered before SIGTERM comes */
export async function stopUnderLoad(args: readonly string[], after = 200): Promise<StopResult> {
  const service = new ServeCommand(args, { HEXCODES_LOG_LEVEL: 'info' });
  try {
    const load = new Load({ base: await service.base(), key: COMMAND_KEY, mayLoseNothing: false });
    await load.reach(after, after);
    const startMs = performance.now();
    const ending = await service.stop();
    const stopMs = performance.now() - startMs;
    await load.stop();
    const { counts } = service;
    const faults = [...load.faults];
    if (ending !== 0) faults.push(`the service ended with ${ending}: ${service.err}`);
    if (counts.requests !== load.requests)
      faults.push(`${counts.requests} requests were read, ${load.requests} were answered`);
    if (counts.frames !== load.frames)
      faults.push(`${counts.frames} frames were taken, ${load.frames} were answered`);
    // 1006: a connection that was never opened, as nobody listens any more.
    for (const code of load.closings.keys())
      if (![1000, 1006, 1012].includes(code)) faults.push(`a stream was closed with ${code}`);
    if (!load.closings.has(1012)) faults.push('no stream was closed with 1012');
    return { requests: load.requests, frames: load.frames, stopMs, faults };
  } finally {
    service.remove();
  }
}

// Two nodes on one PostgreSQL under load, while the database is stopped and comes back: no call may fail, readiness and
// log have to tell, and what the nodes have converted has to be stored in the end, once.

interface AwayResult {
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
