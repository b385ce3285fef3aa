// GET /v1/grid/{z}/{x}/{y}: the cells that touch a tile of a map, with their codes, as GeoJSON or as a vector tile.
import { cellCollection } from '../../hexcodes/geometry/geojson.js';
import type { Hexcodes } from '../../hexcodes/library/hexcodes.js';
import { OVERLOADED_MESSAGE } from '../../hexcodes/wire/status-messages.js';
import { faultsMessage, JSON_TYPE } from '../answers.js';
import { admitPoints } from '../ledger/limit-answers.js';
import { preferences, qualityOf } from '../media-types.js';
import { fail, failUnavailable, type Router } from '../router.js';
import { entityTag, KEPT, keptAnswer } from '../routes/freshness.js';
import type { Exchange } from '../transport/exchange.js';
import { KeptBodies } from './kept-bodies.js';
import { OneATurn } from './one-a-turn.js';
import { codesIn, RESOLUTION_OF_ZOOM, readTile, type Tile } from './tile.js';
import { vectorTileOf } from './vector-tile.js';

const TILE_TYPE = 'application/vnd.mapbox-vector-tile';
/** Memory of kept tiles: a few hundred, of a city at some zooms. */
const KEPT_BYTES = 8 * 2 ** 20;
/** Tiles that wait to be drawn, a second of work altogether. */
const MOST_WAITING = 200;
const DRAWING_DEADLINE_MS = 30_000;
const ENDINGS: Readonly<Record<string, string>> = { '.mvt': TILE_TYPE, '.geojson': JSON_TYPE };

/** @param tag the entity tag of answers that depend on the version and its data only */
export function addGrid(router: Router, hexcodes: Hexcodes, tag: string): void {
  const tags: Readonly<Record<string, string>> = { [JSON_TYPE]: tag, [TILE_TYPE]: entityTag(tag, TILE_TYPE) };
  const bodies = new KeptBodies(KEPT_BYTES);
  const drawing = new OneATurn(MOST_WAITING);
  router.add({
    path: '/v1/grid/:z/:x/:y',
    methods: ['GET'],
    access: 'lookup',
    handle: (x) => {
      const [, row = '', ending = ''] = /^(.*?)(\.[a-z]+)?$/.exec(x.parameter(2)) ?? [];
      const type = typeFor(x, ending);
      if (type === null) return;
      const tile =
        type === undefined
          ? [{ parameter: 'y', message: 'may end in .mvt or .geojson' }]
          : readTile(x.parameter(0), x.parameter(1), row);
      if (type === undefined || Array.isArray(tile)) {
        const faults = tile as Exclude<typeof tile, Tile>;
        fail(x, 400, faultsMessage(faults), { faults });
        return;
      }
      const name = `${tile.zoom}/${tile.x}/${tile.y} ${type}`;
      const send = keptAnswer(x, tags[type]!, type, KEPT, 'Accept, X-API-Key');
      if (send === undefined) return;
      /** Takes a point for each code, before the work, and sends the tile. */
      const pay = (points: number, bodyOf: () => Uint8Array): void => {
        const paid = (): void => {
          x.entry?.done(points, 0);
          send(bodyOf());
        };
        if (admitPoints(x, points, paid)) paid();
      };
      const kept = bodies.find(name);
      if (kept !== undefined) {
        pay(kept.points, () => kept.bytes);
        return;
      }
      const draw = (): void => {
        if (x.state === 'over') return;
        const codes = codesIn(hexcodes, tile);
        pay(codes.length, () => {
          const bytes = bodies.find(name)?.bytes ?? made(hexcodes, tile, type, codes);
          bodies.keep(name, { bytes, points: codes.length });
          return bytes;
        });
      };
      if (drawing.add(draw, (error) => x.reject(error))) x.deadline(DRAWING_DEADLINE_MS);
      else failUnavailable(x, OVERLOADED_MESSAGE);
    },
  });
}

/** The media type of the answer; undefined for an ending that there is not, null where the request was answered 406. */
function typeFor(x: Exchange, ending: string): string | undefined | null {
  const named = ENDINGS[ending];
  if (named === undefined && ending !== '') return undefined;
  const accepted = preferences(x.accept === '' ? '*/*' : x.accept);
  const offered = named === undefined ? [JSON_TYPE, TILE_TYPE] : [named];
  const [best] = offered
    .map((type) => ({ type, quality: qualityOf(type, accepted) }))
    .sort((a, b) => b.quality - a.quality);
  if (best!.quality > 0) return best!.type;
  fail(x, 406, `the answer is ${offered.join(' or ')}, which the Accept header refuses`);
  return null;
}

function made(hexcodes: Hexcodes, tile: Tile, type: string, codes: readonly string[]): Uint8Array {
  const { features } = cellCollection(hexcodes, codes);
  if (type === TILE_TYPE) return vectorTileOf(tile, features);
  const resolution = RESOLUTION_OF_ZOOM[tile.zoom];
  return Buffer.from(JSON.stringify({ type: 'FeatureCollection', status: 'OK', resolution, features }));
}
