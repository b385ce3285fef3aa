// Vehicles that drive along a lattice of streets, on the land around a middle. Streets are simulated: the page has no
// roads. Coasts are those of the map.
import { crossings, isWithin, type Ring } from '../map/shapes.js';

const METRES_PER_DEGREE = 111_320;
/** Distance between two streets. */
const STREET_M = 200;
/** Streets on either side of the middle. */
const STREETS = 60;
const SIDE = 2 * STREETS + 1;
/** Steps to the north, east, south and west in the list of crossings. */
const STEPS = [SIDE, 1, -SIDE, -1];
/** Share of the crossings at which a vehicle does not turn. */
const STRAIGHT = 0.7;
/** Spread of the first positions around the middle, in streets. */
const SPREAD = STREETS / 2.2;
/** Metres a second. */
const SLOWEST = 1;
const FASTEST = 16;

export interface Lattice {
  readonly lat: number;
  readonly lng: number;
  /** Degrees between two streets. */
  readonly latStep: number;
  readonly lngStep: number;
  /** 1 for a crossing on land, near enough to the middle; rows from south to north. */
  readonly isOpen: Uint8Array;
}

export function latticeAround(lat: number, lng: number, land: readonly Ring[]): Lattice {
  const latStep = STREET_M / METRES_PER_DEGREE;
  const lngStep = latStep / Math.cos((lat * Math.PI) / 180);
  const isOpen = new Uint8Array(SIDE * SIDE);
  for (let row = 0; row < SIDE; row++) {
    const y = lat + (row - STREETS) * latStep;
    const coasts = crossings(land, y);
    for (let column = 0; column < SIDE; column++) {
      const x = lng + (column - STREETS) * lngStep;
      const isNear = Math.hypot(row - STREETS, column - STREETS) < STREETS;
      isOpen[row * SIDE + column] = isNear && isWithin(coasts, x) ? 1 : 0;
    }
  }
  return { lat, lng, latStep, lngStep, isOpen };
}

export class Vehicles {
  /** Latitude and longitude of each, degrees. */
  readonly pairs: Float64Array;
  readonly #crossings: Int32Array;
  readonly #directions: Uint8Array;
  /** Share of the way to the next crossing that is done. */
  readonly #done: Float32Array;
  /** Streets a second. */
  readonly #speeds: Float32Array;

  /** @throws RangeError where no two streets lie on land */
  constructor(
    readonly count: number,
    private readonly lattice: Lattice,
    private readonly random: () => number = Math.random,
  ) {
    this.pairs = new Float64Array(2 * count);
    this.#crossings = new Int32Array(count);
    this.#directions = new Uint8Array(count);
    this.#done = new Float32Array(count);
    this.#speeds = new Float32Array(count);
    const open = [...lattice.isOpen.keys()].filter((crossing) => this.#ways(crossing).length > 0);
    if (open.length === 0) throw new RangeError('there is no land');
    for (let vehicle = 0; vehicle < count; vehicle++) {
      this.#crossings[vehicle] = this.#somewhere(open);
      this.#turn(vehicle);
      this.#done[vehicle] = random();
      this.#speeds[vehicle] = (SLOWEST + (FASTEST - SLOWEST) * random()) / STREET_M;
    }
    this.move(0);
  }

  move(seconds: number): void {
    const { lat, lng, latStep, lngStep } = this.lattice;
    for (let vehicle = 0; vehicle < this.count; vehicle++) {
      let done = this.#done[vehicle]! + this.#speeds[vehicle]! * seconds;
      for (; done >= 1; done--) {
        this.#crossings[vehicle]! += STEPS[this.#directions[vehicle]!]!;
        this.#turn(vehicle);
      }
      this.#done[vehicle] = done;
      const crossing = this.#crossings[vehicle]!;
      const direction = this.#directions[vehicle]!;
      const north = Math.floor(crossing / SIDE) + (direction % 2 === 0 ? (1 - direction) * done : 0);
      const east = (crossing % SIDE) + (direction % 2 === 1 ? (2 - direction) * done : 0);
      this.pairs[2 * vehicle] = lat + (north - STREETS) * latStep;
      this.pairs[2 * vehicle + 1] = lng + (east - STREETS) * lngStep;
    }
  }

  /** A crossing, more often near the middle than far from it. */
  #somewhere(open: readonly number[]): number {
    const near = (): number =>
      Math.round(STREETS + SPREAD * (this.random() + this.random() + this.random() - 1.5));
    const crossing = near() * SIDE + near();
    if (this.lattice.isOpen[crossing] === 1 && this.#ways(crossing).length > 0) return crossing;
    return open[Math.floor(this.random() * open.length)] as number;
  }

  #ways(crossing: number): number[] {
    const { isOpen } = this.lattice;
    if (isOpen[crossing] !== 1) return [];
    return [0, 1, 2, 3].filter((direction) => isOpen[crossing + STEPS[direction]!] === 1);
  }

  /** Chooses the way on from a crossing: mostly straight, back where there is no other. */
  #turn(vehicle: number): void {
    const before = this.#directions[vehicle]!;
    const ways = this.#ways(this.#crossings[vehicle]!);
    if (ways.includes(before) && this.random() < STRAIGHT) return;
    const back = (before + 2) % 4;
    const on = ways.filter((way) => way !== back);
    const from = on.length > 0 ? on : ways;
    this.#directions[vehicle] = from[Math.floor(this.random() * from.length)] ?? back;
  }
}
