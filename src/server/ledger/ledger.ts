// The ledgers of all keys that have sent a request, with the default limits of the settings, and the entries of
// requests in them. The flusher of usage reads from it.
import { definedOf } from '../../config/setting.js';
import type { KeyInfo, KeyLimits } from '../keys/key-record.js';
import { PointCounts } from '../observe/metrics/request-counts.js';
import {
  CELLS,
  restarted,
  type Stored,
  type StoredUse,
  type UsageBatch,
  type UsedByKey,
  type UsedByKeys,
} from '../usage/batch.js';
import { Calendar, type Periods } from '../usage/calendar.js';
import type { UsageSource } from '../usage/flusher.js';
import { KeyLedger, type KeyLedgerContext } from './key-ledger.js';
import type { Quota, QuotaPeriod } from './quota.js';
import { type LimitRefusal, type SharedBucket, type Sharing, TokenBucket, type WAIT } from './rates.js';

/**
 * One request, or one stream, in the ledger of its key. It is opened when the key is admitted; points are admitted
 * before their work and settled after it. Quota, rates, usage, metrics and the log read it.
 */
export class Entry {
  /** Points or codes that are converted, and those among them that failed. */
  points = 0;
  failedPoints = 0;
  /** The request is refused over a limit, whatever the status of its answer. */
  isOverLimit = false;
  /** Points that are admitted and not settled, of keys with limits. */
  #reserved = 0;
  /** When points were admitted last. */
  #period: QuotaPeriod | undefined;
  /** Pieces of work that may return points. */
  #uncertain = 0;

  /** @param operation an index in the OPERATIONS of usage */
  constructor(
    readonly key: KeyLedger,
    readonly operation: number,
    private readonly counts: PointCounts,
  ) {}

  /** Nothing is refused to the key. */
  get isFree(): boolean {
    return this.key.isFree;
  }

  /**
   * Reserves points for work, which `done` settles: `most` or, where the quota is scarce or the rates admit fewer now,
   * some of them, at least `least`. WAIT: `whenTaken` resolves.
   * @returns how many; of a free key all
   */
  take(least: number, most = least): number | LimitRefusal | typeof WAIT {
    return this.key.isFree ? most : this.#noted(this.key.take(least, most));
  }

  /** Resolves once points are reserved or refused; work within the limits is never refused. */
  async whenTaken(least: number, most = least): Promise<number | LimitRefusal> {
    return this.#noted(await this.key.whenTaken(least, most));
  }

  /**
   * Reserves points as `take` does.
   * @returns undefined where they are reserved
   */
  admit(count: number): LimitRefusal | typeof WAIT | undefined {
    const outcome = this.take(count);
    return typeof outcome === 'number' ? undefined : outcome;
  }

  async whenAdmitted(count: number): Promise<LimitRefusal | undefined> {
    const outcome = await this.whenTaken(count);
    return typeof outcome === 'number' ? undefined : outcome;
  }

  /**
   * Reserves points for work of which only a bound is known. If fewer are left, fewer are reserved, at least one: the
   * work is then told how many, counts first, and comes again with its count if that is higher.
   * @returns how many: to be settled by `doneWithin`
   */
  admitUpTo(bound: number): number | LimitRefusal | typeof WAIT {
    if (this.key.isFree) return bound;
    return this.#notedUpTo(this.key.take(1, bound));
  }

  async whenAdmittedUpTo(bound: number): Promise<number | LimitRefusal> {
    return this.#notedUpTo(await this.key.whenTaken(1, bound));
  }

  /** The day and the month that points were admitted in last; undefined for a key without quotas. */
  get period(): QuotaPeriod | undefined {
    return this.#period;
  }

