// GET /v1/meta: versions and boundary data. GET /v1/admin-units: all provinces; /v1/admin-units/{code}: one, with its
// boundary; /v1/admin-units/former: those before July 2025.
import { ADMIN_UNITS, type AdminUnit } from '../../hexcodes/admin-units.js';
import { NO_FORMER } from '../../hexcodes/extras.js';
import type { IndexMeta } from '../../hexcodes/kernel/index-file.js';
import { VERSION } from '../../hexcodes/version.js';
import { JSON_TYPE } from '../http/answers.js';
import type { BoundaryData } from '../http/boundary-data.js';
import type { Exchange } from '../http/exchange.js';
import { ASKED_AGAIN, entityTag, KEPT, sendKept } from '../http/freshness.js';
import { requireJson } from '../http/negotiation.js';
import { fail, type Route } from '../http/router.js';
import type { UwsBuild } from '../transport/load-uws.js';

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
    // Caches must ask again: the versions must be the current ones, and the build of uWS is among them.
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
