// POST and GET /v1/traccar: a position as Traccar forwards it, answered with its code once it is kept for the sink. A
// position outside of Viet Nam is answered 200 and goes on as well: Traccar would send it again and again after any
// other status.

import { createHash, randomUUID } from 'node:crypto';
import type { Kernel } from '../../hexcodes/kernel/kernel.js';
import { eachMember, isDeeper, repeatedMember } from '../../hexcodes/wire/params/json-grammar.js';
import { readDecimal, resolutionOf } from '../../hexcodes/wire/params/number.js';
import type { ParameterFault } from '../../hexcodes/wire/params/parameters.js';
import { DIFFERS, readQuery } from '../../hexcodes/wire/params/query.js';
import { faultsMessage, JSON_TYPE } from '../http/answers.js';
import { type Exchange, encodeOne } from '../http/exchange.js';
import { isJson, requireJson } from '../http/negotiation.js';
import { fail, type Route, readWhole } from '../http/router.js';
import { admitPoints } from '../ledger/limit-answers.js';
import type { Forwarder } from './forward/forwarder.js';
import { COLUMNS, type PositionRow } from './forward/sinks/sink.js';

// A position as Traccar forwards it: the JSON of its forward type `json`, or the parameters of a URL of its type `url`.
// Every fault names the member, its value and the rule.

/** A position of a request, in the members of a row; null: not given. */
type Sent = Omit<PositionRow, 'hexcodes' | 'resolution' | 'admin_code' | 'status' | 'attributes'>;

export interface TrackedPosition extends Sent {
  /** JSON as it came, in one line: its integers may have 64 bits. */
  readonly attributesText: string;
}

/** Members of a line in their order; the attributes follow as they came. */
const MEMBERS = COLUMNS.map(([name]) => name).filter((name) => name !== 'attributes');

/** Longest uniqueId, as in Traccar's own database. */
const MAX_ID_LENGTH = 128;
const SHOWN_LENGTH = 40;
/** Deepest attributes, which have one or two levels. Values of thousands exhaust the stack of JSON.stringify. */
const MAX_LEVELS = 64;
const ID_LENGTH = 32;
const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:?\d\d)$/;

/** Years have four digits: others have a sign in ISO 8601, and the first ones of JavaScript no place in a database. */
const YEAR_0_MS = Date.UTC(-1, 12);
const YEAR_10000_MS = Date.UTC(10_000, 0);

const NUMBERS = ['latitude', 'longitude', 'altitude', 'speed', 'course', 'accuracy'] as const;
const TIMES = ['fixTime', 'deviceTime', 'serverTime'] as const;
const IN_URL = [...NUMBERS, ...TIMES, 'uniqueId', 'name', 'valid', 'protocol', 'attributes'] as const;

type Members = Readonly<Record<string, unknown>>;
const isObject = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Reads the members of two objects; collects what is wrong with them. */
class MemberReader {
  readonly faults: ParameterFault[] = [];

  /** @param prefix names the object in faults */
  number(from: Members, prefix: string, name: string, limit?: number): number | null {
    const value = from[name] ?? null;
    if (value === null && limit === undefined) return null;
    if (typeof value === 'number' && Number.isFinite(value) && Math.abs(value) <= (limit ?? Infinity))
      return value;
    this.wrong(prefix + name, value, `a number${limit === undefined ? '' : ` from -${limit} to ${limit}`}`);
    return null;
  }

  time(from: Members, prefix: string, name: string): string | null {
    const value = from[name] ?? null;
    if (value === null) return null;
    const isTime = typeof value === 'number' || (typeof value === 'string' && isIsoTime(value));
    const date = isTime ? new Date(value as number | string) : undefined;
    if (date !== undefined && date.getTime() >= YEAR_0_MS && date.getTime() < YEAR_10000_MS)
      return date.toISOString();
    this.wrong(
      prefix + name,
      value,
      'a time, as 2026-11-22T08:15:02.000+00:00 or in milliseconds since 1970',
    );
    return null;
  }

