// GET /v1/meta: versions and boundary data. GET /v1/admin-units: all provinces; /v1/admin-units/{code}: one, with its
// boundary; /v1/admin-units/former: those before July 2025.
import { ADMIN_UNITS, type AdminUnit } from '../../hexcodes/admin-units.js';
import type { IndexMeta } from '../../hexcodes/kernel/index-file.js';
import { VERSION } from '../../hexcodes/version.js';
import { NO_FORMER } from '../../hexcodes/wire/params/parameters.js';
import { JSON_TYPE } from '../answers.js';
import { requireJson } from '../media-types.js';
import { fail, type Router } from '../router.js';
import type { Exchange } from '../transport/exchange.js';
import type { UwsBuild } from '../transport/load-uws.js';
import type { BoundaryData } from './boundary-data.js';
import { ASKED_AGAIN, entityTag, KEPT, sendKept } from './freshness.js';

const CODE_FORMAT = 1;

export function addMeta(router: Router, data: BoundaryData, transport: UwsBuild): void {
  const { meta, sha256, tag } = data;
  const metaBody = bytesOf({
    status: 'OK',
    service: { name: 'hexcodes', version: VERSION },
    code_format: CODE_FORMAT,
    transport: { name: transport.name, version: transport.version },
    boundary_data: {
      source: meta.source.name,
      date: meta.source.date,
      licence: meta.licence,
      notice: meta.notice,
      sha256,
      ...bandsMember(meta),
    },
  });
  const tableBody = bytesOf({ status: 'OK', admin_units: ADMIN_UNITS.map(rowOf) });
  /** Bodies of some 100 KB, kept as the bytes that leave: writing one again costs more than all else of the request. */
  const unitBodies = new Map<string, Uint8Array>();

  const addJson = (
    path: string,
    bodyOf: (x: Exchange) => (() => Uint8Array) | undefined,
    ofTag = tag,
    cacheControl = KEPT,
  ): void => {
    router.add({
      path,
      methods: ['GET'],
      access: 'key',
      handle: (x) => {
        if (!requireJson(x)) return;
        const body = bodyOf(x);
        if (body === undefined) fail(x, 404, 'there is no province or city of this code');
        else sendKept(x, ofTag, JSON_TYPE, body, cacheControl);
      },
    });
  };

  // Who asks for the versions wants those of now; the build of uWS is among them.
  addJson('/v1/meta', () => () => metaBody, entityTag(metaBody), ASKED_AGAIN);
  addJson('/v1/admin-units', () => () => tableBody);
  const formerBody = data.formerProvinces === null ? undefined : formerTable(data.formerProvinces, meta);
  router.add({
    path: '/v1/admin-units/former',
    methods: ['GET'],
    access: 'key',
    handle: (x) => {
      if (!requireJson(x)) return;
      if (formerBody === undefined) fail(x, 400, `the list ${NO_FORMER}`);
      else sendKept(x, tag, JSON_TYPE, () => formerBody, KEPT);
    },
  });
  addJson('/v1/admin-units/:code', (x) => {
    const code = x.parameter(0).toUpperCase();
    const adminNumber = ADMIN_UNITS.findIndex((unit) => unit.code === code);
    const unit = ADMIN_UNITS[adminNumber];
    if (unit === undefined) return undefined;
    return () => {
      let body = unitBodies.get(code);
      if (body === undefined) {
        const boundary = { type: 'Feature', properties: rowOf(unit), geometry: data.geometryOf(adminNumber) };
        body = bytesOf({ status: 'OK', ...rowOf(unit), boundary, notice: meta.notice });
        unitBodies.set(code, body);
      }
      return body;
    };
  });
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
