// GET /v1/hexcodes/{code}: all about one code. GET /v1/hexcodes/{code}/suggestions: valid codes that a mistyped one may
// stand for. GET /v1/places: names of provinces of today and before, towns and landmarks; a list of names, no geocoder.
// All are rare enough for h3-js to run in the handler.

import { holdsKey } from '../../config/mask.js';
import { ADMIN_UNITS } from '../../hexcodes/admin-units.js';
import { area, boundary, edge, neighbors, parent } from '../../hexcodes/geometry/cells.js';
import { cellFeature } from '../../hexcodes/geometry/codebook.js';
import { suggest } from '../../hexcodes/geometry/suggest.js';
import type { Hexcodes } from '../../hexcodes/library/hexcodes.js';
import { findPlaces, TOWNS_NOTICE } from '../../hexcodes/library/places.js';
import { looksSwapped, SWAPPED_HINT } from '../../hexcodes/wire/job.js';
import { readDecimal, resolutionOf } from '../../hexcodes/wire/params/number.js';
import { degreesOf, isOther, type ParameterFault } from '../../hexcodes/wire/params/parameters.js';
import {
  DIFFER,
  decodeEscapes,
  MALFORMED,
  type Parameter,
  readApiKey,
  readQuery,
} from '../../hexcodes/wire/params/query.js';
import { errorBody, faultsMessage, JSON_TYPE } from '../http/answers.js';
import { type Exchange, encodeOne } from '../http/exchange.js';
import { type BoundaryData, KEPT, keptAnswer } from '../http/freshness.js';
import { requireJson } from '../http/negotiation.js';
import { fail, hintAfter, type Route } from '../http/router.js';
import { admitPoints } from '../ledger/limit-answers.js';
import { withholdKey } from '../observe/log.js';

/** The prices in points: one for each code that an answer may be about (docs/http.md, Limits of a key). */
const CODE_POINTS = 1;
const SUGGESTIONS = 10;
const PLACES_POINTS = 1;
const MAX_NAME_UNITS = 100;
const MAX_PLACES = 100;
const PLACES_NAMES = ['q', 'near', 'limit'] as const;
const NUMBER = '-?(?:\\d+(?:\\.\\d*)?|\\.\\d+)(?:[eE][+-]?\\d+)?';
const NEAR = new RegExp(`^(${NUMBER}),(${NUMBER})$`);

interface LookupDeps {
  readonly hexcodes: Hexcodes;
  readonly boundaries: BoundaryData;
}

export function lookupRoutes({ hexcodes, boundaries: { tag } }: LookupDeps): Route[] {
  const lookup = (path: string, parameters: readonly string[], answer: (x: Exchange) => void): Route => ({
    path,
    access: 'lookup',
    parameters,
    handle: (x) => {
      if (requireJson(x)) answer(x);
    },
  });
  return [
    lookup('/v1/hexcodes/:code', [], (x) => withCode(x, (text) => info(x, hexcodes, text, tag))),
    lookup('/v1/hexcodes/:code/suggestions', ['near'], (x) =>
      withCode(x, (text) => suggestions(x, hexcodes, text, tag)),
    ),
    lookup('/v1/places', PLACES_NAMES, (x) => places(x, hexcodes, tag)),
  ];
}

/** Calls `handle` with the decoded code of the path; answers 400 for broken escapes itself. */
function withCode(x: Exchange, handle: (text: string) => void): void {
  // In a path + is a plus sign; decodeEscapes, made for queries, would read a space.
  const text = decodeEscapes(x.head.parameter(0).replaceAll('+', '%2B'));
  if (text !== undefined) handle(text);
  else {
    const fault = { parameter: 'code', message: MALFORMED };
    fail(x, 400, `the code in the path ${MALFORMED}`, { faults: [fault] });
  }
}

function info(x: Exchange, hexcodes: Hexcodes, text: string, tag: string): void {
  const read = hexcodes.read(text);
  if (read === null) {
    const presented = [readApiKey(x.head.rawQuery), x.head.apiKey];
    const message = holdsKey(text, presented)
      ? 'an API key is not a hexcode'
      : `${JSON.stringify(text)} is not a hexcode; ${x.head.path}/suggestions tells what it may have been`;
    withholdKey(x);
    const error = { code: 'hexcode_invalid', message, param: 'code' } as const;
    x.send(404, JSON_TYPE, errorBody('INVALID_HEXCODES', message, x.head.requestId, undefined, error));
    return;
  }
  sendPaid(x, tag, CODE_POINTS, () => infoOf(hexcodes, read));
}

