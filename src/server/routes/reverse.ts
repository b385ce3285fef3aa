// GET /v1/reverse: a position to its province and code, in the shape of Nominatim's reverse geocoding, so that products
// with a setting for such a server can name this one. It knows no streets, and says none.
import { ADMIN_UNITS } from '../../hexcodes/admin-units.js';
import { boundary } from '../../hexcodes/geometry/cells.js';
import type { Hexcodes } from '../../hexcodes/library/hexcodes.js';
import { readDecimal, resolutionOf } from '../../hexcodes/wire/params/number.js';
import { degreesOf, isOther, type ParameterFault } from '../../hexcodes/wire/params/parameters.js';
import { DIFFER, readQuery } from '../../hexcodes/wire/params/query.js';
import { looksSwapped, SWAPPED_HINT } from '../../hexcodes/wire/swapped.js';
import { faultsMessage, JSON_TYPE } from '../http/answers.js';
import { type Exchange, encodeOne } from '../http/exchange.js';
import type { BoundaryData } from '../http/freshness.js';
import { requireJson } from '../http/negotiation.js';
import { fail, hintAfter, type Route } from '../http/router.js';
import { admitPoints } from '../ledger/limit-answers.js';

/** The answer of Nominatim, with status 200, where it has nothing. */
const NOTHING_THERE = '{"error":"Unable to geocode"}';
const COUNTRY = 'Việt Nam';
const NAMES = [
  ...(['lat', 'latitude', 'lon', 'lng', 'longitude'] as const),
  ...(['resolution', 'format', 'addressdetails'] as const),
] as const;

interface Wanted {
  readonly latDeg: number;
  readonly lngDeg: number;
  readonly resolution: number;
  readonly hasAddress: boolean;
}

interface ReverseDeps {
  readonly hexcodes: Hexcodes;
  readonly boundaries: BoundaryData;
  /** Whether the log has the position of each call. */
  readonly logsPositions: boolean;
}

export function reverseRoutes({ hexcodes, boundaries, logsPositions }: ReverseDeps): Route[] {
  const { kernel } = hexcodes;
  // Shown wherever the boundaries are.
  const licence = boundaries.meta.notice;
  const handle = (x: Exchange): void => {
    if (!requireJson(x)) return;
    const wanted = read(x, hexcodes);
    if (wanted === undefined) return;
    const answer = (): void => {
      const { latDeg, lngDeg, resolution } = wanted;
      const isOk = encodeOne(x, kernel, latDeg, lngDeg, resolution, logsPositions);
      x.send(
        200,
        JSON_TYPE,
        isOk ? bodyOf(hexcodes, kernel.textAt(0), wanted.hasAddress, licence) : NOTHING_THERE,
        x.notes.hint,
      );
    };
    if (admitPoints(x, 1, answer)) answer();
  };
  return [
    {
      path: '/v1/reverse',
      methods: ['GET'],
      access: 'encode',
      operation: 'encode',
      readsKeyParameter: true,
      parameters: NAMES,
      handle,
    },
  ];
}

/** The parameters; undefined where they have faults, and the request is answered. */
function read(x: Exchange, { kernel }: Hexcodes): Wanted | undefined {
  const given = readQuery(x.head.rawQuery, NAMES);
  const faults: ParameterFault[] = [];
  const orFault = (parameter: string, value: number | string): number => {
    if (typeof value === 'number') return value;
    faults.push({ parameter, message: value });
    return Number.NaN;
  };
  // Nominatim's names come first, then those that encode reads.
  const givenOf = <N extends (typeof NAMES)[number]>(...names: [N, ...N[]]): N => {
    const [first = names[0], ...others] = names.filter(
      (name) => given[name].text !== undefined || given[name].fault !== undefined,
    );
    for (const name of others)
      if (isOther(given[first].text, given[name].text)) orFault(name, `and ${first} ${DIFFER}`);
    return first;
  };
  const lat = givenOf('lat', 'latitude');
  const lon = givenOf('lon', 'lng', 'longitude');
  const latDeg = orFault(lat, degreesOf(given[lat], 90));
  const lngDeg = orFault(lon, degreesOf(given[lon], 180));
  const resolution = orFault('resolution', resolutionOf(given.resolution));
  const oneOf = (name: 'format' | 'addressdetails', words: readonly string[]): string | undefined => {
    const { text: word, fault: ofName } = given[name];
    if (ofName !== undefined || (word !== undefined && !words.includes(word)))
      orFault(name, ofName ?? `must be ${words.join(' or ')}`);
    return word;
  };
  oneOf('format', ['json', 'jsonv2']);
  const hasAddress = oneOf('addressdetails', ['0', '1']) !== '0';
  if (faults.length === 0) return { latDeg, lngDeg, resolution, hasAddress };
  const said = [given[lat], given[lon]].map((each) => readDecimal(each.text ?? '')) as [number, number];
  const hint = looksSwapped(kernel, ...said) ? SWAPPED_HINT.replace('lng', lon) : '';
  fail(x, 400, faultsMessage(faults) + (hint || hintAfter(x)), { faults });
  return undefined;
}

function bodyOf(hexcodes: Hexcodes, code: string, hasAddress: boolean, licence: string): string {
  // The kernel has made the code just now.
  const { lat, lng, resolution, admin_code } = hexcodes.read(code)!;
  const state = ADMIN_UNITS.find((unit) => unit.code === admin_code)?.name;
  const corners = boundary(hexcodes, code);
  const latsDeg = corners.map(([each]) => each);
  const lngsDeg = corners.map(([, each]) => each);
  const box = [Math.min(...latsDeg), Math.max(...latsDeg), Math.min(...lngsDeg), Math.max(...lngsDeg)];
  return JSON.stringify({
    licence,
    lat: String(lat),
    lon: String(lng),
    name: code,
    display_name: `${code}, ${state}, ${COUNTRY}`,
    ...(hasAddress ? { address: { state, country: COUNTRY, country_code: 'vn' } } : {}),
    boundingbox: box.map(String),
    hexcodes: code,
    resolution,
    admin_code,
    status: 'OK',
  });
}
