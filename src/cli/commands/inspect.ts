// `hexcodes inspect CODE`: province, cell, sizes and surroundings of one code, drawn for a person or as JSON.

import type { Command } from 'commander';
import { CliFailure, EXIT } from '../../files/exit-codes.js';
import { loadLibrary } from '../../files/library.js';
import { metres, type Paint, paintFor, shellWord, squareMetres } from '../../files/terminal/say.js';
import { ADMIN_UNITS } from '../../hexcodes/admin-units.js';
import { area, boundary, distance, edge, neighbors, parent, radius } from '../../hexcodes/geometry/cells.js';
import { type FoundText, findCode } from '../../hexcodes/geometry/find-code.js';
import { type OtherText, otherText } from '../../hexcodes/geometry/other-text.js';
import type { Hexcodes, ReadHexcode } from '../../hexcodes/library/hexcodes.js';
import { type PlaceNear, placeNear } from '../../hexcodes/library/places.js';
import { METRES, notesOn, otherCommand, suggestionsFor, UNCLEAR_S } from './other-command.js';

export default function declare(program: Command): void {
  program
    .command('inspect')
    .description('Show what a hexcode says: province, cell, size, centre, parent, neighbours and a map link.')
    .argument('<code...>', 'a hexcode in any spelling, or a text with one: a link, a message, a position')
    .option('--json', 'as JSON, with the boundary')
    .addHelpText(
      'after',
      `
Towns nearby: © GeoNames, CC BY 4.0.

Examples:
  $ hexcodes inspect HN-6GHP4-83RFR
  $ hexcodes inspect hn6ghp483rfr --json | jq .boundary`,
    )
    .action(async (words: string[], { json }: { json?: boolean }) => {
      const hexcodes = await loadLibrary();
      const text = words.join(' ');
      const facts = inspect(hexcodes, text);
      const shown =
        json === true ? `${JSON.stringify(facts, null, 2)}\n` : drawn(facts, paintFor(process.stdout));
      process.stdout.write(shown);
      const found = findCode(hexcodes, text);
      if (found?.kind === 'position')
        for (const note of notesOn(found, found.isSwapped)) process.stderr.write(`${note}\n`);
    });
}

/** The facts of one code, as `--json` prints them: degrees, metres, bearings by compass point. */
export interface CodeFacts {
  hexcodes: string;
  admin_code: string;
  province: string;
  resolution: number;
  h3_cell: string;
  lat: number;
  lng: number;
  area_m2: number;
  edge_m: number;
  radius_m: number;
  parent: string | null;
  /** Position of the centre relative to the nearest town; null far from all. */
  near: PlaceNear | null;
  neighbors: { hexcodes: string; direction: string; distance_m: number }[];
  boundary: (readonly [lat: number, lng: number])[];
  map: string;
}

/** @throws CliFailure with suggestions if the text is not a hexcode */
export function inspect(hexcodes: Hexcodes, text: string): CodeFacts {
  const read = readFound(hexcodes, text);
  if (read === null) throw notAHexcode(hexcodes, text);
  const { hexcodes: code, lat, lng, resolution } = read;
  return {
    hexcodes: code,
    admin_code: read.admin_code,
    province: ADMIN_UNITS.find((unit) => unit.code === read.admin_code)?.name ?? read.admin_code,
    resolution,
    h3_cell: read.cell.toString(16),
    lat,
    lng,
    area_m2: area(hexcodes, code),
    edge_m: edge(hexcodes, code),
    radius_m: radius(hexcodes, code),
    parent: resolution === 0 ? null : parent(hexcodes, code),
    near: placeNear(lat, lng),
    neighbors: neighbors(hexcodes, code)
      .map((neighbor) => ({ neighbor, bearing: bearingDeg(hexcodes, code, neighbor) }))
      .sort((a, b) => a.bearing - b.bearing)
      .map(({ neighbor, bearing }) => ({
        hexcodes: neighbor,
        direction: DIRECTIONS[Math.round(bearing / 22.5) % 16]!,
        distance_m: distance(hexcodes, code, neighbor),
      })),
    boundary: boundary(hexcodes, code),
    map: `https://www.openstreetmap.org/?mlat=${lat.toFixed(6)}&mlon=${lng.toFixed(6)}#map=${Math.min(19, resolution + 5)}/${lat.toFixed(6)}/${lng.toFixed(6)}`,
  };
}

/**
 * The code that a text names, or the code of its position; null if it names none in Viet Nam.
 * @throws CliFailure for a text that names several places
 */
function readFound(hexcodes: Hexcodes, text: string): ReadHexcode | null {
  const found = findCode(hexcodes, text);
  if (found === null) return null;
  if (found.kind === 'several') throw severalFailure(found.found);
  if (found.kind === 'code') return hexcodes.read(found.hexcodes);
  const { lat, lng } = found;
  return hexcodes.adminCodeOf(lat, lng) === null ? null : hexcodes.read(hexcodes.encode(lat, lng).hexcodes);
}

