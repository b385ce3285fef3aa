// GET /v1/meta: versions and boundary data. GET /v1/admin-units: all provinces; /v1/admin-units/{code}: one, with its
// boundary.
import { ADMIN_UNITS, type AdminUnit } from '../../admin-units.js';
import type { IndexMeta } from '../../kernel/index-file.js';
import { VERSION } from '../../version.js';
import { JSON_TYPE } from '../answers.js';
import { requireJson } from '../media-types.js';
import { fail, type Router } from '../router.js';
import type { Exchange } from '../transport/exchange.js';
import type { UwsBuild } from '../transport/load-uws.js';
import { ASKED_AGAIN, entityTag, KEPT, sendKept } from './freshness.js';

/** The boundary data in use. */
export interface BoundaryData {
  readonly meta: IndexMeta;
  readonly sha256: string;
  /** The entity tag of every answer that depends on nothing but this version and its data. */
  readonly tag: string;
  /** The area of a province, by its admin number, as a GeoJSON geometry. */
  geometryOf(adminNumber: number): unknown;
}

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
    },
  });
  const tableBody = bytesOf({ status: 'OK', admin_units: ADMIN_UNITS.map(rowOf) });
  /** Bodies of some 100 KB, kept as the bytes that leave: writing one anew costs more than all else of the request. */
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

function rowOf({ code, name, mergedUnits }: AdminUnit): object {
  return { admin_code: code, name, merged_units: mergedUnits };
}
