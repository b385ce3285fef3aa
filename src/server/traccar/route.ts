// POST and GET /v1/traccar: a position as Traccar forwards it, answered with its code once it is kept for the sink. A
// position outside of Viet Nam is answered 200 and goes on as well: Traccar would send it again and again after any
// other status.

import type { Kernel } from '../../hexcodes/kernel/kernel.js';
import { resolutionOf } from '../../hexcodes/wire/params/number.js';
import type { ParameterFault } from '../../hexcodes/wire/params/parameters.js';
import { readQuery } from '../../hexcodes/wire/params/query.js';
import { faultsMessage, JSON_TYPE } from '../answers.js';
import type { Exchange } from '../exchange.js';
import { encodeOne } from '../exchange.js';
import type { Forwarder } from '../forward/forwarder.js';
import type { PositionRow } from '../forward/sinks/sink.js';
import { admitPoints } from '../ledger/limit-answers.js';
import { isJson, requireJson } from '../media-types.js';
import { fail, failNotTaken, type Route } from '../router.js';
import { readWhole } from '../whole-body.js';
import { positionInJson, positionInQuery, type TrackedPosition } from './read-position.js';

/** A position with the attributes of its device has some kilobytes. */
const MAX_BODY_BYTES = 128 * 1024;
/** Bytes of a line beside the members of the request. */
const OWN_BYTES = 512;
const DISK_DEADLINE_MS = 30_000;

interface TraccarDeps {
  readonly kernel: Kernel;
  /** Undefined: positions go nowhere but into the answer. */
  readonly forwarder: Forwarder | undefined;
  /** Whether the log has the position of each call. */
  readonly logsPositions: boolean;
}

export function traccarRoutes({ kernel, forwarder, logsPositions }: TraccarDeps): Route[] {
  const answer = (
    x: Exchange,
    read: TrackedPosition | ParameterFault[],
    sizeBytes: number,
    isAdmitted = false,
  ): void => {
    const resolution = resolutionOf(readQuery(x.head.rawQuery, ['resolution']).resolution);
    const faults = Array.isArray(read) ? [...read] : [];
    if (typeof resolution === 'string') faults.push({ parameter: 'resolution', message: resolution });
    if (Array.isArray(read) || typeof resolution === 'string') {
      fail(x, 400, faultsMessage(faults), { faults });
      return;
    }
    // HEAD asks what GET would answer, and changes nothing.
    const to = x.head.method === 'HEAD' ? undefined : forwarder;
    if (to !== undefined && !to.hasSpace(sizeBytes + OWN_BYTES, x.keyId)) {
      failNotTaken(x, 'the sink of positions is away, and as many wait as may');
      return;
    }
    if (!isAdmitted && !admitPoints(x, 1, () => answer(x, read, sizeBytes, true))) return;
    const { latDeg, lngDeg } = read;
    const isOk = encodeOne(x, kernel, latDeg, lngDeg, resolution, logsPositions);
    const row = rowOf(read, isOk ? kernel.textAt(0) : null, resolution);
    const { id, hexcodes, admin_code, status } = row;
    const forwarded = forwarder !== undefined;
    const body = JSON.stringify({ id, hexcodes, resolution, admin_code, forwarded, status });
    if (to === undefined) {
      x.send(200, JSON_TYPE, body);
      return;
    }
    x.deadline(DISK_DEADLINE_MS);
    x.after(to.take(`${JSON.stringify(row)}\n`, x.keyId), () => x.send(200, JSON_TYPE, body));
  };

  const handle = (x: Exchange): void => {
    if (!requireJson(x)) return;
    if (x.head.method !== 'POST') {
      answer(x, positionInQuery(x.head.rawQuery), x.head.rawQuery.length);
      return;
    }
    if (!isJson(x.head.contentType)) {
      fail(x, 415, 'the body must be application/json, in UTF-8');
      return;
    }
    readWhole(x, MAX_BODY_BYTES, (body) => {
      const value = jsonIn(body);
      if (value === undefined) {
        const message = body.length === 0 ? 'is required' : 'is not JSON in UTF-8';
        fail(x, 400, `the body ${message}`, { faults: [{ parameter: 'body', message }] });
      } else answer(x, positionInJson(value), body.length);
    });
  };
  return [
    {
      path: '/v1/traccar',
      methods: ['GET', 'POST'],
      access: 'encode',
      operation: 'encode',
      readsKeyParameter: true,
      handle,
    },
  ];
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** The value of a JSON text; undefined where it is none. */
function jsonIn(body: Uint8Array): unknown {
  try {
    return JSON.parse(utf8.decode(body)) as unknown;
  } catch {
    return undefined;
  }
}

function rowOf(read: TrackedPosition, code: string | null, resolution: number): PositionRow {
  return {
    id: read.id,
    unique_id: read.uniqueId,
    name: read.name,
    fix_time: read.fixTime,
    device_time: read.deviceTime,
    server_time: read.serverTime,
    lat: read.latDeg,
    lng: read.lngDeg,
    hexcodes: code,
    resolution,
    admin_code: code === null ? null : code.slice(0, code.indexOf('-')),
    status: code === null ? 'NOT_FOUND' : 'OK',
    speed_kn: read.speedKn,
    course: read.courseDeg,
    altitude_m: read.altitudeM,
    accuracy_m: read.accuracyM,
    valid: read.isValid,
    protocol: read.protocol,
    attributes: read.attributes,
  };
}