/** The failure for a text that names several places where one is required. */
export function severalFailure(found: Extract<FoundText, { kind: 'several' }>['found']): CliFailure {
  const names = found.map((each) => (each.kind === 'code' ? each.hexcodes : `${each.lat},${each.lng}`));
  return new CliFailure(
    EXIT.FAILED,
    `the text names ${names.length} places: ${names.join(' and ')}`,
    'Give one of them.',
  );
}

/** The failure for a text that is not a hexcode, with suggestions. */
export function notAHexcode(hexcodes: Hexcodes, text: string): CliFailure {
  const meant = suggestionsFor(hexcodes, text, []);
  const message = `${JSON.stringify(text)} is not a hexcode`;
  if (meant === null) {
    const other = otherText(text);
    const words = other === null ? undefined : OTHER_HINTS[other].replace('TEXT', () => shellWord(text));
    const hint = otherCommand(hexcodes, text) ?? words;
    return new CliFailure(EXIT.FAILED, message, hint);
  }
  // None of several is more likely until a position is known.
  const sorted = `\nThose near a position first: hexcodes suggest ${shellWord(text)} --near LAT,LNG`;
  const hint = `Did you mean ${meant.words}?${meant.count > 1 ? sorted : ''}`;
  return new CliFailure(EXIT.FAILED, message, hint);
}

const OTHER_HINTS: Readonly<Record<OtherText, string>> = {
  plus_code:
    'It looks like a short Plus Code. Give its town, too, as in "2VH3+GX Hoàn Kiếm", or the whole code.',
  three_words: 'These are three words of what3words: open them there, and take the position.',
  link: 'Neither a code nor a position stands in this link: open it, and take the address that it leads to.',
  metres: METRES,
  phone: 'It looks like a telephone number.',
  unclear_s: UNCLEAR_S,
  part_of_code:
    'It looks like the end of a code, which is whole as in HN-6GHP4-83RFR. Near a position: hexcodes suggest TEXT --near LAT,LNG',
  address: 'It looks like an address, and there is no list of streets here: give a position or a code.',
};

const DIRECTIONS = 'N NNE NE ENE E ESE SE SSE S SSW SW WSW W WNW NW NNW'.split(' ');

/** The compass bearing from one code's centre to another's, 0 to 360 degrees. */
function bearingDeg(hexcodes: Hexcodes, from: string, to: string): number {
  const a = hexcodes.read(from);
  const b = hexcodes.read(to);
  if (a === null || b === null) return 0;
  const rad = Math.PI / 180;
  const east = (b.lng - a.lng) * rad;
  const y = Math.sin(east) * Math.cos(b.lat * rad);
  const x =
    Math.cos(a.lat * rad) * Math.sin(b.lat * rad) -
    Math.sin(a.lat * rad) * Math.cos(b.lat * rad) * Math.cos(east);
  return (Math.atan2(y, x) / rad + 360) % 360;
}

/** A town and the way from its middle: `2 km E of Thủ Đức`. */
export const townWords = ({ name, distance_m, direction }: PlaceNear): string =>
  `${metres(distance_m)} ${direction} of ${name}`;

const HEXAGON = [
  '    ╱╲    ',
  '  ╱    ╲  ',
  ' │      │ ',
  ' │  ··  │ ',
  ' │      │ ',
  '  ╲    ╱  ',
  '    ╲╱    ',
];

function drawn(facts: CodeFacts, paint: Paint): string {
  const lines: [label: string, value: string][] = [
    ['province', `${facts.province} (${facts.admin_code})`],
    [
      'resolution',
      `${facts.resolution}: edges of ${metres(facts.edge_m)}, area ${squareMetres(facts.area_m2)}`,
    ],
    ['centre', `${facts.lat.toFixed(7)}, ${facts.lng.toFixed(7)}`],
    ['precision', `a point in the cell is at most ${metres(facts.radius_m)} from the centre`],
    ['H3 cell', facts.h3_cell],
    ['parent', facts.parent ?? 'none'],
    ['near', facts.near === null ? 'no town' : townWords(facts.near)],
    ['map', facts.map],
  ];
  const head = lines.map(
    ([label, value], i) =>
      `  ${paint('cyan', HEXAGON[i] ?? ''.padEnd(10))}  ${paint('dim', label.padEnd(10))}  ${value}`,
  );
  const around = facts.neighbors.map(
    (each) =>
      `    ${paint('dim', each.direction.padEnd(4))} ${each.hexcodes}  ${paint('dim', metres(each.distance_m))}`,
  );
  return `\n  ${paint('bold', facts.hexcodes)}\n\n${head.join('\n')}\n\n  neighbours\n${around.join('\n')}\n\n`;
}
