// GET /basemap/{version}/{z}/{x}/{y}: tiles of the operator's archive, for the page. They need no key, as the page.
import { OVERLOADED_MESSAGE } from '../../hexcodes/wire/job.js';
import type { Exchange } from '../exchange.js';
import { acceptsCoding } from '../media-types.js';
import { fail, failUnavailable, type Route } from '../router.js';
import { type BasemapArchive, type BasemapTile, unpacked } from './archive.js';

const PATH = '/basemap';
/** Tiles that are read at once; a page asks for some twenty. */
const MOST_READING = 200;
const DEADLINE_MS = 30_000;
/** The version is in the path, so a tile is never another. */
const LINES =
  '\r\nCache-Control: public, max-age=31536000, immutable\r\nVary: Accept-Encoding\r\nX-Content-Type-Options: nosniff';
const NUMBER = /^\d{1,8}$/;

/** Address of the tiles of an archive, as MapLibre wants it. */
export const tilesPath = ({ version }: BasemapArchive): string => `${PATH}/${version}/{z}/{x}/{y}`;

interface BasemapDeps {
  readonly basemap: BasemapArchive | undefined;
}

export function basemapRoutes({ basemap }: BasemapDeps): Route[] {
  if (basemap === undefined) return [];
  let reading = 0;
  const handle = (x: Exchange): void => {
    const [version, ...texts] = [0, 1, 2, 3].map((at) => x.head.parameter(at));
    const [zoom = -1, column = -1, row = -1] = texts.map((text) => (NUMBER.test(text) ? Number(text) : -1));
    const isTile = zoom >= 0 && zoom <= 24 && [column, row].every((at) => at >= 0 && at < 2 ** zoom);
    if (version !== basemap.version || !isTile) {
      fail(x, 404, 'there is no such tile; the page at / names those of this map');
      return;
    }
    if (reading >= MOST_READING) {
      failUnavailable(x, OVERLOADED_MESSAGE);
      return;
    }
    const accepted = x.head.header('accept-encoding');
    x.deadline(DEADLINE_MS);
    reading++;
    const send = async (tile: BasemapTile | undefined): Promise<void> => {
      if (tile === undefined) {
        if (x.state !== 'over') x.send(204, '', '', LINES);
        return;
      }
      const isPacked = tile.encoding !== 'plain' && acceptsCoding(accepted, tile.encoding);
      const bytes = isPacked ? tile.bytes : await unpacked(tile);
      const lines = isPacked ? `${LINES}\r\nContent-Encoding: ${tile.encoding}` : LINES;
      if (x.state !== 'over') x.send(200, basemap.type, bytes, lines);
    };
    basemap
      .tile(zoom, column, row)
      .then(send)
      .catch((error: unknown) => x.state === 'over' || x.reject(error))
      .finally(() => reading--);
  };
  return [{ path: `${PATH}/:version/:z/:x/:y`, methods: ['GET'], access: 'open', handle }];
}
