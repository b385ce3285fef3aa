// The store of usage in memory: buckets, sums and quotas as both stores keep them, with a clock of the test. Quotas
// are given by the function that both stores give by. Over it stands a model of a quota that several processes share.

import { Ledger } from '#dist/server/ledger/ledger.js';
import { type NotTaken, Quota, type QuotaPeriod, type QuotaStore } from '#dist/server/ledger/quota.js';
import {
  askedIds,
  CELLS,
  cellAt,
  FAILED,
  grantOf,
  NOTHING_USED,
  OK,
  type QuotaGrant,
  type QuotaOrder,
  type RateLevel,
  REFUSED,
  returnedOf,
  rowsOf,
  SILENT_MS,
  type Stored,
  type UsageBatch,
  type UsageRow,
  usedOf,
} from '#dist/server/usage/batch.js';
import { openOrMakeUsage, openUsage, usagePath } from '#dist/server/usage/store/usage-store.js';
import { randomFrom } from './random.js';

export { TokenBucket, WAIT } from '#dist/server/ledger/rates.js';

export type { Ledger, QuotaOrder, UsageBatch, UsageRow };

type LedgerOptions = ConstructorParameters<typeof Ledger>[0];
export type KeyLedger = ReturnType<Ledger['of']>;
export type KeyLimits = LedgerOptions['defaults'];

/** A ledger in the zone of Viet Nam, over a store that never hurries unless another is given. */
export const ledgerOf = (options: Partial<LedgerOptions> = {}): Ledger =>
  new Ledger({
    ...{ defaults: {}, pointsPerSecond: 0, zone: 'Asia/Ho_Chi_Minh', isOpen: true },
    store: { isAway: false, isSlow: false, hurry: () => {} },
    ...options,
  });
// The messages between service and store, and the words that they count by.
export { CELLS, cellAt, FAILED, grantOf, NOTHING_USED, OK, openOrMakeUsage, openUsage, REFUSED, usagePath };

interface Sum {
  requests: number;
  points: number;
  held: number;
}

interface Holder {
  points: number;
  isWanted: boolean;
  atMs: number;
}

export class UsageInMemory {
  readonly #buckets = new Map<string, { tokens: number; atMs: number }>();
  readonly #sums = new Map<string, Sum>();
  /** Holders by key and node. */
  readonly #holders = new Map<string, Map<string, Holder>>();
  /** The last batch of each node. */
  readonly #added = new Map<string, number>();

  /** @param nowMs of the store's own clock */
  constructor(private readonly nowMs: () => number) {}

  sum(period: string, keyId: string): Sum {
    const name = `${period} ${keyId}`;
    let sum = this.#sums.get(name);
    if (sum === undefined) {
      sum = { requests: 0, points: 0, held: 0 };
      this.#sums.set(name, sum);
    }
    return sum;
  }

  /** Adds a batch, once however often it comes. */
  add(node: string, batch: UsageBatch): Stored {
    const isNew = (this.#added.get(node) ?? 0) < batch.number;
    if (isNew) this.#added.set(node, batch.number);
    const rates = isNew ? this.#addNew(batch) : [];
    const grants = batch.quotas.map((order) =>
      isNew ? this.#grant(node, order, batch) : this.#grantedBefore(node, order),
    );
    const sums = askedIds(batch).flatMap((keyId) =>
      [batch.day, batch.month].map((period) => ({ period, keyId, ...this.sum(period, keyId) })),
    );
    return { used: usedOf(sums, batch.day), rates, grants };
  }

  #addNew(batch: UsageBatch): RateLevel[] {
    for (const { period, keyId, requests, points, held } of rowsOf(batch).sums) {
      const sum = this.sum(period, keyId);
      sum.requests += requests;
      sum.points += points;
      sum.held += held;
    }
    for (const { period, keyId, points } of returnedOf(batch)) this.sum(period, keyId).held -= points;
    return batch.rates.map(({ keyId, kind, perSecond, capacity, spent }) => {
      const bucket = this.#buckets.get(kind + keyId) ?? { tokens: capacity, atMs: this.nowMs() };
      const filled = bucket.tokens + ((this.nowMs() - bucket.atMs) * perSecond) / 1000;
      const tokens = Math.min(capacity, filled) - spent;
      this.#buckets.set(kind + keyId, { tokens, atMs: this.nowMs() });
      return { keyId, kind, tokens };
    });
  }