function infoOf(hexcodes: Hexcodes, read: NonNullable<ReturnType<Hexcodes['read']>>): object {
  const { hexcodes: code, resolution, admin_code, lat, lng, cell } = read;
  const { geometry, properties } = cellFeature(hexcodes, code);
  return {
    status: 'OK',
    hexcodes: code,
    resolution,
    admin_code,
    province: ADMIN_UNITS.find((unit) => unit.code === admin_code)?.name,
    h3_cell: cell.toString(16),
    lat,
    lng,
    area_m2: area(hexcodes, code),
    edge_m: edge(hexcodes, code),
    boundary: { type: 'Feature', geometry, properties },
    parent: resolution === 0 ? null : parent(hexcodes, code),
    neighbors: neighbors(hexcodes, code),
  };
}

function suggestions(x: Exchange, hexcodes: Hexcodes, text: string, tag: string): void {
  const near = readNear(readQuery(x.head.rawQuery, ['near']).near);
  if ('message' in near) failOver(x, [near]);
  else {
    sendPaid(x, tag, SUGGESTIONS, () => ({
      status: 'OK',
      hexcodes: text,
      suggestions: suggest(hexcodes, text, { limit: SUGGESTIONS, ...near }),
    }));
  }
}

/** The option of a look-up that orders its answers; {} where the request has none. */
function readNear({ text, fault }: Parameter): { near?: readonly [number, number] } | ParameterFault {
  if (text === undefined && fault === undefined) return {};
  const [, lat, lng] = NEAR.exec(text ?? '') ?? [];
  const near = [Number(lat), Number(lng)] as const;
  const isPosition = Math.abs(near[0]) <= 90 && Math.abs(near[1]) <= 180;
  if (fault === undefined && isPosition) return { near };
  return { parameter: 'near', message: fault ?? 'must be lat,lng in degrees' };
}

function failOver(x: Exchange, faults: readonly ParameterFault[]): void {
  fail(x, 400, faultsMessage(faults) + hintAfter(x), { faults });
}

function places(x: Exchange, hexcodes: Hexcodes, tag: string): void {
  const { q, near: nearText, limit } = readQuery(x.head.rawQuery, PLACES_NAMES);
  const faults: ParameterFault[] = [];
  const fault = (parameter: string, message: string): void => {
    faults.push({ parameter, message });
  };
  if (q.fault !== undefined) fault('q', q.fault);
  else if (q.text === undefined || q.text.trim() === '') fault('q', 'is required: a name, or its beginning');
  else if (q.text.length > MAX_NAME_UNITS) fault('q', `must have at most ${MAX_NAME_UNITS} characters`);
  const near = readNear(nearText);
  if ('message' in near) faults.push(near);
  const most = limit.text === undefined ? 10 : /^[1-9]\d{0,2}$/.test(limit.text) ? Number(limit.text) : 0;
  if (limit.fault !== undefined || most < 1 || most > MAX_PLACES)
    fault('limit', limit.fault ?? `must be a whole number from 1 to ${MAX_PLACES}`);
  if (faults.length > 0) failOver(x, faults);
  else {
    sendPaid(x, tag, PLACES_POINTS, () => ({
      status: 'OK',
      licence: TOWNS_NOTICE,
      places: findPlaces(hexcodes, q.text ?? '', { limit: most, ...near }),
    }));
  }
}

/** Answers 304, which is free, or takes the price of the answer and sends it. */
function sendPaid(x: Exchange, tag: string, points: number, answerOf: () => object): void {
  const send = keptAnswer(x, tag, JSON_TYPE, KEPT);
  if (send === undefined) return;
  const paid = (): void => {
    x.notes.entry?.done(points, 0);
    send(Buffer.from(JSON.stringify(answerOf())));
  };
  if (admitPoints(x, points, paid)) paid();
}

// GET /v1/reverse: a position to its province and code, in the shape of Nominatim's reverse geocoding, so that products
// with a setting for such a server can name this one. It knows no streets, and says none.

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