  /**
   * Counts converted points, and returns unneeded ones of `reserved`.
   * @param period of the admission, if other pieces of work of this entry were admitted since
   */
  done(ok: number, failed: number, reserved = ok + failed, period = this.#period): void {
    this.points += ok + failed;
    this.failedPoints += failed;
    // Where limits were set meanwhile, nothing was reserved.
    const settled = Math.min(reserved, this.#reserved);
    this.#reserved -= settled;
    this.key.done(this.operation, settled, ok, failed, period);
    this.counts.add(this.key.counts, this.operation, ok, failed);
  }

  /** Counts points that were reserved by a bound, and returns the rest. */
  doneWithin(reserved: number, ok: number, failed: number): void {
    if (this.#uncertain > 0) {
      this.#uncertain--;
      this.key.rates.countUncertain(-1);
    }
    this.done(ok, failed, reserved);
  }

  /** Counts points that are refused. */
  refuse(points: number): void {
    this.key.use.refuse(this.operation, points);
  }

  /** Counts the request; to be called when its status line is about to be written. */
  end(httpStatus: number): void {
    this.key.use.answered(this.operation, httpStatus, this.isOverLimit);
  }

  /** Counts the request for the metrics, when it is over. */
  isOver(nowMs: number): void {
    const { counts } = this.key;
    counts.requests++;
    counts.lastMs = nowMs;
  }

  #noted<T extends number | LimitRefusal | typeof WAIT>(outcome: T): T {
    if (typeof outcome === 'number') {
      this.#reserved += outcome;
      this.#period = this.key.quota?.now;
    }
    return outcome;
  }

  #notedUpTo<T extends number | LimitRefusal | typeof WAIT>(outcome: T): T {
    if (typeof outcome !== 'number') return outcome;
    this.#uncertain++;
    this.key.rates.countUncertain(1);
    return this.#noted(outcome);
  }
}

/** The store of usage, as far as limits need it. */
export interface LedgerStore {
  /** Whether the store does not answer at the moment. */
  readonly isAway: boolean;
  /** The store takes long to answer. */
  readonly isSlow: boolean;
  /** Sends the batch of the counts so far soon; `isUrgent`: at once, because a request waits. */
  hurry(isUrgent?: boolean): void;
}

export interface LedgerOptions {
  /** Limits of keys that have none of their own. */
  readonly defaults: KeyLimits;
  /** Points of a second of the process; 0: no ceiling. */
  readonly pointsPerSecond: number;
  /** Time zone of days and months. */
  readonly zone: string;
  readonly store: LedgerStore;
  /** While the store is away, limits apply to each process alone; otherwise only points already held are admitted. */
  readonly isOpen: boolean;
  /**
   * A lease is the part of a rate for this time, which a process may use before the store knows; undefined: it is
   * alone.
   */
  readonly leaseMs?: number | undefined;
  /** Counts for the metrics. */
  readonly counts?: PointCounts;
  readonly nowMs?: () => number;
  readonly wallMs?: () => number;
}

const DAY_MS = 24 * 3_600_000;
/** Keys of a batch: making it and processing its answer holds up the event loop for a millisecond or two. */
const BATCH_KEYS = 1000;

export class Ledger implements UsageSource {
  readonly calendar: Calendar;
  readonly #keys = new Map<string, KeyLedger>();
  /** Ledgers that have counted something since their cells were taken. */
  #dirty: KeyLedger[] = [];
  /** Ledgers whose counts are in the current flush. */
  #flushing: KeyLedger[] = [];
  /** Ledgers about which the store is to be asked once. */
  readonly #asked = new Set<KeyLedger>();
  /** Shared buckets with use that the store does not know. */
  #spent: SharedBucket[] = [];
  /** Quotas with points to request or to return. */
  #asking = new Set<Quota>();
  /** Quotas that may hold points. */
  readonly #holding = new Set<Quota>();
  /** Stored use of keys that have sent no request yet. */
  #stored = new Map<string, UsedByKey>();
  readonly #context: KeyLedgerContext;
  readonly #defaults: KeyLimits;
  readonly #counts: PointCounts;
  #hourMs: number;
  /** Ends the batch of the counts so far. */
  #cut: () => void = () => {};