  of<T>(from: Members, prefix: string, name: string, isRight: (value: unknown) => value is T, rule: string) {
    const value = from[name] ?? null;
    if (value === null || isRight(value)) return value as T | null;
    this.wrong(prefix + name, value, rule);
    return null;
  }

  wrong(parameter: string, value: unknown, rule: string): void {
    const message = value === null ? `is required: ${rule}` : `must be ${rule}, and is ${shownOf(value)}`;
    this.faults.push({ parameter, message });
  }
}

/** Dates that the calendar does not have are not times: JavaScript makes 3 March of 31 February. */
function isIsoTime(text: string): boolean {
  if (!ISO_TIME.test(text)) return false;
  const day = text.slice(0, 10);
  const midnight = new Date(`${day}T00:00:00Z`);
  return !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(day);
}

function shownOf(value: unknown): string {
  if (isDeeper(value, MAX_LEVELS)) return Array.isArray(value) ? '[…]' : '{…}';
  const text = JSON.stringify(value);
  return text.length > SHOWN_LENGTH ? `${text.slice(0, SHOWN_LENGTH)}…` : text;
}

const isText = (value: unknown): value is string => typeof value === 'string';
const isBoolean = (value: unknown): value is boolean => typeof value === 'boolean';
const isAttributes = (value: unknown): value is Members => isObject(value) && !isDeeper(value, MAX_LEVELS);
const isUniqueId = (value: unknown): value is string =>
  isText(value) && value !== '' && value.length <= MAX_ID_LENGTH;

/** The body of a request of type `json`. */
export function positionInJson(body: unknown, text: string): TrackedPosition | ParameterFault[] {
  const { position = null, device = null } = isObject(body) ? body : {};
  const reader = new MemberReader();
  if (!isObject(position)) reader.wrong('position', position, 'an object');
  if (!isObject(device)) reader.wrong('device', device, 'an object');
  if (!isObject(position) || !isObject(device)) return reader.faults;
  const attributes = memberText(memberText(text, 'position'), 'attributes');
  return positionOf(reader, position, 'position.', device, 'device.', attributes);
}

/** The text of a member of a valid JSON object; `null` where it has none. */
function memberText(text: string, name: string): string {
  let found = 'null';
  eachMember(text, (each, valueText) => {
    if (each === name) found = valueText;
  });
  return found;
}

/** The query of a request of type `url`, whose parameters have the names of Traccar's placeholders. */
export function positionInQuery(rawQuery: string): TrackedPosition | ParameterFault[] {
  const reader = new MemberReader();
  const members: Record<string, unknown> = {};
  let attributes = 'null';
  for (const [name, { text, fault }] of Object.entries(readQuery(rawQuery, IN_URL))) {
    if (fault !== undefined) reader.faults.push({ parameter: name, message: fault });
    // Traccar writes `null` in place of a value that it does not have.
    else if (text !== undefined && text !== '' && text !== 'null') {
      members[name] = memberOf(name, text);
      if (name === 'attributes') attributes = text;
      const repeated = isObject(members[name]) ? repeatedMember(text) : undefined;
      if (repeated !== undefined) reader.faults.push({ parameter: `${name}.${repeated}`, message: DIFFERS });
    }
  }
  if (reader.faults.length > 0) return reader.faults;
  return positionOf(reader, members, '', members, '', attributes);
}

