// GET /v1/meta: versions and boundary data. GET /v1/admin-units: all provinces; /v1/admin-units/{code}: one, with its
// boundary; /v1/admin-units/former: those before July 2025. GET /openapi.json, /asyncapi.json and /docs: the service
// described for programs and for people, without a key.
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { ADMIN_UNITS, type AdminUnit } from '../../hexcodes/admin-units.js';
import type { IndexMeta } from '../../hexcodes/kernel/index-file.js';
import { VERSION } from '../../hexcodes/version.js';
import { NO_FORMER } from '../../hexcodes/wire/params/parameters.js';
import { JSON_TYPE } from '../answers.js';
import type { BoundaryData } from '../boundary-data.js';
import type { Exchange } from '../exchange.js';
import { ASKED_AGAIN, entityTag, KEPT, sendKept, sendTagged } from '../freshness.js';
import { encodingFor, preferences, qualityOf, requireJson } from '../media-types.js';
import { fail, type Route } from '../router.js';
import type { UwsBuild } from '../transport/load-uws.js';
import { API_PAGE, API_PAGE_POLICY, ASYNCAPI, OPENAPI } from './documents.js';

/** Headers of pages: no page is a frame elsewhere, guessed to be of another type, or told to other hosts. */
const PAGE_LINES = [
  `Content-Security-Policy: ${API_PAGE_POLICY}`,
  'X-Content-Type-Options: nosniff',
  'X-Frame-Options: DENY',
  'Referrer-Policy: no-referrer',
];

export function descriptionRoutes(): Route[] {
  return [
    documentRoute('/openapi.json', JSON_TYPE, OPENAPI, []),
    documentRoute('/asyncapi.json', JSON_TYPE, ASYNCAPI, []),
    documentRoute('/docs', 'text/html; charset=utf-8', API_PAGE, PAGE_LINES),
  ];
}

/** A level that takes milliseconds. */
const BROTLI = { [constants.BROTLI_PARAM_QUALITY]: 6 };

function documentRoute(path: string, type: string, text: string, lines: readonly string[]): Route {
  const plain = Buffer.from(text);
  const plainTag = entityTag(plain);
  /** Bodies by their encoding, each compressed when it is first asked for. */
  const bodies: { plain: Uint8Array; br?: Uint8Array; gzip?: Uint8Array } = { plain };
  const bodyOf = (encoding: 'plain' | 'br' | 'gzip'): Uint8Array => {
    if (encoding === 'br') bodies.br ??= brotliCompressSync(plain, { params: BROTLI });
    if (encoding === 'gzip') bodies.gzip ??= gzipSync(plain);
    return bodies[encoding] ?? plain;
  };
  const plainType = type.split(';')[0] as string;
  return {
    path,
    methods: ['GET'],
    access: 'open',
    handle: (x) => {
      const { accept } = x.head;
      if (accept !== '' && qualityOf(plainType, preferences(accept)) === 0) {
        fail(x, 406, `the answer is ${plainType}, which the Accept header refuses`);
        return;
      }
      const encoding = encodingFor(x.head.header('accept-encoding'));
      const tag = encoding === 'plain' ? plainTag : plainTag.replace(/"$/, `.${encoding}"`);
      // Asked again each time, and answered 304 until a new version is installed.
      const all = [`ETag: ${tag}`, 'Cache-Control: no-cache', 'Vary: Accept-Encoding', ...lines];
      if (encoding !== 'plain') all.push(`Content-Encoding: ${encoding}`);
      sendTagged(x, tag, type, () => bodyOf(encoding), all.map((line) => `\r\n${line}`).join(''));
    },
  };
}

const CODE_FORMAT = 1;

interface MetaDeps {
  readonly boundaries: BoundaryData;
  /** Those before a change of borders, if requests may ask for them. */
  readonly before: BoundaryData | undefined;
  readonly adapter: { readonly build: UwsBuild };
}

export function metaRoutes({ boundaries, before, adapter: { build } }: MetaDeps): Route[] {
  const { meta, tag, formerProvinces } = boundaries;
  const metaBody = bytesOf({
    status: 'OK',
    service: { name: 'hexcodes', version: VERSION },
    code_format: CODE_FORMAT,
    transport: { name: build.name, version: build.version },
    boundary_data: describe(boundaries),
    ...(before && { previous_boundary_data: describe(before) }),
  });
  const tableBody = bytesOf({ status: 'OK', admin_units: ADMIN_UNITS.map(rowOf) });
  /** Bodies of some 100 KB, kept as the bytes that leave: writing one again costs more than all else of the request. */
  const unitBodies = new Map<string, Uint8Array>();

  const formerBody = formerProvinces === null ? undefined : formerTable(formerProvinces, meta);
  const unitBody = (unit: AdminUnit): Uint8Array => {
    let body = unitBodies.get(unit.code);
    if (body === undefined) {
      const geometry = boundaries.geometryOf(ADMIN_UNITS.indexOf(unit));
      const boundary = { type: 'Feature', properties: rowOf(unit), geometry };
      body = bytesOf({ status: 'OK', ...rowOf(unit), boundary, notice: meta.notice });
      unitBodies.set(unit.code, body);
    }
    return body;
  };
  const jsonRoute = (path: string, answer: (x: Exchange) => void): Route => ({
    path,
    methods: ['GET'],
    access: 'key',
    handle: (x) => {
      if (requireJson(x)) answer(x);
    },
  });
  const metaTag = entityTag(metaBody);
  return [
    // Who asks for the versions wants those of now; the build of uWS is among them.
    jsonRoute('/v1/meta', (x) => sendKept(x, metaTag, JSON_TYPE, () => metaBody, ASKED_AGAIN)),
    jsonRoute('/v1/admin-units', (x) => sendKept(x, tag, JSON_TYPE, () => tableBody, KEPT)),
    jsonRoute('/v1/admin-units/former', (x) => {
      if (formerBody === undefined) fail(x, 400, `the list ${NO_FORMER}`);
      else sendKept(x, tag, JSON_TYPE, () => formerBody, KEPT);
    }),
    jsonRoute('/v1/admin-units/:code', (x) => {
      const code = x.head.parameter(0).toUpperCase();
      const unit = ADMIN_UNITS.find((each) => each.code === code);
      if (unit === undefined) fail(x, 404, 'there is no province or city of this code');
      else sendKept(x, tag, JSON_TYPE, () => unitBody(unit), KEPT);
    }),
  ];
}

function describe({ meta, sha256 }: BoundaryData): object {
  return {
    source: meta.source.name,
    date: meta.source.date,
    licence: meta.licence,
    notice: meta.notice,
    sha256,
    ...bandsMember(meta),
  };
}

function bytesOf(body: object): Uint8Array {
  return Buffer.from(JSON.stringify(body));
}

/** How sure provinces are by the distance to a border; nothing where nobody has measured it. */
function bandsMember({ bands }: IndexMeta): object {
  if (bands === undefined) return {};
  return { bands: bands.map(([below_m, certainty]) => ({ below_m, certainty })) };
}

/** One row a unit, in the order of the index. */
function formerTable(names: readonly string[], { units }: IndexMeta): Uint8Array {
  const rows = names.map((name, unit) => {
    const { code, name: province } = ADMIN_UNITS[units[unit]!.admin]!;
    return { former_province: name, admin_code: code, name: province };
  });
  return bytesOf({ status: 'OK', former_provinces: rows });
}

function rowOf({ code, name, mergedUnits }: AdminUnit): object {
  return { admin_code: code, name, merged_units: mergedUnits };
}