  constructor(options: LedgerOptions) {
    const nowMs = options.nowMs ?? (() => performance.now());
    const wallMs = options.wallMs ?? Date.now;
    const { store, isOpen, leaseMs, pointsPerSecond } = options;
    this.#defaults = options.defaults;
    this.#counts = options.counts ?? new PointCounts();
    this.calendar = new Calendar(options.zone, wallMs(), (...change) => this.#startPeriod(...change));
    const sharing: Sharing | undefined =
      leaseMs === undefined
        ? undefined
        : {
            leaseMs,
            mustSettle: () => !isOpen || !store.isSlow,
            isAway: () => store.isSlow,
            hurry: () => store.hurry(),
          };
    this.#context = {
      calendar: this.calendar,
      ceiling: pointsPerSecond > 0 ? new TokenBucket(pointsPerSecond, pointsPerSecond, nowMs()) : undefined,
      nowMs,
      wallMs,
      dirty: (ledger) => this.#dirty.push(ledger),
      sharing,
      spent: (bucket) => this.#spent.push(bucket),
      store: {
        get isAway() {
          return store.isAway;
        },
        isOpen,
        isShared: sharing !== undefined,
        ask: (quota, isUrgent) => {
          this.#asking.add(quota);
          store.hurry(isUrgent);
        },
      },
    };
    this.#hourMs = this.calendar.hourAt(wallMs());
  }

