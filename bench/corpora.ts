// The seeded corpora that the tables name: positions as latitude, longitude, latitude, longitude, … in degrees.

import whichPolygon from 'which-polygon';
import { NO_ADMIN, readIndexArcs, readIndexMeta } from '#dist/hexcodes/kernel/index-file.js';
import type { Kernel } from '#dist/hexcodes/kernel/kernel.js';
import { STEPS_PER_DEGREE } from '../data/map/plane/grid.js';
import { readLand } from '../data/map/sources.js';

export const CORPORA = ['land', 'box', 'cities', 'borders', 'outside', 'tracks'] as const;
export type CorpusName = (typeof CORPORA)[number];

/** The contents of each, for the tables. */
export const CORPUS_NOTES: Readonly<Record<CorpusName, string>> = {
  land: 'uniform over the land of Viet Nam',
  box: 'uniform over the box of the land, 8.1-23.5 N, 102-110 E: half of it abroad or at sea',
  cities: '20 cities, normal with 5 km around their centres',
  borders: 'along the borders between provinces, normal with 100 m across',
  outside: 'outside the coverage: half drawn from that box, half from all of the Earth',
  tracks: '256 vehicles from the cities, a position each second, in order of time',
};

const SEED = 20251121;
const METRES_PER_DEGREE = 111_195;
const BOX = { south: 8.1, north: 23.5, west: 102, east: 110 };

const CITIES: readonly (readonly [latDeg: number, lngDeg: number])[] = [
  [21.0285, 105.8542], // Hà Nội
  [10.7769, 106.7009], // TP. Hồ Chí Minh
  [20.8449, 106.6881], // Hải Phòng
  [16.0544, 108.2022], // Đà Nẵng
  [10.0452, 105.7469], // Cần Thơ
  [16.4637, 107.5909], // Huế
  [12.2388, 109.1967], // Nha Trang
  [10.9574, 106.8427], // Biên Hòa
  [11.9404, 108.4583], // Đà Lạt
  [12.6667, 108.05], // Buôn Ma Thuột
  [18.6734, 105.6813], // Vinh
  [19.8067, 105.7852], // Thanh Hóa
  [20.9712, 107.0448], // Hạ Long
  [21.5942, 105.8482], // Thái Nguyên
  [13.782, 109.2197], // Quy Nhơn
  [10.4114, 107.1362], // Vũng Tàu
  [10.0125, 105.0809], // Rạch Giá
  [9.1769, 105.1524], // Cà Mau
  [22.4809, 103.9755], // Lào Cai
  [21.8537, 106.7615], // Lạng Sơn
];

/** Uniform numbers from 0 to 1, of 53 bits: two draws of Mulberry32 each. */
function randomFrom(seed: number): () => number {
  let state = seed | 0;
  const draw = () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return (t ^ (t >>> 14)) >>> 0;
  };
  return () => (draw() * 2 ** 21 + (draw() >>> 11)) / 2 ** 53;
}

type Draw = () => readonly [latDeg: number, lngDeg: number];

/** Two independent numbers of the standard normal distribution (Box and Muller 1958). */
function normalPair(random: () => number): [number, number] {
  const radius = Math.sqrt(-2 * Math.log(1 - random()));
  const angle = 2 * Math.PI * random();
  return [radius * Math.cos(angle), radius * Math.sin(angle)];
}

function shifted(
  [latDeg, lngDeg]: readonly [number, number],
  northM: number,
  eastM: number,
): [number, number] {
  const lat = latDeg + northM / METRES_PER_DEGREE;
  return [lat, lngDeg + eastM / METRES_PER_DEGREE / Math.cos((lat * Math.PI) / 180)];
}

/** Uniform by area between two latitudes and longitudes. */
function uniform(random: () => number, south: number, north: number, west: number, east: number): Draw {
  const sine = (deg: number) => Math.sin((deg * Math.PI) / 180);
  const [low, high] = [sine(south), sine(north)];
  return () => [(Math.asin(low + (high - low) * random()) * 180) / Math.PI, west + (east - west) * random()];
}

function vietnam(): (latDeg: number, lngDeg: number) => boolean {
  const features = readLand()
    .filter(({ country }) => country === 'VNM')
    .map(({ ring }) => {
      const positions: number[][] = [];
      for (let i = 0; i < ring.length; i += 2)
        positions.push([ring[i]! / STEPS_PER_DEGREE, ring[i + 1]! / STEPS_PER_DEGREE]);
      positions.push(positions[0]!);
      return {
        type: 'Feature' as const,
        properties: {},
        geometry: { type: 'Polygon' as const, coordinates: [positions] },
      };
    });
  const query = whichPolygon({ type: 'FeatureCollection', features });
  return (latDeg, lngDeg) => query([lngDeg, latDeg]) !== null;
}

