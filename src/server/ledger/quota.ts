// The quota of one key in this process. Points are asked of the store before they are used, and the store counts them
// as taken from then on: so all processes together never use more than the quota, and a process that is killed cannot
// give its points again. This file has no clock, timer or socket of its own: test/property/server drives it through
// millions of schedules.
//
// A point is counted by one field at a time. The fields, and what moves a point from one to the next:
//
//   from                     to                       by
//   (the store)              free                     learnGrant
//   free                     reserved                 take
//   free                     returns                  tick, giveAllBack, startPeriod
//   reserved                 covered                  settle: it is used
//   reserved                 free                     settle: it is not used
//   reserved                 formerReserved           startPeriod
//   formerReserved           covered, returns         settle: it is used, it is not used
//   covered                  (the store)              takeCovered
//   returns, returning       returningTold            takeReturns
//   returningTold            (the store)              learnTaken
//
// While the store is away, points are taken that no grant covers:
//
//   (none)                   uncoveredReserved        take
//   uncoveredReserved        reserved                 a grant pays it: learnGrant
//   uncoveredReserved        uncovered, (none)        settle: it is used, it is not used
//   uncoveredReserved        formerUncoveredReserved  startPeriod
//   formerUncoveredReserved  uncovered, (none)        settle: it is used, it is not used
//   uncovered                covered                  a grant pays it: learnGrant, settle
//   uncovered                uncoveredTold            takeCovered
//   uncoveredTold            (the store)              learnTaken
import type { QuotaGrant, QuotaOrder, QuotaReturn, UsedByKey } from '../usage/batch.js';

/** The store, for a quota. */
export interface QuotaStore {
  /** The store does not answer just now. */
  readonly isAway: boolean;
  /** While it is away, points are used as if this process were alone; otherwise only those that it holds. */
  readonly isOpen: boolean;
  /** Other processes may use the same keys. */
  readonly isShared: boolean;
  /** Puts the order of this quota into the next batch. `isUrgent`: a request waits for it. */
  ask(quota: Quota, isUrgent: boolean): void;
}

/** The day and the month that points are taken from. */
export interface QuotaPeriod {
  readonly day: string;
  readonly month: string;
}

/** Why no points were taken. */
export type NotTaken =
  /** Points may still come: from the store, from work under way, or from other processes. */
  | 'wait'
  /** Not before another day or month. */
  | 'over'
  /** The store is away, and what this process holds is used up. */
  | 'away';

/** Value before the first answer, when the use by others is unknown. */
const UNKNOWN = Number.POSITIVE_INFINITY;
/** Time after which a scarce quota is requested again. */
const POLL_MS = 40;
/** Smallest request. */
const MIN_LEASE = 64;

export class Quota {
  /** Held, and free to be reserved. */
  #free = 0;
  /** Points held and under way. */
  #reserved = 0;
  /** Points held and under way since the day before. */
  #formerReserved = 0;
  #now: QuotaPeriod;
  /** Used points that were held, since the last batch. */
  #covered = 0;
  /** Points under way, used, and told without being held: while the store was away. */
  #uncoveredReserved = 0;
  #formerUncoveredReserved = 0;
  #uncovered = 0;
  #uncoveredTold = 0;
  #returns: QuotaReturn[] = [];
  /** Points of #returns in this period; below, points that the store was told of and has not acknowledged. */
  #returning = 0;
  #returningTold = 0;
  #perDay: number | undefined;
  #perMonth: number | undefined;
  /** Points taken by all processes, by the last answer of the store. */
  #takenOfDay = 0;
  #takenOfMonth = 0;
  /** Points held by other processes, by the last answer of the store. */
  #others = UNKNOWN;
  #isWanted = false;
  /** Whether the store gave less than was wanted. */
  #isScarce = false;
  #answeredMs = Number.NEGATIVE_INFINITY;
  #isAsking = false;
  #need = 0;
  #want = 0;
  #asked = 0;
  /** Taken since the last `tick`, and in the one before. */
  #takenNow = 0;
  #takenBefore = 0;

  constructor(
    private readonly keyId: string,
    private readonly store: QuotaStore,
    period: QuotaPeriod,
    private readonly nowMs: () => number,
  ) {
    this.#now = period;
  }