function memberOf(name: string, text: string): unknown {
  const isNumber = (NUMBERS as readonly string[]).includes(name);
  const isTime = (TIMES as readonly string[]).includes(name) && /^\d+$/.test(text);
  if (isNumber || isTime) {
    const value = readDecimal(text);
    return Number.isNaN(value) ? text : value;
  }
  if (name === 'valid' && (text === 'true' || text === 'false')) return text === 'true';
  if (name !== 'attributes') return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function positionOf(
  reader: MemberReader,
  position: Members,
  ofPosition: string,
  device: Members,
  ofDevice: string,
  attributes: string,
): TrackedPosition | ParameterFault[] {
  const number = (name: string, limit?: number): number | null =>
    reader.number(position, ofPosition, name, limit);
  const time = (name: string): string | null => reader.time(position, ofPosition, name);
  const idRule = `a text of 1 to ${MAX_ID_LENGTH} characters`;
  const attributesRule = isObject(position.attributes)
    ? `nested in at most ${MAX_LEVELS} levels`
    : 'an object';
  const uniqueId = reader.of(device, ofDevice, 'uniqueId', isUniqueId, idRule);
  if (uniqueId === null && (device.uniqueId ?? null) === null)
    reader.wrong(`${ofDevice}uniqueId`, null, idRule);
  const read = {
    unique_id: uniqueId as string,
    name: reader.of(device, ofDevice, 'name', isText, 'a text'),
    fix_time: time('fixTime'),
    device_time: time('deviceTime'),
    server_time: time('serverTime'),
    lat: number('latitude', 90) as number,
    lng: number('longitude', 180) as number,
    speed_kn: number('speed'),
    course: number('course'),
    altitude_m: number('altitude'),
    accuracy_m: number('accuracy'),
    valid: reader.of(position, ofPosition, 'valid', isBoolean, 'true or false'),
    protocol: reader.of(position, ofPosition, 'protocol', isText, 'a text'),
    // Only strings hold line ends that count, and there they are escapes.
    attributesText: attributes.replace(/[\r\n]+/g, ' '),
  };
  reader.of(position, ofPosition, 'attributes', isAttributes, attributesRule);
  return reader.faults.length > 0 ? reader.faults : { id: idOf(read), ...read };
}

/**
 * Made of the device, the times and the position: Traccar's own id of a position is 0 until the database has it, which
 * is after it was forwarded for the first time.
 */
function idOf({ unique_id, fix_time, device_time, server_time, lat, lng }: Omit<Sent, 'id'>): string {
  if (fix_time === null && device_time === null && server_time === null)
    return randomUUID().replaceAll('-', '');
  const text = JSON.stringify([unique_id, fix_time, device_time, server_time, lat, lng]);
  return createHash('sha256').update(text).digest('hex').slice(0, ID_LENGTH);
}

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
      // How long the sink is away is not known.
      const headerLines = '\r\nRetry-After: 10';
      fail(x, 503, 'the sink of positions is away, and as many wait as may', { headerLines });
      return;
    }
    if (!isAdmitted && !admitPoints(x, 1, () => answer(x, read, sizeBytes, true))) return;
    const isOk = encodeOne(x, kernel, read.lat, read.lng, resolution, logsPositions);
    const hexcodes = isOk ? kernel.textAt(0) : null;
    const admin_code = hexcodes?.slice(0, hexcodes.indexOf('-')) ?? null;
    const status = isOk ? 'OK' : 'NOT_FOUND';
    const forwarded = forwarder !== undefined;
    const body = JSON.stringify({ id: read.id, hexcodes, resolution, admin_code, forwarded, status });
    if (to === undefined) {
      x.send(200, JSON_TYPE, body);
      return;
    }
    x.deadline(DISK_DEADLINE_MS);
    const row = { ...read, hexcodes, resolution, admin_code, status };
    const line = `${JSON.stringify(row, MEMBERS).slice(0, -1)},"attributes":${read.attributesText}}\n`;
    x.after(to.take(line, x.keyId), () => x.send(200, JSON_TYPE, body));
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
      const read = jsonIn(body);
      if (read === undefined) {
        const message = body.length === 0 ? 'is required' : 'is not JSON in UTF-8';
        fail(x, 400, `the body ${message}`, { faults: [{ parameter: 'body', message }] });
        return;
      }
      const repeated = repeatedMember(read.text);
      const position =
        repeated === undefined
          ? positionInJson(read.value, read.text)
          : [{ parameter: repeated, message: DIFFERS }];
      answer(x, position, body.length);
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

/** A JSON text with its value; undefined where it is not one. */
function jsonIn(body: Uint8Array): { text: string; value: unknown } | undefined {
  try {
    const text = utf8.decode(body);
    return { text, value: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
}