/** Points around borders between provinces: uniform along them, then moved by a normal distance, deviation 100 m. */
function borderDraw(random: () => number, index: Uint8Array): Draw {
  const admins = readIndexMeta(index).units.map(({ admin }) => admin);
  const lines: [lng0: number, lat0: number, lng1: number, lat1: number][] = [];
  const ends: number[] = [];
  let length = 0;
  for (const { left, right, vertices } of readIndexArcs(index)) {
    const [a, b] = [admins[left], admins[right]];
    if (a === undefined || b === undefined || a === b) continue;
    for (let i = 0; i + 3 < vertices.length; i += 2) {
      const line = Array.from(vertices.subarray(i, i + 4), (micro) => micro / 1e6) as (typeof lines)[number];
      length += Math.hypot((line[2] - line[0]) * Math.cos((line[1] * Math.PI) / 180), line[3] - line[1]);
      lines.push(line);
      ends.push(length);
    }
  }
  return () => {
    const at = random() * length;
    let [low, high] = [0, ends.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (ends[middle]! > at) high = middle;
      else low = middle + 1;
    }
    const [lng0, lat0, lng1, lat1] = lines[low]!;
    const along = random();
    const [north, east] = normalPair(random);
    return shifted([lat0 + along * (lat1 - lat0), lng0 + along * (lng1 - lng0)], 100 * north, 100 * east);
  };
}

/**
 * Vehicles at 5 to 25 m/s that turn a little each second, and by 90 degrees where `accept` refuses their next position.
 */
function tracks(random: () => number, count: number, accept: (latDeg: number, lngDeg: number) => boolean) {
  const vehicles = Array.from({ length: 256 }, (_, n) => ({
    at: CITIES[n % CITIES.length]!,
    heading: 2 * Math.PI * random(),
    metresPerSecond: 5 + 20 * random(),
  }));
  const points = new Float64Array(2 * count);
  for (let n = 0; n < count; n++) {
    const vehicle = vehicles[n % vehicles.length]!;
    vehicle.heading += 0.1 * normalPair(random)[0];
    const step = vehicle.metresPerSecond;
    const next = shifted(vehicle.at, step * Math.cos(vehicle.heading), step * Math.sin(vehicle.heading));
    if (accept(...next)) vehicle.at = next;
    else vehicle.heading += Math.PI / 2;
    points.set(vehicle.at, 2 * n);
  }
  return points;
}

/** All corpora, `count` points each: the same ones for the same index. */
export function makeCorpora(
  kernel: Kernel,
  index: Uint8Array,
  count: number,
): Record<CorpusName, Float64Array> {
  const onLand = vietnam();
  const covered = (latDeg: number, lngDeg: number) => kernel.exports.regionOf(latDeg, lngDeg) !== NO_ADMIN;
  const collect = (draw: Draw, accept: (latDeg: number, lngDeg: number) => boolean = () => true) => {
    const points = new Float64Array(2 * count);
    for (let n = 0; n < count; ) {
      const point = draw();
      if (accept(...point)) points.set(point, 2 * n++);
    }
    return points;
  };
  const random = (corpus: CorpusName) => randomFrom(SEED + CORPORA.indexOf(corpus));
  const inBox = (next: () => number) => uniform(next, BOX.south, BOX.north, BOX.west, BOX.east);
  const coveredLand = (latDeg: number, lngDeg: number) => covered(latDeg, lngDeg) && onLand(latDeg, lngDeg);

  const citiesRandom = random('cities');
  const outsideRandom = random('outside');
  const [nearby, anywhere] = [inBox(outsideRandom), uniform(outsideRandom, -90, 90, -180, 180)];
  return {
    land: collect(inBox(random('land')), coveredLand),
    box: collect(inBox(random('box'))),
    cities: collect(() => {
      const [north, east] = normalPair(citiesRandom);
      return shifted(CITIES[Math.floor(CITIES.length * citiesRandom())]!, 5000 * north, 5000 * east);
    }, covered),
    borders: collect(borderDraw(random('borders'), index), coveredLand),
    outside: collect(
      () => (outsideRandom() < 0.5 ? nearby() : anywhere()),
      (latDeg, lngDeg) => !covered(latDeg, lngDeg),
    ),
    tracks: tracks(random('tracks'), count, covered),
  };
}
