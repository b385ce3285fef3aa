// The boundary data in use, as /v1/meta and /v1/admin-units show them.
import { createHash } from 'node:crypto';
import { ProvinceBorders } from '../../hexcodes/geometry/province-borders.js';
import { type IndexMeta, readIndexMeta } from '../../hexcodes/kernel/index-file.js';
import type { HexcodesData } from '../../hexcodes/library/hexcodes.js';
import { VERSION } from '../../hexcodes/version.js';
import type { Exchange } from './exchange.js';
import { entityTag } from './freshness.js';
import { fail, type Route } from './router.js';

/** The boundary data in use. */
export interface BoundaryData {
  readonly meta: IndexMeta;
  readonly sha256: string;
  /** The entity tag of every answer that depends on nothing but this version and its data. */
  readonly tag: string;
  /** The provinces before July 2025 by unit of the index; null where it lacks them. */
  readonly formerProvinces: readonly string[] | null;
  /** The area of a province, by its admin number, as a GeoJSON geometry. */
  geometryOf(adminNumber: number): unknown;
}

export function boundaryData(
  { index, reach }: HexcodesData,
  formerProvinces: readonly string[] | null,
): BoundaryData {
  let borders: ProvinceBorders | undefined;
  return {
    meta: readIndexMeta(index),
    formerProvinces,
    sha256: createHash('sha256').update(index).digest('hex'),
    tag: entityTag(VERSION, index, reach),
    geometryOf: (admin) => {
      borders ??= new ProvinceBorders(index);
      return borders.ofAdmin(admin);
    },
  };
}

// Two versions of the boundary data side by side, for the time after a change of borders: a request whose header
// Hexcodes-Data names one is answered by it, and answers name the one that was used. A version is the SHA-256 of its
// index, as /v1/meta shows it, or 8 digits of its beginning and more.

/** Digits by which answers name a version. */
const SHOWN_DIGITS = 12;
const DATA_VERSION = /^[0-9a-f]{8,64}$/;
/** Paths that say nothing by boundary data, or name all of them. */
const FREE = ['/v1/meta', '/v1/usage'];

export class DataVersions {
  readonly #shown: readonly string[];
  readonly #lines: readonly string[];

  /** @param sha256s of the indexes, in hexadecimal: of the current one, then of the previous one if there is one */
  constructor(private readonly sha256s: readonly string[]) {
    this.#shown = sha256s.map((sha256) => sha256.slice(0, SHOWN_DIGITS));
    this.#lines = this.#shown.map((version) => `\r\nHexcodes-Data: ${version}`);
  }

  /**
   * Routes that the header chooses among.
   * @param made the same routes by each version, in the order of the constructor
   */
  chosen(made: readonly (readonly Route[])[]): Route[] {
    return made[0]!.map((route, n) => {
      const handles = made.map((routes) => routes[n]!.handle);
      return {
        ...route,
        handle: (x, key) => {
          const version = this.#versionOf(x, handles.length);
          if (version !== undefined) handles[version]!(x, key);
        },
      };
    });
  }

  /** Routes that are answered by the current version, and refuse a request for another. */
  current(routes: readonly Route[]): Route[] {
    const isAllowed = (x: Exchange): boolean => x.head.dataVersion === '' || this.#versionOf(x, 1) === 0;
    return routes.map((route) => {
      if (route.access === 'open' || FREE.includes(route.path)) return route;
      const { handle, socket } = route;
      return {
        ...route,
        handle: (x, key) => {
          if (isAllowed(x)) handle(x, key);
        },
        ...(socket && {
          socket: {
            ...socket,
            upgrade: (x, key) => {
              if (isAllowed(x)) socket.upgrade(x, key);
            },
          },
        }),
      };
    });
  }

  /** The number of the version that the request asks for, among the first `count`; undefined where it is answered. */
  #versionOf(x: Exchange, count: number): number | undefined {
    const asked = x.head.dataVersion;
    const found = DATA_VERSION.test(asked)
      ? this.sha256s.findIndex((sha256) => sha256.startsWith(asked))
      : -1;
    const version = asked === '' ? 0 : found;
    if (version < 0 || version >= count) {
      const there = `${this.#shown.slice(0, count).join(' and ')} ${count > 1 ? 'are' : 'is'} there`;
      const message = `must be a version of the boundary data that answers here, 8 to 64 hexadecimal digits: ${there}`;
      const faults = [{ parameter: 'Hexcodes-Data', message }];
      fail(x, 400, `Hexcodes-Data ${message}`, { faults, close: x.head.bodySizeBytes !== 0 });
      return undefined;
    }
    if (asked === '' && this.sha256s.length === 1) return 0;
    x.notes.dataLine = this.#lines[version]!;
    x.headerLines += x.notes.dataLine;
    return version;
  }
}
