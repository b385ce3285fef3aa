// GET /v1/meta: versions and boundary data. GET /v1/admin-units: all provinces; /v1/admin-units/{code}: one, with its
// boundary; /v1/admin-units/former: those before July 2025.

import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import type { ServeConfig } from '../../config/config.js';
import { ADMIN_UNITS, type AdminUnit } from '../../hexcodes/admin-units.js';
import { NO_FORMER } from '../../hexcodes/extras.js';
import type { IndexMeta } from '../../hexcodes/kernel/index-file.js';
import { VERSION } from '../../hexcodes/version.js';
import { JSON_TYPE } from '../http/answers.js';
import type { Exchange } from '../http/exchange.js';
import {
  ASKED_AGAIN,
  type BoundaryData,
  type CompressedText,
  compressedText,
  entityTag,
  KEPT,
  keptAnswer,
  sendCompressed,
} from '../http/freshness.js';
import { acceptedTypes, qualityOf, requireJson } from '../http/negotiation.js';
import { fail, type Route } from '../http/router.js';
import type { KeyLedger } from '../ledger/key-ledger.js';
import type { Ledger } from '../ledger/ledger.js';
import type { OpenLedger } from '../ledger/open-ledger.js';
import type { UwsBuild } from '../transport/load-uws.js';
import { ASYNCAPI, OPENAPI } from './documents.js';

const CODE_FORMAT = 1;