  #grant(node: string, order: QuotaOrder, { day, month }: UsageBatch): QuotaGrant {
    const { keyId, held, need } = order;
    const [ofDay, ofMonth] = [this.sum(day, keyId), this.sum(month, keyId)];
    const granted = grantOf(order, { day: ofDay.points + ofDay.held, month: ofMonth.points + ofMonth.held });
    ofDay.held += granted;
    ofMonth.held += granted;
    const holders = this.#holdersOf(keyId);
    const isWanted = holders.get(node)?.isWanted ?? false;
    if (granted < need) for (const [other, holder] of holders) if (other !== node) holder.isWanted = true;
    holders.set(node, { points: held + granted, isWanted: false, atMs: this.nowMs() });
    return { keyId, granted, others: this.#others(node, order), isWanted };
  }

  #grantedBefore(node: string, order: QuotaOrder): QuotaGrant {
    const { keyId, held } = order;
    const points = this.#holdersOf(keyId).get(node)?.points ?? held;
    return { keyId, granted: points - held, others: this.#others(node, order), isWanted: false };
  }

  #others(node: string, { keyId, isShared }: QuotaOrder): number {
    if (!isShared) return 0;
    return [...this.#holdersOf(keyId)]
      .filter(([other, { atMs }]) => other !== node && atMs > this.nowMs() - SILENT_MS)
      .reduce((sum, [, { points }]) => sum + points, 0);
  }

  #holdersOf(keyId: string): Map<string, Holder> {
    let holders = this.#holders.get(keyId);
    if (holders === undefined) {
      holders = new Map();
      this.#holders.set(keyId, holders);
    }
    return holders;
  }
}

// A model of a quota that several processes share: the shipped reservations of src/server/ledger/quota.ts in simulated
// processes, which reserve and settle pieces of any size, lose answers of the store, die, and find the store away, over
// days that end.

export { Quota };

export type QuotaClass = new (
  keyId: string,
  store: QuotaStore,
  period: QuotaPeriod,
  nowMs: () => number,
) => Quota;

export interface Schedule {
  readonly seed: number;
  readonly steps: number;
  /** The store is away now and then; while it is, limits are open or closed. */
  readonly away: 'never' | 'open' | 'closed';
  readonly deaths: boolean;
}

/** The counts of a schedule that held. */
export interface Outcome {
  readonly taken: number;
  readonly waits: number;
  readonly refusals: number;
  readonly deaths: number;
}

/** A rule that did not hold. */
class BrokenRule extends Error {
  override readonly name = 'BrokenRule';
}

const KEY = 'k';
const TICK_MS = 500;

interface Piece {
  readonly reserved: number;
  readonly period: QuotaPeriod;
}

/** Whole numbers below a bound. */
function randomOf(seed: number): (below: number) => number {
  const random = randomFrom(seed);
  return (below) => Math.floor(random() * below);
}

class Process {
  isAway = false;
  tickedMs: number;
  readonly quota: Quota;
  readonly underWay: Piece[] = [];
  period: QuotaPeriod;
  /** Points of each period that this process has used. */
  readonly used = new Map<string, number>();
  #untold = 0;
  #batch: UsageBatch | undefined;
  #batches = 0;

  constructor(
    readonly node: string,
    private readonly world: World,
    Class: QuotaClass,
  ) {
    const isAway = (): boolean => this.isAway;
    const store: QuotaStore = {
      get isAway() {
        return isAway();
      },
      isOpen: world.schedule.away === 'open',
      isShared: true,
      ask: () => {},
    };
    this.period = world.period;
    this.tickedMs = world.nowMs;
    this.quota = new Class(KEY, store, this.period, () => world.nowMs);
    const [day, month] = [world.store.sum(this.period.day, KEY), world.store.sum(this.period.month, KEY)];
    this.quota.start({
      ...NOTHING_USED,
      dayPoints: day.points,
      dayHeld: day.held,
      monthPoints: month.points,
      monthHeld: month.held,
    });
    this.quota.setLimits(world.perDay, world.perMonth);
  }

