// GET /v1/places: names of provinces of today and before, towns and landmarks. A list of names, no geocoder.

import type { Hexcodes } from '../../hexcodes/library/hexcodes.js';
import { findPlaces, TOWNS_NOTICE } from '../../hexcodes/library/places.js';
import { readQuery } from '../../hexcodes/wire/params/query.js';
import { faultsMessage, JSON_TYPE } from '../answers.js';
import type { BoundaryData } from '../boundary-data.js';
import type { Exchange } from '../exchange.js';
import { KEPT, keptAnswer } from '../freshness.js';
import { admitPoints } from '../ledger/limit-answers.js';
import { requireJson } from '../media-types.js';
import { fail, hintBehind, type Route } from '../router.js';

/** The price of an answer in points (docs/http.md, Limits of a key). */
const POINTS = 1;
const MAX_UNITS = 100;
const MAX_NAMES = 100;
const NAMES = ['q', 'near', 'limit'] as const;
const NUMBER = '-?(?:\\d+(?:\\.\\d*)?|\\.\\d+)(?:[eE][+-]?\\d+)?';
const NEAR = new RegExp(`^(${NUMBER}),(${NUMBER})$`);

interface PlacesDeps {
  readonly hexcodes: Hexcodes;
  readonly boundaries: BoundaryData;
}

export function placesRoutes({ hexcodes, boundaries: { tag } }: PlacesDeps): Route[] {
  return [
    {
      path: '/v1/places',
      methods: ['GET'],
      access: 'lookup',
      parameters: NAMES,
      handle: (x) => {
        if (requireJson(x)) answer(x, hexcodes, tag);
      },
    },
  ];
}

function answer(x: Exchange, hexcodes: Hexcodes, tag: string): void {
  const { q, near, limit } = readQuery(x.head.rawQuery, NAMES);
  const faults: { parameter: string; message: string }[] = [];
  const fault = (parameter: string, message: string): void => {
    faults.push({ parameter, message });
  };
  if (q.fault !== undefined) fault('q', q.fault);
  else if (q.text === undefined || q.text.trim() === '') fault('q', 'is required: a name, or its beginning');
  else if (q.text.length > MAX_UNITS) fault('q', `must have at most ${MAX_UNITS} characters`);
  const match = near.text === undefined ? null : NEAR.exec(near.text);
  const [latDeg, lngDeg] = [Number(match?.[1]), Number(match?.[2])];
  const isPosition = match !== null && Math.abs(latDeg) <= 90 && Math.abs(lngDeg) <= 180;
  if (near.fault !== undefined || (near.text !== undefined && !isPosition))
    fault('near', near.fault ?? 'must be lat,lng in degrees');
  const most = limit.text === undefined ? 10 : /^[1-9]\d{0,2}$/.test(limit.text) ? Number(limit.text) : 0;
  if (limit.fault !== undefined || most < 1 || most > MAX_NAMES)
    fault('limit', limit.fault ?? `must be a whole number from 1 to ${MAX_NAMES}`);
  if (faults.length > 0) {
    fail(x, 400, faultsMessage(faults) + hintBehind(x), { faults });
    return;
  }
  const send = keptAnswer(x, tag, JSON_TYPE, KEPT);
  if (send === undefined) return;
  const paid = (): void => {
    x.notes.entry?.done(POINTS, 0);
    const options = { limit: most, ...(isPosition ? { near: [latDeg, lngDeg] as const } : {}) };
    const places = findPlaces(hexcodes, q.text ?? '', options);
    send(Buffer.from(JSON.stringify({ status: 'OK', licence: TOWNS_NOTICE, places })));
  };
  if (admitPoints(x, POINTS, paid)) paid();
}
