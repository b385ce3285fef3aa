// GET /basemap/{version}: byte ranges of the operator's archive, for the page. They need no key, as the page.
import { OVERLOADED_MESSAGE } from '../../hexcodes/wire/job.js';
import type { Exchange } from '../http/exchange.js';
import { fail, failUnavailable, type Route } from '../http/router.js';
import type { BasemapArchive } from './basemap-archive.js';

/** Ranges that are read at once; a page asks for some twenty. */
const MAX_READING = 200;
/** Tiles and directories are smaller. */
const MAX_RANGE_BYTES = 4 * 2 ** 20;
const DEADLINE_MS = 30_000;
const RANGE = /^bytes=(\d{1,15})-(\d{1,15})$/;
/** The version is in the path, so its bytes never change. */
const LINES =
  '\r\nCache-Control: public, max-age=31536000, immutable\r\nAccept-Ranges: bytes\r\nX-Content-Type-Options: nosniff';

/** Path of an archive. */
export const archivePath = ({ version }: BasemapArchive): string => `/basemap/${version}`;

interface BasemapDeps {
  readonly basemap: BasemapArchive | undefined;
}

export function basemapRoutes({ basemap }: BasemapDeps): Route[] {
  if (basemap === undefined) return [];
  const { sizeBytes } = basemap;
  let reading = 0;
  const handle = (x: Exchange): void => {
    if (x.head.parameter(0) !== basemap.version) {
      fail(x, 404, 'there is no such map; the page at / names the one of this service');
      return;
    }
    const [, first, last] = RANGE.exec(x.head.header('range')) ?? [];
    const start = Number(first);
    const end = Math.min(Number(last), sizeBytes - 1);
    if (!(start <= end && end - start < MAX_RANGE_BYTES)) {
      fail(
        x,
        416,
        `ask for one range of at most ${MAX_RANGE_BYTES} bytes, as Range: bytes=0-16383; the map has ${sizeBytes} bytes`,
        { headerLines: `\r\nContent-Range: bytes */${sizeBytes}` },
      );
      return;
    }
    if (reading >= MAX_READING) {
      failUnavailable(x, OVERLOADED_MESSAGE);
      return;
    }
    x.deadline(DEADLINE_MS);
    reading++;
    basemap
      .bytes(start, end - start + 1)
      .then((bytes) => {
        const range = `\r\nContent-Range: bytes ${start}-${end}/${sizeBytes}`;
        if (x.state !== 'over') x.send(206, 'application/octet-stream', bytes, `${LINES}${range}`);
      })
      .catch((error: unknown) => x.state === 'over' || x.reject(error))
      .finally(() => reading--);
  };
  return [{ path: '/basemap/:version', methods: ['GET'], access: 'open', handle }];
}