  take(least: number, most: number): number | NotTaken {
    this.#follow();
    const taken = this.quota.take(least, most);
    if (typeof taken === 'number') this.underWay.push({ reserved: taken, period: this.quota.now });
    return taken;
  }

  settle(at: number, share: number): void {
    const [piece] = this.underWay.splice(at, 1);
    if (piece === undefined) return;
    const used = Math.floor(piece.reserved * share);
    this.quota.settle(piece.reserved, used, piece.period);
    this.#untold += used;
    this.world.settled(this, piece, used);
  }

  tick(): void {
    this.#follow();
    this.tickedMs = this.world.nowMs;
    this.quota.tick();
  }

  /** @param isAnswerLost the store takes the batch, and its answer does not come */
  flush(isAnswerLost: boolean): void {
    if (this.isAway) return;
    this.#batch ??= this.#cut();
    const batch = this.#batch;
    const stored = this.world.store.add(this.node, batch);
    if (isAnswerLost) return;
    this.#batch = undefined;
    const { dayPoints, dayHeld, monthPoints, monthHeld } = stored.used.get(KEY) ?? NOTHING_USED;
    if (batch.day === this.period.day) this.quota.learnTaken(dayPoints + dayHeld, monthPoints + monthHeld);
    for (const grant of stored.grants) this.quota.learnGrant(grant, { day: batch.day, month: batch.month });
  }

  #cut(): UsageBatch {
    const cells = new Float64Array(2 * CELLS);
    cells[cellAt(0, OK) + 1] = this.#untold;
    this.#untold = 0;
    const returns = this.quota.takeReturns();
    const order = this.quota.order();
    return {
      number: ++this.#batches,
      hourMs: 0,
      ...this.period,
      keyIds: [KEY],
      cells,
      covered: [this.quota.takeCovered()],
      rates: [],
      quotas: order === undefined ? [] : [order],
      returns,
      watchedIds: [],
    };
  }

  #follow(): void {
    const { period } = this.world;
    if (period.day === this.period.day) return;
    // The counts of a day that is over are cut off under its name.
    const waiting = this.#batch;
    this.#batch ??= this.#cut();
    if (waiting === undefined && !this.isAway) this.flush(false);
    const monthIsNew = period.month !== this.period.month;
    this.period = period;
    this.quota.startPeriod(period, true, monthIsNew);
  }
}

class World {
  nowMs = 1000;
  readonly store = new UsageInMemory(() => this.nowMs);
  readonly perDay: number;
  readonly perMonth: number | undefined;
  /** Points of each period that are answered. */
  readonly used = new Map<string, number>();
  #day = 1;
  processes: Process[] = [];
  hasDied = 0;

  constructor(
    readonly schedule: Schedule,
    readonly random: (below: number) => number,
  ) {
    this.perDay = 1 + random(random(4) === 0 ? 12 : 600);
    this.perMonth = random(3) === 0 ? 1 + random(900) : undefined;
  }

  get period(): QuotaPeriod {
    const month = `2026-${String(11 + Math.floor((this.#day - 1) / 2)).padStart(2, '0')}`;
    return { day: `${month}-${String(this.#day).padStart(2, '0')}`, month };
  }

  newDay(): void {
    this.#day++;
  }

  settled(process: Process, { period }: Piece, points: number): void {
    for (const name of [period.day, period.month]) {
      this.used.set(name, this.usedOf(name) + points);
      process.used.set(name, (process.used.get(name) ?? 0) + points);
    }
  }

  usedOf(name: string): number {
    return this.used.get(name) ?? 0;
  }

  underWayOf(name: string): number {
    const pieces = this.processes.flatMap(({ underWay }) => underWay);
    return pieces
      .filter(({ period }) => period.day === name || period.month === name)
      .reduce((sum, { reserved }) => sum + reserved, 0);
  }

  /** The quotas of the present day and month. */
  get bounds(): (readonly [name: string, quota: number])[] {
    const { day, month } = this.period;
    const ofMonth = this.perMonth === undefined ? [] : [[month, this.perMonth] as const];
    return [[day, this.perDay] as const, ...ofMonth];
  }

  /** Points that nobody has used, of what is left of the day and the month. */
  get left(): number {
    return Math.min(...this.bounds.map(([name, quota]) => quota - this.usedOf(name)));
  }
}

