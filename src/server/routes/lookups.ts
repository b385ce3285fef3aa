// GET /v1/hexcodes/{code}: all about one code. GET /v1/hexcodes/{code}/suggestions: valid codes that a mistyped one may
// stand for. GET /v1/places: names of provinces of today and before, towns and landmarks; a list of names, no geocoder.
// All are rare enough for h3-js to run in the handler.

import { holdsKey } from '../../config/mask.js';
import { ADMIN_UNITS } from '../../hexcodes/admin-units.js';
import { area, edge, neighbors, parent } from '../../hexcodes/geometry/cells.js';
import { cellFeature } from '../../hexcodes/geometry/geojson.js';
import { suggest } from '../../hexcodes/geometry/suggest.js';
import type { Hexcodes } from '../../hexcodes/library/hexcodes.js';
import { findPlaces, TOWNS_NOTICE } from '../../hexcodes/library/places.js';
import type { ParameterFault } from '../../hexcodes/wire/params/parameters.js';
import {
  decodeEscapes,
  MALFORMED,
  type Parameter,
  readApiKey,
  readQuery,
} from '../../hexcodes/wire/params/query.js';
import { errorBody, faultsMessage, JSON_TYPE } from '../http/answers.js';
import type { Exchange } from '../http/exchange.js';
import { type BoundaryData, KEPT, keptAnswer } from '../http/freshness.js';
import { requireJson } from '../http/negotiation.js';
import { fail, hintAfter, type Route } from '../http/router.js';
import { admitPoints } from '../ledger/limit-answers.js';
import { withholdKey } from '../observe/log.js';

const CODE_PATH = '/v1/hexcodes/:code';
const SUGGESTIONS_PATH = '/v1/hexcodes/:code/suggestions';

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
  return [
    {
      path: CODE_PATH,
      methods: ['GET'],
      access: 'lookup',
      parameters: [],
      handle: (x) => answer(x, (text) => info(x, hexcodes, text, tag)),
    },
    {
      path: SUGGESTIONS_PATH,
      methods: ['GET'],
      access: 'lookup',
      parameters: ['near'],
      handle: (x) => answer(x, (text) => suggestions(x, hexcodes, text, tag)),
    },
    {
      path: '/v1/places',
      methods: ['GET'],
      access: 'lookup',
      parameters: PLACES_NAMES,
      handle: (x) => {
        if (requireJson(x)) places(x, hexcodes, tag);
      },
    },
  ];
}

/** Calls `handle` with the decoded code of the path; answers 406, and 400 for broken escapes, itself. */
function answer(x: Exchange, handle: (text: string) => void): void {
  if (!requireJson(x)) return;
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
