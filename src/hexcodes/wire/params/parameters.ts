// The parameters of one conversion, from a query, a form body, a JSON body, or several of them at once: equal values
// count as one, different ones are a fault. SingleParameters collects their texts; EncodeInput and decodeFaults
// validate them.

import type { ExtraName } from '../../extras.js';
import { eachMember, type JsonKind, jsonStringOf } from './json-grammar.js';
import { addUnknown, hemisphereFault, hintAbout, isSide, NO_PARAMETER } from './names.js';
import { readDecimal, readJsonResolution, resolutionOf } from './number.js';
import {
  booleanFault,
  DIFFER,
  DIFFERS,
  decodeEscapes,
  indexOfEquals,
  MALFORMED,
  type Parameter,
} from './query.js';

// Degrees as a query parameter, for handlers off the hot path; the degrees of encode are read by EncodeInput, by the
// same rule.
/** The degrees of a required parameter, or the fault, as the end of a sentence. */
export function degreesOf({ text, fault }: Parameter, limitDeg: 90 | 180): number | string {
  if (fault !== undefined) return fault;
  if (text === undefined) return 'is required';
  const value = readDecimal(text);
  return degreesFault(value, limitDeg, text) ?? value;
}

/** Why a number, or NaN, is not a valid coordinate, as the end of a sentence; undefined if it is. */
function degreesFault(value: number, limitDeg: 90 | 180, text: string): string | undefined {
  if (Math.abs(value) <= limitDeg) return undefined;
  const range = `from -${limitDeg} to ${limitDeg}`;
  return Number.isFinite(value)
    ? `must be ${range}`
    : `must be a decimal number ${range}${spellingHint(text)}`;
}