/**
 * Runs a schedule by the shipped quota, or by one that lacks a line.
 * @throws BrokenRule where processes together use more than the quota, or one is refused what the quota covers
 */
export function runSchedule(schedule: Schedule, Class: QuotaClass = Quota): Outcome {
  const random = randomOf(schedule.seed);
  const world = new World(schedule, random);
  let nodes = 0;
  const born = (): Process => new Process(`node ${++nodes}`, world, Class);
  world.processes = Array.from({ length: 1 + random(4) }, born);
  const counts = { taken: 0, waits: 0, refusals: 0 };
  const fail = (rule: string): never => {
    throw new BrokenRule(`${rule} (${JSON.stringify({ ...schedule, perDay: world.perDay })})`);
  };
  const check = (): void => {
    for (const [name, quota] of world.bounds) {
      const committed = world.usedOf(name) + world.underWayOf(name);
      if (schedule.away !== 'open' && committed > quota)
        fail(`${committed} points of ${quota} are used or under way`);
      for (const { used } of world.processes)
        if ((used.get(name) ?? 0) > quota) fail('a process alone has used more than the quota');
    }
  };
  for (let step = 0; step < schedule.steps; step++) {
    const process = world.processes[random(world.processes.length)]!;
    switch (random(12)) {
      case 0:
      case 1:
      case 2:
      case 3: {
        const least = 1 + random(random(3) === 0 ? 300 : 8);
        const most = random(2) === 0 ? least : least + random(400);
        const taken = process.take(least, most);
        if (typeof taken === 'number') {
          counts.taken++;
          if (taken < least || taken > most) fail(`${taken} points taken of ${least} to ${most}`);
        } else if (taken === 'wait') counts.waits++;
        else counts.refusals++;
        const isCertain = schedule.away === 'never' && world.hasDied === 0;
        if (taken === 'over' && isCertain && least <= world.left)
          fail(`${least} points refused where ${world.left} are not used`);
        check();
        break;
      }
      case 4:
      case 5:
        process.settle(random(process.underWay.length), random(3) === 0 ? random(101) / 100 : 1);
        check();
        break;
      case 6:
      case 7:
      case 8:
        process.flush(random(8) === 0);
        break;
      case 9:
        world.nowMs += random(200);
        for (const each of world.processes) {
          if (world.nowMs - each.tickedMs < TICK_MS) continue;
          each.tick();
          each.flush(false);
        }
        break;
      case 10:
        if (schedule.away !== 'never' && random(4) === 0) process.isAway = !process.isAway;
        break;
      default:
        if (schedule.deaths && random(4) === 0) {
          world.hasDied++;
          world.processes[world.processes.indexOf(process)] = born();
        } else if (random(12) === 0) world.newDay();
    }
  }
  finish(world, fail);
  return { ...counts, deaths: world.hasDied };
}

/** Lets all work end and the store answer: then all that is left can be taken, by any process, to the last point. */
function finish(world: World, fail: (rule: string) => never): void {
  const settleAll = (): void => {
    for (const process of world.processes) while (process.underWay.length > 0) process.settle(0, 1);
  };
  for (const process of world.processes) process.isAway = false;
  settleAll();
  const round = (): void => {
    world.nowMs += TICK_MS;
    for (const process of world.processes) {
      process.tick();
      process.flush(false);
      process.flush(false);
    }
  };
  for (let rounds = 0; rounds < 8; rounds++) round();
  if (world.schedule.away === 'open') return;
  const taken = world.bounds
    .map(([name]) => world.store.sum(name, KEY))
    .map(({ points, held }) => points + held);
  const left = Math.min(...world.bounds.map(([, quota], at) => quota - taken[at]!));
  if (world.hasDied === 0 && left !== world.left)
    fail(`${left} points are left in the store, ${world.left} are not used`);
  const last = world.processes.at(-1)!;
  if (left <= 0) return;
  let outcome = last.take(left, left);
  for (let rounds = 0; outcome === 'wait' && rounds < 20; rounds++) {
    round();
    outcome = last.take(left, left);
  }
  if (outcome !== left) fail(`the last ${left} points were not let in: ${outcome}`);
  settleAll();
  for (const [name, quota] of world.bounds)
    if (world.usedOf(name) > quota) fail(`${world.usedOf(name)} points of ${quota} were used`);
}