  /** The ledger of a key, with the limits that the key has now. */
  of(key: KeyInfo): KeyLedger {
    const ledger = this.#keys.get(key.id);
    if (ledger !== undefined && ledger.key === key) return ledger;
    const limits = { ...this.#defaults, ...definedOf(key.limits) };
    if (ledger !== undefined) {
      ledger.setLimits(key, limits);
      return ledger;
    }
    const counts = this.#counts.of(key.id);
    const made = new KeyLedger(key, limits, this.#stored.get(key.id), counts, this.#context);
    this.#stored.delete(key.id);
    this.#keys.set(key.id, made);
    return made;
  }

  /** An entry for a request or a stream of a key. `operation`: an index in the OPERATIONS of usage. */
  open(key: KeyInfo, operation: number): Entry {
    return new Entry(this.of(key), operation, this.#counts);
  }

  /**
   * Applies changed limits to streams and bodies under way.
   * @param ids of keys that may have changed
   * @param current the key as it is now; undefined where it may no longer be used
   */
  refresh(ids: Iterable<string>, current: (before: KeyInfo) => KeyInfo | undefined): void {
    for (const id of ids) {
      const key = this.#keys.get(id)?.key;
      if (key !== undefined) this.of(current(key) ?? key);
    }
  }

  /**
   * Continues with the day of the store where that is tomorrow: then the clock has been set back, and a day that has
   * begun continues.
   * @returns whether the day is now another
   */
  followStore({ latestDay }: StoredUse): boolean {
    const laterMs = this.#context.wallMs() + DAY_MS;
    if (this.calendar.periodsAt(laterMs).day.name !== latestDay) return false;
    this.calendar.follow(laterMs);
    return true;
  }

  /** Starts with the use of keys in the current day and month, before the first request. */
  resume(used: UsedByKeys = new Map()): void {
    this.#stored = new Map(used);
  }

  /** The next batch asks for the use of the key by all processes. */
  watch(ledger: KeyLedger): void {
    this.#asked.add(ledger);
  }

  /** @param cut ends the batch of the counts so far */
  onCut(cut: () => void): void {
    this.#cut = cut;
  }

  /** Called at even intervals: quotas return points they do not need. */
  giveBackIdle(): void {
    for (const quota of this.#holding) {
      if (quota.isActive) quota.tick();
      else this.#holding.delete(quota);
    }
  }

  /** Returns all points that are not under way, at a stop. */
  giveAllBack(): void {
    for (const quota of this.#holding) quota.giveAllBack();
  }

  tick(): void {
    const wallMs = this.#context.wallMs();
    this.calendar.follow(wallMs);
    const hourMs = this.calendar.hourAt(wallMs);
    if (hourMs !== this.#hourMs) this.#cut();
    this.#hourMs = hourMs;
  }

  get hasCounts(): boolean {
    return this.#flushing.length + this.#dirty.length > 0;
  }

  get isFlushing(): boolean {
    return this.#flushing.length > 0;
  }

  take(number: number, isCut = false): UsageBatch | undefined {
    if (this.#flushing.length === 0) {
      this.#flushing = this.#dirty;
      this.#dirty = [];
    }
    const dirty = this.#flushing.splice(-BATCH_KEYS);
    // The answer to a batch that is followed by another is out of date.
    if (isCut && this.hasCounts) return this.#batchOf(number, dirty);
    const watched = this.isFlushing ? [] : this.#takeWatched();
    const rates = this.#spent.map((bucket) => bucket.tell()).filter((rate) => rate !== undefined);
    const asking = [...this.#asking];
    const returns = asking.flatMap((quota) => quota.takeReturns());
    const quotas = asking.map((quota) => quota.order()).filter((order) => order !== undefined);
    this.#spent = [];
    this.#asking = new Set();
    const isEmpty = dirty.length + rates.length + watched.length + returns.length + quotas.length === 0;
    if (isEmpty) return undefined;
    const watchedIds = watched.map(({ key }) => key.id);
    return { ...this.#batchOf(number, dirty), rates, quotas, returns, watchedIds };
  }

  /** The counts of some keys. */
  #batchOf(number: number, dirty: readonly KeyLedger[]): UsageBatch {
    const cells = new Float64Array(2 * CELLS * dirty.length);
    for (const [index, ledger] of dirty.entries())
      ledger.use.takeCells(cells.subarray(2 * CELLS * index, 2 * CELLS * (index + 1)));
    const { day, month } = this.calendar.periods;
    return {
      number,
      hourMs: this.#hourMs,
      day: day.name,
      month: month.name,
      keyIds: dirty.map(({ key }) => key.id),
      cells,
      covered: dirty.map(({ quota }) => quota?.takeCovered() ?? 0),
      rates: [],
      quotas: [],
      returns: [],
      watchedIds: [],
    };
  }

  learn({ day, month, rates }: UsageBatch, stored: Stored, isLatest: boolean): void {
    const levels = new Map(stored.rates.map(({ keyId, kind, tokens }) => [`${kind} ${keyId}`, tokens]));
    for (const { keyId, kind, spent } of rates)
      this.#keys.get(keyId)?.rates.settle(kind, spent, levels.get(`${kind} ${keyId}`));
    const { periods } = this.calendar;
    const isNow = isLatest && periods.day.name === day && periods.month.name === month;
    if (isNow) for (const [keyId, sums] of stored.used) this.#keys.get(keyId)?.learn(sums);
    for (const grant of stored.grants) {
      const quota = this.#keys.get(grant.keyId)?.quota;
      if (quota === undefined) continue;
      quota.learnGrant(grant, { day, month }, isNow);
      if (grant.granted > 0) this.#holding.add(quota);
    }
    for (const keyId of new Set([...rates, ...stored.grants].map((each) => each.keyId)))
      this.#keys.get(keyId)?.pump();
  }

  /** The process must know the use by others of keys with quotas, even while they send nothing here. */
  #takeWatched(): KeyLedger[] {
    const isWatched = (ledger: KeyLedger): boolean =>
      this.#asked.has(ledger) || (ledger.hasQuota && !ledger.use.isDirty);
    const watched = this.#context.sharing === undefined ? [] : [...this.#keys.values()].filter(isWatched);
    this.#asked.clear();
    return watched;
  }

  #startPeriod(dayIsNew: boolean, monthIsNew: boolean, { day, month }: Periods): void {
    this.#cut();
    for (const ledger of this.#keys.values())
      ledger.startPeriod(dayIsNew, monthIsNew, { day: day.name, month: month.name });
    for (const [keyId, used] of this.#stored) this.#stored.set(keyId, restarted(used, dayIsNew, monthIsNew));
  }
}
