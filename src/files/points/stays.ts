// Positions in time to stays: while a vehicle is in one cell it is one stay, whatever the number of positions. Only
// the current stay of each vehicle is held.

/** A position of a vehicle; `cell` 0n outside. */
export interface TrackPoint {
  readonly id: string;
  readonly timeMs: number;
  /** H3 index. */
  readonly cell: bigint;
  /** Province of the position, its index in ADMIN_UNITS. */
  readonly admin: number;
}

/** Why a stay began: the first of its vehicle, another province than the previous stay, or another cell or a gap. */
export type StayEvent = 'first' | 'province' | 'cell';

export interface Stay {
  readonly id: string;
  readonly cell: bigint;
  readonly admin: number;
  readonly event: StayEvent;
  /** Admin number of the previous stay; null for the first. */
  readonly previousAdmin: number | null;
  readonly enteredMs: number;
  /** Time of its last position. */
  leftMs: number;
  points: number;
}

interface Vehicle {
  /** A copy: the text of a row may keep the rows around it in memory. */
  readonly name: string;
  /** null while it is outside, or before its first position. */
  stay: Stay | null;
  lastMs: number;
  lastAdmin: number | null;
}

/** Approximate memory of a vehicle and its stay besides its name. */
const VEHICLE_BYTES = 400;

export class Stays {
  readonly #vehicles = new Map<string, Vehicle>();
  #heldBytes = 0;
  /** Positions that came after a later one of their vehicle, and were skipped. */
  late = 0;

  /** @param gapMs a longer time without positions ends a stay */
  constructor(private readonly gapMs: number) {}

  /** Processes a position; returns the stay that it ends, if any. */
  take({ id, timeMs, cell, admin }: TrackPoint): Stay | null {
    let vehicle = this.#vehicles.get(id);
    if (vehicle === undefined) {
      const name = Buffer.from(id, 'utf16le').toString('utf16le');
      vehicle = { name, stay: null, lastMs: timeMs, lastAdmin: null };
      this.#vehicles.set(name, vehicle);
      this.#heldBytes += VEHICLE_BYTES + 2 * id.length;
    }
    if (timeMs < vehicle.lastMs) {
      this.late++;
      return null;
    }
    const isGap = timeMs - vehicle.lastMs > this.gapMs;
    vehicle.lastMs = timeMs;
    const { stay } = vehicle;
    if (stay !== null && stay.cell === cell && stay.admin === admin && !isGap) {
      stay.leftMs = timeMs;
      stay.points++;
      return null;
    }
    if (cell === 0n) {
      vehicle.stay = null;
      return stay;
    }
    const previousAdmin = vehicle.lastAdmin;
    const event = previousAdmin === null ? 'first' : previousAdmin === admin ? 'cell' : 'province';
    vehicle.stay = {
      id: vehicle.name,
      cell,
      admin,
      event,
      previousAdmin,
      enteredMs: timeMs,
      leftMs: timeMs,
      points: 1,
    };
    vehicle.lastAdmin = admin;
    return stay;
  }

  /** The stays that have not ended, in the order in which their vehicles appeared. */
  *open(): Generator<Stay> {
    for (const { stay } of this.#vehicles.values()) if (stay !== null) yield stay;
  }

  /** Approximate memory that vehicles and their stays take. */
  get heldBytes(): number {
    return this.#heldBytes;
  }

  get vehicles(): number {
    return this.#vehicles.size;
  }
}