  /** Takes other quotas, undefined where there is none. */
  setLimits(perDay: number | undefined, perMonth: number | undefined): void {
    if (perDay === this.#perDay && perMonth === this.#perMonth) return;
    this.#perDay = perDay;
    this.#perMonth = perMonth;
    // Points that a larger quota has granted.
    this.giveAllBack();
    this.#forgetAnswer();
  }

  /**
   * Reserves points, to be settled later.
   * @param least smallest useful number
   * @param most largest useful number; fewer are taken where the quota is scarce
   * @returns the number, or why none
   */
  take(least: number, most: number): number | NotTaken {
    const free = this.#spendable;
    if (free < most && this.store.isAway) return this.#takeAlone(least, most);
    if (free >= most) return this.#reserve(most);
    if (free >= least && this.#isScarce) return this.#reserve(free);
    if (this.bound < least) return 'over';
    const mayComeAtOnce = this.#left >= least - this.#free;
    if (mayComeAtOnce || this.nowMs() - this.#answeredMs >= POLL_MS) this.#ask(least, most);
    return 'wait';
  }

  /**
   * Settles reserved points: `used` of them are used, the others are free again.
   * @param period `now` when they were reserved
   */
  settle(reserved: number, used: number, period = this.#now): void {
    const isFormer = period !== this.#now;
    const alone = Math.min(reserved, isFormer ? this.#formerUncoveredReserved : this.#uncoveredReserved);
    const usedAlone = Math.min(used, alone);
    if (isFormer) this.#formerUncoveredReserved -= alone;
    else this.#uncoveredReserved -= alone;
    const held = Math.min(reserved - alone, isFormer ? this.#formerReserved : this.#reserved);
    const usedOfHeld = Math.min(used - usedAlone, held);
    if (isFormer) {
      this.#formerReserved -= held;
      this.#giveBack(period, held - usedOfHeld);
    } else {
      this.#reserved -= held;
      this.#free += held - usedOfHeld;
    }
    this.#covered += usedOfHeld;
    // The rest was not reserved: the quota was set while the points were under way, or the store was away.
    this.#uncovered += used - usedOfHeld;
    if (this.#uncovered > 0) this.#payDebts();
  }

  /** The current day and month of points; another object in another period. */
  get now(): QuotaPeriod {
    return this.#now;
  }

  /** Points left of the day and the month for this process, as far as it knows. Less than 0 where more were used. */
  get leftOfDay(): number {
    return this.#leftOf(this.#perDay, this.#takenOfDay) + this.#free;
  }

  get leftOfMonth(): number {
    return this.#leftOf(this.#perMonth, this.#takenOfMonth + this.#formerUncoveredReserved) + this.#free;
  }

  /** Nothing can be taken before another day or month. */
  get isOver(): boolean {
    return this.bound < 1;
  }

  /** The most that can still be granted in this period; it grows only with the quota. */
  get bound(): number {
    const own = this.#held + this.#uncoveredReserved;
    return this.#left + this.#others + own + this.#returning + this.#returningTold;
  }

  /** Learns what was stored when the process started. */
  start({ dayPoints, dayHeld, monthPoints, monthHeld }: UsedByKey): void {
    this.#takenOfDay = dayPoints + dayHeld;
    this.#takenOfMonth = monthPoints + monthHeld;
    this.#others = Math.max(dayHeld, monthHeld);
  }

  /** Whether the quota holds points, or has something to tell the store. */
  get isActive(): boolean {
    const taken = this.#takenNow + this.#takenBefore;
    return this.#held + this.#returns.length + taken > 0;
  }

  /**
   * Called at even intervals: returns points that are not needed, and points that others want. Tells the store that
   * this process lives.
   */
  tick(): void {
    const isIdle = this.#takenNow === 0;
    this.#takenBefore = this.#takenNow;
    this.#takenNow = 0;
    const kept = this.#isWanted || isIdle ? 0 : 2 * this.#lease;
    this.#isWanted = false;
    if (this.#free > kept) {
      this.#giveBack(this.#now, this.#free - kept);
      this.#free = kept;
    }
    if (this.#returns.length > 0 || (this.store.isShared && this.#held > 0)) this.store.ask(this, false);
  }

  /** Returns all points that are not under way, at a stop. */
  giveAllBack(): void {
    this.#giveBack(this.#now, this.#free);
    this.#free = 0;
  }

  /** Another day or month begins. The points of the one before go back to it. */
  startPeriod(period: QuotaPeriod, dayIsNew: boolean, monthIsNew: boolean): void {
    this.giveAllBack();
    this.#formerReserved += this.#reserved;
    this.#reserved = 0;
    this.#formerUncoveredReserved += this.#uncoveredReserved;
    this.#uncoveredReserved = 0;
    this.#now = period;
    if (dayIsNew) this.#takenOfDay = 0;
    if (monthIsNew) this.#takenOfMonth = 0;
    this.#forgetAnswer();
  }

  /** Used points of those that were held since the last call, at most as many as were used in all. */
  takeCovered(): number {
    const covered = this.#covered;
    this.#covered = 0;
    this.#uncoveredTold += this.#uncovered;
    this.#uncovered = 0;
    return covered;
  }

  takeReturns(): readonly QuotaReturn[] {
    const returns = this.#returns;
    this.#returns = [];
    this.#returningTold += this.#returning;
    this.#returning = 0;
    return returns;
  }

  /** The order for the next batch, after `takeReturns`; undefined where one is under way already. */
  order(): QuotaOrder | undefined {
    if (this.#isAsking) return undefined;
    this.#isAsking = true;
    const need = Math.max(0, this.#need - this.#free);
    const want = Math.max(need, this.#want - this.#free, 0);
    this.#asked = want;
    this.#need = 0;
    this.#want = 0;
    return {
      keyId: this.keyId,
      perDay: this.#perDay,
      perMonth: this.#perMonth,
      held: this.#held,
      need,
      want,
      isShared: this.store.isShared,
    };
  }

  /**
   * Learns the answer of the store to an order of that period.
   * @param isLatest `learnTaken` has had the same answer
   */
  learnGrant({ granted, others, isWanted }: QuotaGrant, period: QuotaPeriod, isLatest = true): void {
    this.#isAsking = false;
    if (period.day !== this.#now.day || period.month !== this.#now.month) {
      this.#giveBack(period, granted);
      return;
    }
    this.#free += granted;
    this.#payDebts();
    this.#others = isLatest ? others : UNKNOWN;
    this.#isWanted ||= isWanted;
    this.#isScarce = granted < this.#asked;
    this.#answeredMs = this.nowMs();
    if (this.#need > 0 || this.#want > 0) this.store.ask(this, this.#need > 0);
  }

  /** Learns how many points of the day and the month are used or held by any process. */
  learnTaken(ofDay: number, ofMonth: number): void {
    // Others may hold these points.
    if (ofDay > this.#takenOfDay || ofMonth > this.#takenOfMonth) this.#others = UNKNOWN;
    this.#takenOfDay = ofDay;
    this.#takenOfMonth = ofMonth;
    this.#uncoveredTold = 0;
    this.#returningTold = 0;
  }

  /** Left in the store, as far as this process knows. */
  get #left(): number {
    return Math.min(
      this.#leftOf(this.#perDay, this.#takenOfDay),
      this.#leftOf(this.#perMonth, this.#takenOfMonth + this.#formerUncoveredReserved),
    );
  }

  /**
   * Points held, and neither under way nor owed to the month: the store grants without knowing of points taken while
   * it was away.
   */
  get #spendable(): number {
    if (this.#formerUncoveredReserved === 0) return this.#free;
    return Math.max(0, Math.min(this.#free, this.leftOfMonth));
  }

  /** Points of an earlier day go back to its month. */
  get #held(): number {
    return this.#free + this.#reserved + this.#formerReserved;
  }

  /** Twice the points that the key uses in an interval of `tick`. */
  get #lease(): number {
    return Math.max(MIN_LEASE, 2 * Math.max(this.#takenNow, this.#takenBefore));
  }

  #leftOf(quota: number | undefined, taken: number): number {
    if (quota === undefined) return Number.POSITIVE_INFINITY;
    return quota - taken - this.#uncovered - this.#uncoveredTold - this.#uncoveredReserved;
  }

  #reserve(points: number): number {
    this.#free -= points;
    this.#reserved += points;
    this.#takenNow += points;
    // Requested before it is used up, so that no request waits.
    const isDue = !this.#isScarce || this.nowMs() - this.#answeredMs >= POLL_MS;
    if (2 * this.#free < this.#lease && isDue) this.#ask(0, this.#lease);
    return points;
  }

  /** Without the store: the number left at its last answer, as if this process were alone. */
  #takeAlone(least: number, most: number): number | NotTaken {
    const { isOpen } = this.store;
    const free = this.#spendable;
    const left = isOpen ? Math.max(free, Math.min(this.leftOfDay, this.leftOfMonth)) : free;
    const points = Math.min(most, left);
    if (points < least) {
      if (left + this.#reserved + this.#uncoveredReserved >= least) return 'wait';
      return isOpen ? 'over' : 'away';
    }
    const held = Math.min(points, this.#free);
    this.#free -= held;
    this.#reserved += held;
    this.#uncoveredReserved += points - held;
    this.#takenNow += points;
    return points;
  }

  /** Points used or reserved while the store was away are taken first from those that it grants. */
  #payDebts(): void {
    const used = Math.min(this.#free, this.#uncovered);
    this.#uncovered -= used;
    this.#covered += used;
    const underWay = Math.min(this.#free - used, this.#uncoveredReserved);
    this.#uncoveredReserved -= underWay;
    this.#reserved += underWay;
    this.#free -= used + underWay;
  }

  #ask(need: number, want: number): void {
    this.#need = Math.max(this.#need, need);
    this.#want = Math.max(this.#want, want, this.#lease);
    if (!this.#isAsking) this.store.ask(this, need > 0);
  }

  #giveBack(period: QuotaPeriod, points: number): void {
    if (points <= 0) return;
    const { day, month } = period;
    this.#returns.push({ keyId: this.keyId, day, month, points });
    if (month === this.#now.month) this.#returning += points;
    this.store.ask(this, false);
  }

  #forgetAnswer(): void {
    this.#others = UNKNOWN;
    this.#isScarce = false;
    this.#answeredMs = Number.NEGATIVE_INFINITY;
  }
}
