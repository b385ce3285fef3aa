// The headers by which a request describes its body and selects an answer: media types, codings, and the version of
// the boundary data.
import { JSON_TYPE } from './answers.js';
import type { Exchange } from './exchange.js';
import { fail, type Route } from './router.js';

/** An entry of Accept or Accept-Encoding, in lower case. */
export interface Preference {
  readonly name: string;
  /** 0 to 1; 0 refuses. */
  readonly quality: number;
}

/** 0 to 1; more than three decimals are read, too. */
const QUALITY = /^q\s*=\s*(0?\.\d+|[01]|0\.|1\.0*)$/;

/** The entries of Accept or Accept-Encoding in order. @param unread the quality of one that is not 0 to 1 */
export function preferences(header: string, unread: 0 | 1): Preference[] {
  return header
    .toLowerCase()
    .split(',')
    .map((entry) => {
      const [name = '', ...parameters] = entry.split(';').map((part) => part.trim());
      const said = parameters.find((p) => /^q\s*=/.test(p));
      if (said === undefined) return { name, quality: 1 };
      return { name, quality: Number(QUALITY.exec(said)?.[1] ?? unread) };
    })
    .filter(({ name }) => name !== '');
}

const ANYTHING: Preference = { name: '*/*', quality: 1 };

/**
 * The media ranges of an Accept header. `*`, which old Java clients send, is any type; entries that are not a range
 * are ignored, and a header without a range accepts anything, like an absent one (RFC 9110, 12.5.1).
 */
export function acceptedTypes(accept: string): Preference[] {
  const ranges = preferences(accept, 1)
    .map(({ name, quality }) => ({ name: name === '*' ? ANYTHING.name : name, quality }))
    .filter(({ name }) => name.includes('/'));
  return ranges.length === 0 ? [ANYTHING] : ranges;
}

/** The quality of a media type by the most specific entry that names it (RFC 9110, 12.5.1); 0 if none does. */
export function qualityOf(type: string, accepted: readonly Preference[]): number {
  const group = `${type.slice(0, type.indexOf('/'))}/*`;
  for (const range of [type, group, '*/*']) {
    const entry = accepted.find(({ name }) => name === range);
    if (entry !== undefined) return entry.quality;
  }
  return 0;
}

/**
 * Whether Accept names the type of errors and not this one. Generated clients send it to operations whose answers are
 * not JSON, so it rejects nothing.
 */
export function wantsErrorsOnly(accepted: readonly Preference[], type: string): boolean {
  return accepted.every(({ name }) => name === JSON_TYPE) && type !== JSON_TYPE;
}

/** True if the request accepts JSON; otherwise it is answered 406. */
export function requireJson(x: Exchange): boolean {
  const { accept } = x.head;
  // Nearly every client sends one of these two.
  if (accept === '' || accept === '*/*' || qualityOf(JSON_TYPE, acceptedTypes(accept)) > 0) return true;
  fail(x, 406, 'the answer is application/json, which the Accept header refuses');
  return false;
}

/** The media type of a Content-Type, in lower case; undefined if the charset beside it is not UTF-8. */
export function utf8TypeOf(contentType: string): string | undefined {
  const [type = '', ...parameters] = contentType.toLowerCase().split(';');
  const charsets = parameters.map((p) => /^\s*charset\s*=\s*"?([^"\s]*)/.exec(p)?.[1]);
  const isUtf8 = charsets.every((c) => c === undefined || c === 'utf-8' || c === 'utf8' || c === 'us-ascii');
  return isUtf8 ? type.trim() : undefined;
}

/** Whether a Content-Type is JSON in UTF-8, by any of its names; an absent one is. */
export function isJson(contentType: string): boolean {
  if (contentType === '' || contentType === JSON_TYPE) return true;
  const type = utf8TypeOf(contentType);
  return type === JSON_TYPE || type === 'text/json' || /^application\/[\w.-]+\+json$/.test(type ?? '');
}

/**
 * The coding of an answer by Accept-Encoding (RFC 9110, 12.5.3): of the highest quality, of equal ones the first
 * offered. No coding is the last choice unless the header names it, and what is sent where it refuses all.
 * @param offered smallest first
 */
export function encodingFor<T extends 'br' | 'gzip'>(accepted: string, offered: readonly T[]): T | 'plain' {
  const entries = preferences(accepted, 0).map(({ name, quality }) => ({
    name: name === 'x-gzip' ? 'gzip' : name,
    quality,
  }));
  const qualityFor = (coding: string): number | undefined =>
    (entries.find(({ name }) => name === coding) ?? entries.find(({ name }) => name === '*'))?.quality;
  const best = Math.max(0, ...offered.map((coding) => qualityFor(coding) ?? 0));
  if (best === 0 || (qualityFor('identity') ?? 0) > best) return 'plain';
  return offered.find((coding) => qualityFor(coding) === best)!;
}

// Two versions of the boundary data side by side, for the time after a change of borders: a request whose header
// Hexcodes-Data names one is answered by it, and answers name the version used. A version is the SHA-256 of its
// index, as /v1/meta shows it, or at least its first 8 digits.

/** Digits by which answers name a version. */
const SHOWN_DIGITS = 12;
const DATA_VERSION = /^[0-9a-f]{8,64}$/;
/** Paths that do not depend on boundary data, or name all versions. */
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
   * Routes selected by the header.
   * @param made the same routes for each version, in the order of the constructor
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

  /** Routes of the current version, which reject a request for another. */
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

  /** Index of the requested version among the first `count`; undefined after an answer was sent. */
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