/** The remedy for a number in a human or local spelling, as the end of a sentence. */
function spellingHint(text: string): string {
  if (/^[-+]?\d{1,3},\d{1,20}$/.test(text)) return `, with a decimal point: ${text.replace(',', '.')}`;
  // In queries and forms a plus sign is a blank.
  if (/^[+ ]\d{1,3}(?:\.\d{1,20})?$/.test(text)) return `, without a plus sign: ${text.slice(1)}`;
  if (/^-?[\d.]{1,20}[eE] \d{1,3}$/.test(text)) return ', with %2B for its plus sign';
  if (text === '') return ', and is given without a value';
  if (/^\s*[-+]?\d{1,3}(?:\.\d{1,20})?\s*[,;\s]\s*[-+]?\d/.test(text))
    return ': one number, the other is a parameter';
  if (/^\s*-?\d{1,3}(?:\.\d{1,20})?\s*$/.test(text)) return `, without blanks: ${text.trim()}`;
  if (/^\u2212\d{1,3}(?:\.\d{1,20})?$/.test(text)) return `, with a hyphen as its sign: -${text.slice(1)}`;
  if (/^[-+]?\d{1,3}(?:\.\d{1,20})?\s*[°º'NSEW]/i.test(text)) return ', without signs or letters after it';
  return '';
}

/** A fault of one parameter, as the error body lists it in `details`. */
export interface ParameterFault {
  readonly parameter: string;
  readonly message: string;
}

class ReadParameter implements Parameter {
  /** The name as the request spelled it. */
  name: string | undefined = undefined;
  text: string | undefined = undefined;
  fault: string | undefined = undefined;
  constructor(
    readonly kind: 'number' | 'string' | 'boolean',
    /** Single calls that have this parameter; to any other it is unknown. */
    readonly operations: readonly Operation[],
  ) {}
  clear(): void {
    this.name = undefined;
    this.text = undefined;
    this.fault = undefined;
  }

  get isGiven(): boolean {
    return this.text !== undefined || this.fault !== undefined;
  }
}

/** Why a JSON value has the wrong type for a parameter, as the end of a sentence. */
export function kindFault(wanted: JsonKind, kind: JsonKind, valueText: string): string {
  const said = `must be a JSON ${wanted}`;
  if (kind !== 'string') return said;
  const text = jsonStringOf(valueText).trim();
  if (wanted === 'boolean') return text === 'true' || text === 'false' ? `${said}, without quotes` : said;
  if (/^[-+]?\d{1,20},\d{1,20}$/.test(text)) return `${said}, without quotes and with a decimal point`;
  return Number.isFinite(readDecimal(text)) ? `${said}, without quotes` : said;
}

type Operation = 'encode' | 'decode';
const ENCODE = ['encode'] as const;
const DECODE = ['decode'] as const;
const BOTH = [...ENCODE, ...DECODE];

/** The parameters of single calls, by the names of requests. */
class Parameters implements Readonly<Record<ExtraName, ReadParameter>> {
  readonly lat = new ReadParameter('number', ENCODE);
  readonly latitude = new ReadParameter('number', ENCODE);
  readonly lng = new ReadParameter('number', ENCODE);
  readonly longitude = new ReadParameter('number', ENCODE);
  readonly lon = this.longitude;
  readonly resolution = new ReadParameter('number', ENCODE);
  readonly hexcodes = new ReadParameter('string', DECODE);
  readonly former = new ReadParameter('boolean', ENCODE);
  readonly certainty = new ReadParameter('boolean', ENCODE);
  readonly admin_v2 = new ReadParameter('boolean', BOTH);
}

/** Names that replace `lat` and `lng` where these are missing. */
type StandIn = 'latitude' | 'longitude' | 'lon';
export type ParameterName = Exclude<keyof Parameters, StandIn>;

const namesOf = (operation: Operation): readonly (keyof Parameters)[] =>
  Object.entries(new Parameters()).flatMap(([name, { operations }]) =>
    operations.includes(operation) ? [name as keyof Parameters] : [],
  );
const NAMES = { encode: namesOf('encode'), decode: namesOf('decode') };

/** The values of a table that an operation has, in the order of the parameters. */
export const ofOperation = <T>(
  operation: Operation,
  table: Readonly<Record<ParameterName, T>>,
): Record<string, T> =>
  Object.fromEntries(
    NAMES[operation].flatMap((name) => (name in table ? [[name, table[name as ParameterName]]] : [])),
  );

export class SingleParameters extends Parameters {
  readonly #names: readonly (keyof Parameters)[];
  /** Unknown names, of which the first are kept. */
  unknown: string[] | undefined = undefined;
  /** Names that give a hemisphere. */
  readonly sides: string[] = [];

  constructor(operation: Operation) {
    super();
    this.#names = NAMES[operation];
  }

  /** The parameter that gives the latitude of the request. */
  get latGiven(): ReadParameter {
    return !this.lat.isGiven && this.latitude.isGiven ? this.latitude : this.lat;
  }

  /** The parameter that gives the longitude of the request. */
  get lngGiven(): ReadParameter {
    return !this.lng.isGiven && this.longitude.isGiven ? this.longitude : this.lng;
  }

  /** A hint about unknown names, for a header; empty if there are none. */
  get hint(): string {
    return this.unknown === undefined ? '' : hintAbout(this.unknown, this.#absent(), NO_PARAMETER);
  }

  /** The hint about an item, which may have other members: only names that resemble a parameter count. */
  get itemHint(): string {
    return this.unknown === undefined ? '' : hintAbout(this.unknown, this.#absent(), NO_PARAMETER, false);
  }

  #absent(): string[] {
    const { latGiven: lat, lngGiven: lng } = this;
    const axes: Partial<Record<string, ReadParameter>> = {
      lat,
      latitude: lat,
      lng,
      longitude: lng,
      lon: lng,
    };
    const absent = this.#names.filter((name) => !(axes[name] ?? this[name]).isGiven);
    return [...absent, 'apikey'];
  }

  /** Adds a raw query string or the text of a form body. */
  addQuery(raw: string): void {
    // Escapes are rare: one search of the whole text replaces a search of every value.
    const isPlain = !raw.includes('%') && !raw.includes('+') && !raw.includes('\ufffd');
    let at = 0;
    let nextEquals = -1;
    while (at < raw.length) {
      let end = raw.indexOf('&', at);
      if (end === -1) end = raw.length;
      // Searched once only: if the rest has no `=`, each search would read all of it.
      if (nextEquals < at) nextEquals = indexOfEquals(raw, at);
      const nameEnd = Math.min(nextEquals, end);
      let name: string | undefined = raw.slice(at, nameEnd);
      if (!isPlain) name = decodeEscapes(name);
      const parameter = name === undefined ? undefined : this.#parameter(name);
      if (parameter !== undefined) {
        const value = nameEnd < end ? raw.slice(nameEnd + 1, end) : '';
        if (isPlain) addText(parameter, value);
        else addRaw(parameter, value);
      }
      at = end + 1;
    }
  }

  /**
   * Adds the members of a JSON object; returns false where the text is not one: then nothing that was added counts.
   */
  addJson(text: string): boolean {
    return eachMember(text, (name, valueText, kind) => this.addMember(name, valueText, kind));
  }

  addMember(name: string, valueText: string, kind: JsonKind): void {
    const parameter = this.#parameter(name);
    if (parameter === undefined) return;
    if (kind !== parameter.kind) {
      const isLeftOut = kind === 'null' && (parameter === this.resolution || parameter.kind === 'boolean');
      parameter.fault ??= kindFault(parameter.kind, kind, valueText) + (isLeftOut ? ', or left out' : '');
    } else if (parameter === this.resolution) addText(parameter, integerText(valueText));
    else addText(parameter, kind === 'string' ? jsonStringOf(valueText) : valueText);
  }

  #parameter(name: string): ReadParameter | undefined {
    for (const known of this.#names) {
      if (known !== name) continue;
      const parameter = this[known];
      parameter.name ??= name;
      return parameter;
    }
    if (name !== 'apikey' && name !== 'id') this.#addUnknown(name);
    return undefined;
  }

  #addUnknown(name: string): void {
    if (isSide(name)) this.sides.push(name);
    this.unknown ??= [];
    addUnknown(this.unknown, name);
    if (this.unknown.length === 0) this.unknown = undefined;
  }
}

/** A JSON number that is a resolution, as a query spells it: 9.0 as 9. */
function integerText(text: string): string {
  const resolution = readJsonResolution(text);
  return resolution < 0 ? text : String(resolution);
}

function addRaw(parameter: ReadParameter, rawValue: string): void {
  const text = decodeEscapes(rawValue);
  if (text === undefined) parameter.fault ??= MALFORMED;
  else addText(parameter, text);
}

/** Adds a text; different spellings of one number are equal. */
function addText(parameter: ReadParameter, text: string): void {
  if (parameter.text === undefined) parameter.text = text;
  else if (parameter.text !== text) {
    if (parameter.kind !== 'number' || readDecimal(parameter.text) !== readDecimal(text))
      parameter.fault = DIFFERS;
  }
}

/** Whether two texts are different numbers. */
export function isOther(text: string | undefined, other: string | undefined): boolean {
  const [value, otherValue] = [readDecimal(text ?? ''), readDecimal(other ?? '')];
  return value !== otherValue && !Number.isNaN(value) && !Number.isNaN(otherValue);
}

/** The parameters of encode as numbers: degrees NaN and resolution -1 where they cannot be read. */
export class EncodeInput {
  latDeg = Number.NaN;
  lngDeg = Number.NaN;
  resolution = -1;
  faults: ParameterFault[] | undefined = undefined;

  read(from: SingleParameters): void {
    this.faults = undefined;
    const { latGiven, lngGiven } = from;
    this.latDeg = this.#degrees(latGiven.name ?? 'lat', latGiven, 90);
    this.lngDeg = this.#degrees(lngGiven.name ?? 'lng', lngGiven, 180);
    const resolution = resolutionOf(from.resolution);
    this.resolution = typeof resolution === 'number' ? resolution : -1;
    if (typeof resolution === 'string') this.add('resolution', resolution);
    if (from.admin_v2.text !== undefined || from.admin_v2.fault !== undefined) {
      const message = booleanFault(from.admin_v2);
      if (message !== undefined) this.add('admin_v2', message);
    }
    this.#contradicted(from.lat, from.latitude, 'lat');
    this.#contradicted(from.lng, from.longitude, 'lng');
    const side = hemisphereFault(from.sides);
    if (side !== undefined) this.add(side.parameter, side.message);
  }

  /**
   * Whether an alternative name gives another number than the parameter itself; anything but a number does not count.
   */
  #contradicted(given: ReadParameter, instead: ReadParameter, name: string): void {
    if (!given.isGiven || !(instead.fault === DIFFERS || isOther(given.text, instead.text))) return;
    this.add(instead.name!, `and ${name} ${DIFFER}`);
  }

  #degrees(name: string, parameter: Parameter, limitDeg: 90 | 180): number {
    if (parameter.fault !== undefined) {
      this.add(name, parameter.fault);
      return Number.NaN;
    }
    if (parameter.text === undefined) {
      this.add(name, 'is required');
      return Number.NaN;
    }
    const value = readDecimal(parameter.text);
    const fault = degreesFault(value, limitDeg, parameter.text);
    if (fault === undefined) return value;
    this.add(name, fault);
    return Number.isFinite(value) ? value : Number.NaN;
  }

  add(parameter: string, message: string): void {
    this.faults ??= [];
    this.faults.push({ parameter, message });
  }
}

/** The faults of decode's parameters; undefined if there are none, and then `hexcodes` has a text. */
export function decodeFaults(from: SingleParameters): ParameterFault[] | undefined {
  const faults: ParameterFault[] = [];
  const { text, fault } = from.hexcodes;
  if (fault !== undefined) faults.push({ parameter: 'hexcodes', message: fault });
  else if (text === undefined) faults.push({ parameter: 'hexcodes', message: 'is required' });
  else if (text === '')
    faults.push({ parameter: 'hexcodes', message: 'is required, and given without a value' });
  const message = booleanFault(from.admin_v2);
  if (message !== undefined) faults.push({ parameter: 'admin_v2', message });
  return faults.length === 0 ? undefined : faults;
}
