// The meters of all keys that have sent a request, with the limits that the settings give to keys without their own. It is what
// the flusher of usage reads from.

import type { KeyLimits } from '../../keys/key-limits.js';
import type { KeyInfo } from '../../keys/key-record.js';
import type { Stored, StoredUse, UsageBatch, UsedByKey, UsedByKeys } from '../../usage/batch.js';
import { Calendar } from '../../usage/calendar.js';
import type { UsageSource } from '../../usage/flusher.js';
import { CELLS } from '../../usage/operations.js';
import { KeyMeter, type MeterContext } from './key-meter.js';
import type { SharedBucket, Sharing } from './shared-bucket.js';
import { TokenBucket } from './token-bucket.js';

export interface MetersOptions {
  /** For keys that have no such limit of their own. */
  readonly defaults: KeyLimits;
  /** Points of a second of the process; 0: no ceiling. */
  readonly pointsPerSecond: number;
  /** Of days and months. */
  readonly zone: string;
  /** Undefined: no other process has the same limits. */
  readonly sharing?: Sharing | undefined;
  readonly nowMs?: () => number;
  readonly wallMs?: () => number;
}

const DAY_MS = 24 * 3_600_000;

export class Meters implements UsageSource {
  readonly calendar: Calendar;
  readonly #meters = new Map<string, KeyMeter>();
  /** Those that have counted something since their cells were taken. */
  #dirty: KeyMeter[] = [];
  /** Of which the store is to be asked once. */
  readonly #asked = new Set<KeyMeter>();
  /** Shared buckets that have something to tell the store. */
  #spent: SharedBucket[] = [];
  /** Of keys that have sent no request yet. */
  #stored: Map<string, UsedByKey> = new Map();
  readonly #context: MeterContext;
  readonly #defaults: KeyLimits;
  #hourMs: number;
  /** Ends the batch of the counts so far. */
  #cut: () => void = () => {};

  constructor(options: MetersOptions) {
    const nowMs = options.nowMs ?? (() => performance.now());
    const wallMs = options.wallMs ?? Date.now;
    this.#defaults = options.defaults;
    this.calendar = new Calendar(options.zone, wallMs(), (dayIsNew, monthIsNew) =>
      this.#startPeriod(dayIsNew, monthIsNew),
    );
    const { pointsPerSecond } = options;
    this.#context = {
      calendar: this.calendar,
      ceiling: pointsPerSecond > 0 ? new TokenBucket(pointsPerSecond, pointsPerSecond, nowMs()) : undefined,
      nowMs,
      wallMs,
      dirty: (meter) => this.#dirty.push(meter),
      sharing: options.sharing,
      spent: (bucket) => this.#spent.push(bucket),
    };
    this.#hourMs = this.calendar.hourAt(wallMs());
  }

  /** The meter of a key, with the limits that the key has now. */
  of(key: KeyInfo): KeyMeter {
    const meter = this.#meters.get(key.id);
    if (meter !== undefined && meter.key === key) return meter;
    const limits = this.#limitsOf(key);
    if (meter !== undefined) {
      meter.setLimits(key, limits);
      return meter;
    }
    const made = new KeyMeter(key, limits, this.#stored.get(key.id), this.#context);
    this.#stored.delete(key.id);
    this.#meters.set(key.id, made);
    return made;
  }

  /**
   * Takes in limits that have changed, for streams and bodies that are under way.
   * @param current the key as it is now; undefined where it may no longer be used
   */
  refresh(current: (before: KeyInfo) => KeyInfo | undefined): void {
    for (const { key } of this.#meters.values()) this.of(current(key) ?? key);
  }

  /**
   * Goes on with the day of the store where that is tomorrow: then the clock has been set back, and a day that has begun goes on.
   * @returns whether the day is now another
   */
  followStore({ latestDay }: StoredUse): boolean {
    const laterMs = this.#context.wallMs() + DAY_MS;
    if (this.calendar.periodsAt(laterMs).day.name !== latestDay) return false;
    this.calendar.follow(laterMs);
    return true;
  }

  /** Goes on with what keys have used in the present day and month, before the first request. */
  resume(used: UsedByKeys = new Map()): void {
    this.#stored = new Map(used);
  }

  /** The next batch asks for what all processes have used of the key. */
  watch(meter: KeyMeter): void {
    this.#asked.add(meter);
  }

  /** @param cut ends the batch of the counts so far */
  onCut(cut: () => void): void {
    this.#cut = cut;
  }

  tick(): void {
    const wallMs = this.#context.wallMs();
    this.calendar.follow(wallMs);
    const hourMs = this.calendar.hourAt(wallMs);
    if (hourMs !== this.#hourMs) this.#cut();
    this.#hourMs = hourMs;
  }

  take(number: number): UsageBatch | undefined {
    // Of keys with quotas the process has to know what others have used, also while they send nothing here.
    const isWatched = (meter: KeyMeter): boolean =>
      (meter.hasQuota || this.#asked.has(meter)) && !meter.use.isDirty;
    const watched = this.#context.sharing === undefined ? [] : [...this.#meters.values()].filter(isWatched);
    this.#asked.clear();
    const dirty = this.#dirty;
    const rates = this.#spent.map((bucket) => bucket.tell()).filter((rate) => rate !== undefined);
    this.#dirty = [];
    this.#spent = [];
    if (dirty.length === 0 && rates.length === 0 && watched.length === 0) return undefined;
    const cells = new Float64Array(2 * CELLS * dirty.length);
    for (const [index, meter] of dirty.entries())
      meter.use.takeCells(cells.subarray(2 * CELLS * index, 2 * CELLS * (index + 1)));
    const { day, month } = this.calendar.periods;
    return {
      number,
      hourMs: this.#hourMs,
      day: day.name,
      month: month.name,
      keyIds: dirty.map(({ key }) => key.id),
      cells,
      rates,
      watchedIds: watched.map(({ key }) => key.id),
    };
  }

  learn({ day, month, rates }: UsageBatch, stored: Stored, isLatest: boolean): void {
    const levels = new Map(stored.rates.map(({ keyId, kind, tokens }) => [`${kind} ${keyId}`, tokens]));
    for (const { keyId, kind, spent } of rates)
      this.#meters.get(keyId)?.settleRate(kind, spent, levels.get(`${kind} ${keyId}`));
    const { periods } = this.calendar;
    if (!isLatest || periods.day.name !== day || periods.month.name !== month) return;
    for (const [keyId, sums] of stored.used) this.#meters.get(keyId)?.use.learn(sums);
  }

  #startPeriod(dayIsNew: boolean, monthIsNew: boolean): void {
    this.#cut();
    for (const { use } of this.#meters.values()) use.startPeriod(dayIsNew, monthIsNew);
    const used = [...this.#stored].map(([keyId, sums]): [string, UsedByKey] => [
      keyId,
      {
        ...sums,
        ...(dayIsNew ? { dayRequests: 0, dayPoints: 0 } : {}),
        ...(monthIsNew ? { monthRequests: 0, monthPoints: 0 } : {}),
      },
    ]);
    this.#stored = new Map(used);
  }

  #limitsOf({ limits }: KeyInfo): KeyLimits {
    return { ...this.#defaults, ...definedOf(limits) };
  }
}

/** Without members that are undefined, which would hide a default. */
function definedOf(limits: KeyLimits): KeyLimits {
  return Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== undefined));
}
