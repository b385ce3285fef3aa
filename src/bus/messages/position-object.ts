// A JSON object that holds one position: the message of a tracker. Latitude and longitude are in it under the names
// that columns may have, or in one of its members that is an object, as `position` of Traccar's messages.

import { readDecimal } from '../../hexcodes/wire/params/number.js';
import { pairColumns } from '../../hexcodes/wire/rows/column-names.js';
import { UnreadableMessage } from './message-shape.js';

export interface PositionObject {
  /** The text of the whole object, without blanks around it. */
  readonly text: string;
  readonly names: readonly string[];
  readonly value: Readonly<Record<string, unknown>>;
  /** NaN where the value is no number. */
  readonly latDeg: number;
  readonly lngDeg: number;
}

/** Members that say which vehicle it is, in the order in which they are looked for. */
const ID_NAMES = ['id', 'vehicle', 'vehicleId', 'vehicle_id', 'deviceId', 'device_id', 'uniqueId', 'imei'];

const MAX_ID = 1000;

const decoder = new TextDecoder('utf-8', { fatal: true });

/** @throws UnreadableMessage */
export function readPositionObject(bytes: Uint8Array): PositionObject {
  const { text, value } = objectIn(bytes);
  const names = Object.keys(value);
  const holder = holderOf(value);
  const pair = pairColumns(Object.keys(holder));
  const at = (indexes: readonly number[]): number => degreesOf(Object.values(holder)[indexes[0]!]);
  return { text, names, value, latDeg: at(pair.lat), lngDeg: at(pair.lng) };
}

function objectIn(bytes: Uint8Array): { text: string; value: Record<string, unknown> } {
  try {
    const text = decoder.decode(bytes).trim();
    const value = JSON.parse(text) as unknown;
    if (isObject(value)) return { text, value };
  } catch (cause) {
    throw new UnreadableMessage('it is no JSON', { cause });
  }
  throw new UnreadableMessage('it is no JSON object');
}

/** The object that has both names. */
function holderOf(value: Record<string, unknown>): Record<string, unknown> {
  const holders = [value, ...Object.values(value).filter(isObject)].filter((each) => {
    const { lat, lng } = pairColumns(Object.keys(each));
    return lat.length > 0 && lng.length > 0;
  });
  const holder = holders[0];
  if (holder === undefined)
    throw new UnreadableMessage('it has no members for latitude and longitude, as lat and lng');
  if (holder !== value && holders.length > 1)
    throw new UnreadableMessage('more than one of its members could be the position');
  const { lat, lng } = pairColumns(Object.keys(holder));
  if (lat.length > 1 || lng.length > 1)
    throw new UnreadableMessage('more than one of its members could be latitude or longitude');
  return holder;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function degreesOf(value: unknown): number {
  if (typeof value === 'number') return value;
  return typeof value === 'string' ? readDecimal(value.trim()) : Number.NaN;
}

/**
 * Which vehicle sent it, by a member of the object or of its `device`; undefined where none says so.
 * @throws UnreadableMessage for an id that is too long for the header of a frame
 */
export function vehicleOf({ value }: PositionObject): string | undefined {
  const device = value.device;
  for (const each of isObject(device) ? [device, value] : [value, ...Object.values(value).filter(isObject)]) {
    // Traccar numbers its devices itself; the number on the device is its uniqueId.
    for (const name of each === device ? ['uniqueId', ...ID_NAMES] : ID_NAMES) {
      const id = each[name];
      if (typeof id !== 'string' && typeof id !== 'number') continue;
      const text = String(id);
      if (text.length <= MAX_ID) return text;
      throw new UnreadableMessage(`its ${name} has ${text.length} characters, and may have ${MAX_ID}`);
    }
  }
  return undefined;
}
