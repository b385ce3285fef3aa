// The map as a picture (SVG) for people, drawn from the index file itself: the 34 provinces in full colour on land and
// pale at sea, lines between former provinces thin, the archipelago zones dashed, foreign land grey.
import { ADMIN_UNITS } from '#dist/hexcodes/admin-units.js';
import { ProvinceBorders, type ProvinceGeometry } from '#dist/hexcodes/geometry/province-borders.js';
import { readIndexArcs, readIndexMeta } from '#dist/hexcodes/kernel/index-file.js';
import { ZONES } from './coverage.js';
import { STEPS_PER_DEGREE } from './plane/grid.js';
import type { Polygon } from './sources.js';

/** Degrees. */
const BOX = { west: 101.5, south: 6.3, east: 118.6, north: 24 };
const PIXELS_PER_DEGREE = 100;
/** Degrees of longitude are drawn as long as they are at the middle of the country. */
const LONGITUDE_SCALE = Math.cos((16 * Math.PI) / 180);
const ZONES_WEST = Math.min(...ZONES.map(({ west }) => west));
const COLOURS = ['#e9b44c', '#7fb069', '#5b8e7d', '#bc4b51', '#6f8fc9', '#b486ab', '#d98c5f', '#8c9a5b'];

const x = (lngDeg: number): string => ((lngDeg - BOX.west) * LONGITUDE_SCALE * PIXELS_PER_DEGREE).toFixed(2);
const y = (latDeg: number): string => ((BOX.north - latDeg) * PIXELS_PER_DEGREE).toFixed(2);

/** @param land the land of the sources, by country: colours are full on Viet Nam's */
export function drawPicture(indexFile: Uint8Array, land: readonly Polygon[]): string {
  const borders = new ProvinceBorders(indexFile);
  const { units, notice } = readIndexMeta(indexFile);
  const arcs = readIndexArcs(indexFile);
  const adminOf = (unit: number): number => units[unit]?.admin ?? -1;
  const colours = coloursOf(arcs.map(({ left, right }) => [adminOf(left), adminOf(right)]));
  const provinces = ADMIN_UNITS.map((_, admin) => borders.ofAdmin(admin));
  const fills = provinces
    .map(
      ({ coordinates }, admin) =>
        `<path fill="${colours.get(admin)}" d="${coordinates.flat().map(ring).join('')}"/>`,
    )
    .join('\n');
  const between = (belongs: (left: number, right: number) => boolean): string =>
    arcs
      .filter(({ left, right }) => belongs(left, right))
      .map(({ vertices }) => line(vertices, 1e6))
      .join('');
  const landOf = (isOurs: boolean): string =>
    land
      .filter(({ country }) => (country === 'VNM') === isOurs)
      .map((polygon) => `${line(polygon.ring, STEPS_PER_DEGREE)}Z`)
      .join('');
  const width = Number(x(BOX.east)).toFixed(0);
  const height = Number(y(BOX.south)).toFixed(0);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">
<defs><clipPath id="land"><path d="${landOf(true)}"/></clipPath></defs>
<rect width="100%" height="100%" fill="#f4f7f9"/>
<path fill="#d5d5d0" d="${landOf(false)}"/>
<g fill-rule="evenodd" opacity="0.35">
${fills}
</g>
<g fill-rule="evenodd" clip-path="url(#land)">
${fills}
</g>
<g fill="none" stroke="#222" stroke-linejoin="round">
<path stroke-width="0.25" stroke-dasharray="1.5 1" d="${between((left, right) => adminOf(left) === adminOf(right))}"/>
<path stroke-width="0.6" d="${between((left, right) => adminOf(left) !== adminOf(right))}"/>
${ZONES.map(zoneOutline).join('\n')}
</g>
<g font-family="sans-serif" font-size="13" text-anchor="middle" paint-order="stroke" stroke="#fff" stroke-width="2.5">
${provinces.map((geometry, admin) => label(geometry, ADMIN_UNITS[admin]!.code)).join('\n')}
<text x="${x(BOX.east - 4)}" y="${y(BOX.south + 0.12)}" font-size="11">${escaped(notice)}</text>
</g>
</svg>
`;
}

/** A colour for each province, different from those of its neighbours while one is left. */
function coloursOf(neighbours: readonly [number, number][]): Map<number, string> {
  const colours = new Map<number, string>();
  for (let admin = 0; admin < ADMIN_UNITS.length; ++admin) {
    const taken = neighbours
      .filter((pair) => pair.includes(admin))
      .flat()
      .map((other) => colours.get(other));
    const free = COLOURS.filter((colour) => !taken.includes(colour));
    colours.set(admin, free[admin % Math.max(1, free.length)] ?? COLOURS[0]!);
  }
  return colours;
}

function ring(positions: readonly (readonly [lngDeg: number, latDeg: number])[]): string {
  return `M${positions.map(([lngDeg, latDeg]) => `${x(lngDeg)} ${y(latDeg)}`).join('L')}Z`;
}

function line(xy: Int32Array, perDegree: number): string {
  const places: string[] = [];
  for (let i = 0; i < xy.length; i += 2) places.push(`${x(xy[i]! / perDegree)} ${y(xy[i + 1]! / perDegree)}`);
  return `M${places.join('L')}`;
}

function zoneOutline({ west, south, east, north }: (typeof ZONES)[number]): string {
  return `<path stroke-width="0.8" stroke-dasharray="6 4" d="M${x(west)} ${y(south)}H${x(east)}V${y(north)}H${x(west)}Z"/>`;
}

/**
 * The code, on the mainland, which is west of the zones: in the middle of the longest stretch inside the province on
 * any of a few rows.
 */
function label({ coordinates }: ProvinceGeometry, code: string): string {
  const largest = coordinates.find(([outer]) => outer!.some(([lng]) => lng < ZONES_WEST))?.[0] ?? [];
  const lats = largest.map(([, lat]) => lat);
  const [south, north] = [Math.min(...lats), Math.max(...lats)];
  let best = { length: -1, lng: 0, lat: 0 };
  for (let row = 0.3; row <= 0.7; row += 0.05) {
    const lat = south + row * (north - south) + 1e-7;
    const crossings = largest
      .slice(1)
      .flatMap(([lng1, lat1], i) => {
        const [lng0, lat0] = largest[i]!;
        return lat0 > lat === lat1 > lat ? [] : [lng0 + ((lng1 - lng0) * (lat - lat0)) / (lat1 - lat0)];
      })
      .sort((a, b) => a - b);
    for (let i = 0; i + 1 < crossings.length; i += 2) {
      const length = crossings[i + 1]! - crossings[i]!;
      if (length > best.length) best = { length, lng: crossings[i]! + length / 2, lat };
    }
  }
  return `<text x="${x(best.lng)}" y="${y(best.lat)}">${code}</text>`;
}

function escaped(text: string): string {
  return text.replace(/[<>&]/g, (mark) => `&#${mark.charCodeAt(0)};`);
}