interface MetaDeps {
  readonly boundaries: BoundaryData;
  /** The boundary data before a change of borders, if requests may ask for it. */
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
  /** Bodies of some 100 KB, kept as bytes: writing one again costs more than the rest of the request. */
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
    access: 'key',
    handle: (x) => {
      if (requireJson(x)) answer(x);
    },
  });
  const metaTag = entityTag(metaBody);
  return [
    // Caches must revalidate: the versions must be the current ones, and the build of uWS is among them.
    jsonRoute('/v1/meta', (x) => keptAnswer(x, metaTag, JSON_TYPE, ASKED_AGAIN)?.(metaBody)),
    jsonRoute('/v1/admin-units', (x) => keptAnswer(x, tag, JSON_TYPE, KEPT)?.(tableBody)),
    jsonRoute('/v1/admin-units/former', (x) => {
      if (formerBody === undefined) fail(x, 400, `the list ${NO_FORMER}`);
      else keptAnswer(x, tag, JSON_TYPE, KEPT)?.(formerBody);
    }),
    jsonRoute('/v1/admin-units/:code', (x) => {
      const code = x.head.parameter(0).toUpperCase();
      const unit = ADMIN_UNITS.find((each) => each.code === code);
      if (unit === undefined) fail(x, 404, 'there is no province or city of this code');
      else keptAnswer(x, tag, JSON_TYPE, KEPT)?.(unitBody(unit));
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

/** How sure provinces are by the distance to a border; absent if it was not measured. */
function bandsMember({ bands, bandsNote }: IndexMeta): object {
  if (bands === undefined) return {};
  const rows = bands.map(([below_m, certainty]) => ({ below_m, certainty }));
  return { bands: rows, ...(bandsNote === undefined ? {} : { bands_note: bandsNote }) };
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

// GET /openapi.json, /asyncapi.json and /docs: the service described for programs and for people, without a key, and
// below /docs the documents of the project as pages.

type DescribedAddress = Pick<ServeConfig, 'publicUrl' | 'host' | 'port'>;

export function descriptionRoutes({ config }: { readonly config: DescribedAddress }): Route[] {
  const address = addressOf(config);
  const described = compressedText(JSON_TYPE, withAddress(OPENAPI, address), []);
  const stream = compressedText(JSON_TYPE, withSocketAddress(ASYNCAPI, new URL(address)), []);
  return [
    routeOf('/openapi.json', described),
    routeOf('/v1/openapi.json', described),
    routeOf('/asyncapi.json', stream),
    ...documentRoutes(),
  ];
}

/** Wildcard addresses, and port 0, which is not known yet, become those of a service on this machine. */
function addressOf({ publicUrl, host, port }: DescribedAddress): string {
  if (publicUrl !== undefined) return publicUrl;
  const name = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `http://${name.includes(':') ? `[${name}]` : name}:${port === 0 ? 8080 : port}`;
}

/** The document with the address by which clients reach the service: generators need an absolute one. */
const withAddress = (document: string, url: string): string =>
  document.replace(/"servers":\[[^\]]*\]/, () => `"servers":${JSON.stringify([{ url }])}`);

/** The document of the stream with that address. */
function withSocketAddress(text: string, { host, protocol }: URL): string {
  const document = JSON.parse(text) as { readonly servers: { readonly here: object } };
  Object.assign(document.servers.here, { host, protocol: protocol === 'https:' ? 'wss' : 'ws' });
  return JSON.stringify(document);
}

/** Headers of pages: no framing by other sites, no guessing of the type, no referrer. */
const linesOfPage = (policy = "default-src 'none'"): string[] => [
  `Content-Security-Policy: ${policy}`,
  'X-Content-Type-Options: nosniff',
  'X-Frame-Options: DENY',
  'Referrer-Policy: no-referrer',
];

/** The file written by tools/packages/documents.mjs: the page /docs as '', and those below it. */
type DocumentPages = Readonly<
  Record<string, { readonly type: string; readonly text: string; readonly policy?: string }>
>;

/** The script of the page /docs, packed at build time: packing it here would hold all requests for 300 ms. */
function viewerScript(): CompressedText {
  const folder = new URL('../../viewer/', import.meta.url);
  const [br, gzip] = [
    readFileSync(new URL('viewer.js.br', folder)),
    readFileSync(new URL('viewer.js.gz', folder)),
  ];
  let plain: Uint8Array | undefined;
  return {
    ...{ type: 'text/javascript; charset=utf-8', tag: entityTag(br), lines: linesOfPage(), br, gzip },
    get plain() {
      plain ??= gunzipSync(gzip);
      return plain;
    },
  };
}

function documentRoutes(): Route[] {
  // Read at the start, when the files of this version are present, and parsed at the first request.
  const bytes = readFileSync(new URL('../../documents.json', import.meta.url));
  const viewer = viewerScript();
  let pages: Map<string, CompressedText> | undefined;
  const pageOf = (name: string): CompressedText | undefined => {
    if (pages === undefined) {
      const entries = Object.entries(JSON.parse(bytes.toString()) as DocumentPages);
      pages = new Map(
        entries.map(([each, { type, text, policy }]) => [
          each,
          compressedText(type, text, linesOfPage(policy)),
        ]),
      );
      pages.set('viewer.js', viewer);
    }
    return pages.get(name);
  };
  const route = (path: string, nameOf: (x: Exchange) => string): Route => ({
    path,
    access: 'open',
    handle: (x) => {
      const page = pageOf(nameOf(x));
      if (page === undefined) fail(x, 404, 'there is no such document; the page /docs/documents lists them');
      else send(x, page);
    },
  });
  return [
    route('/docs', () => ''),
    route('/docs/:name', ({ head }) => head.parameter(0)),
    route('/docs/:folder/:name', ({ head }) => `${head.parameter(0)}/${head.parameter(1)}`),
  ];
}

function routeOf(path: string, sent: CompressedText): Route {
  return { path, access: 'open', handle: (x) => send(x, sent) };
}

function send(x: Exchange, sent: CompressedText): void {
  const { accept } = x.head;
  const plainType = sent.type.split(';')[0] as string;
  if (qualityOf(plainType, acceptedTypes(accept)) === 0)
    fail(x, 406, `the answer is ${plainType}, which the Accept header refuses`);
  else sendCompressed(x, sent);
}

// GET /v1/usage: the use of the calling key today and this month, and its limits.

/** Timeout of the question to the store. */
const REFRESH_DEADLINE_MS = 5000;

/** @param metering undefined: nothing is counted, and there is nothing to say */
export function usageRoutes({ metering }: { readonly metering: OpenLedger | undefined }): Route[] {
  if (metering === undefined) return [];
  const { ledger } = metering;
  const handle: Route['handle'] = (x, key) => {
    if (!requireJson(x)) return;
    const account = ledger.of(key);
    const answer = (): void => x.send(200, JSON_TYPE, JSON.stringify(usageOf(ledger, account)), x.notes.hint);
    const refreshed = metering.refresh(account);
    if (refreshed === undefined) answer();
    else {
      x.deadline(REFRESH_DEADLINE_MS);
      void refreshed.then(answer, (error: unknown) => x.reject(error));
    }
  };
  return [{ path: '/v1/usage', access: 'key', parameters: [], handle }];
}

function usageOf({ calendar }: Ledger, account: KeyLedger): object {
  const { day, month } = calendar.follow(Date.now());
  const { dayRequests, dayPoints, monthRequests, monthPoints } = account.used();
  const rates = Object.fromEntries(account.rates.states().map(({ name, bucket }) => [name, bucket]));
  const quotas = Object.fromEntries(account.quotas().map(({ name, quota }) => [name, quota]));
  return {
    status: 'OK',
    key: { id: account.key.id, name: account.key.name },
    day: { date: day.name, requests: dayRequests, points: dayPoints },
    month: { month: month.name, requests: monthRequests, points: monthPoints },
    time_zone: calendar.zone,
    limits: {
      points_per_second: rates.points?.perSecond ?? null,
      points_burst: rates.points?.capacity ?? null,
      requests_per_second: rates.requests?.perSecond ?? null,
      requests_burst: rates.requests?.capacity ?? null,
      points_per_day: quotas['points-day'] ?? null,
      points_per_month: quotas['points-month'] ?? null,
    },
  };
}
