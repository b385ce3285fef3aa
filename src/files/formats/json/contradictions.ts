// Members that an object of JSON gives more than once, with different values. JSON.parse takes the last without a word;
// for a position that is read one of the two is wrong, and the row fails, as over HTTP.

import {
  afterSpace,
  eachMember,
  type JsonKind,
  jsonValueEnd,
  kindOf,
} from '../../../hexcodes/wire/params/json-grammar.js';
import { jsonText, parseExact } from '../../../tables/exact-json.js';

/** A name may be written with escapes of ASCII letters. */
const ASCII_ESCAPE = '\\u00';

/**
 * The first of some members that is given with different values; undefined where there is none.
 * @param text of an object
 */
export function contradiction(text: string, names: readonly string[]): string | undefined {
  if (!names.some((name) => mayBeTwice(text, name))) return undefined;
  const met = new Map<string, string>();
  let found: string | undefined;
  eachMember(text, (name, value, kind) => {
    if (!names.includes(name)) return;
    const before = met.get(name);
    if (before === undefined) met.set(name, value);
    else if (!isSame(before, value, kind)) found ??= name;
  });
  return found;
}

export const contradictionFault = (name: string): string =>
  `${name} is given more than once, with different values`;

/** Members of a feature, and of its geometry, that say where it is. */
const OF_FEATURE = ['type', 'geometry', 'properties', 'crs', 'coordRefSys', 'place'];
const MAX_COLLECTIONS = 16;
const OF_GEOMETRY = ['type', 'coordinates', 'geometries', 'crs', 'coordRefSys'];

/**
 * The first member of a feature of GeoJSON, or of a geometry by itself, that is given with different values.
 * @param text of a feature or of a geometry
 */
export function contradictionInFeature(text: string): string | undefined {
  // The type of the feature, and that of its geometry.
  const second = text.indexOf('"type"', text.indexOf('"type"') + 1);
  const isTypeTwice = second >= 0 && text.includes('"type"', second + 1);
  const others = [...OF_FEATURE, ...OF_GEOMETRY].filter((name) => name !== 'type');
  if (!isTypeTwice && !others.some((name) => mayBeTwice(text, name))) return undefined;
  let inner: string | undefined;
  eachMember(text, (name, value) => {
    if (name === 'geometry') inner ??= contradictionInGeometry(value);
    else if (name === 'geometries') inner ??= contradictionInGeometry(text);
  });
  return contradiction(text, [...OF_FEATURE, ...OF_GEOMETRY]) ?? inner;
}

/** @param depth of collections around it: deeper ones are not read */
function contradictionInGeometry(text: string, depth = 0): string | undefined {
  if (depth > MAX_COLLECTIONS) return undefined;
  let inner: string | undefined;
  eachMember(text, (name, value) => {
    if (name !== 'geometries') return;
    for (const each of elementsOf(value)) inner ??= contradictionInGeometry(each, depth + 1);
  });
  return contradiction(text, OF_GEOMETRY) ?? inner;
}

/** The elements of a list of JSON; none of any other value. */
function elementsOf(list: string): string[] {
  const elements: string[] = [];
  for (let at = list.startsWith('[') ? afterSpace(list, 1) : -1; at > 0 && list[at] !== ']'; ) {
    const end = jsonValueEnd(list, at);
    elements.push(list.slice(at, end));
    at = afterSpace(list, end);
    if (list[at] === ',') at = afterSpace(list, at + 1);
  }
  return elements;
}

/** The member of a feature that is given with different values: of these names, it may be among its properties. */
export function contradictionInProperties(text: string, names: readonly string[]): string | undefined {
  if (!names.some((name) => mayBeTwice(text, name))) return undefined;
  let found: string | undefined;
  eachMember(text, (name, value) => {
    if (name === 'properties') found ??= contradiction(value, names);
  });
  return found;
}

/** Whether two values are the same: 21 is 21.0, and blanks between members do not matter. */
function isSame(before: string, value: string, kind: JsonKind): boolean {
  if (before === value) return true;
  if (kind !== kindOf(before.charCodeAt(0))) return false;
  if (kind === 'number') return Number(before) === Number(value);
  return kind === 'compound' && jsonText(parseExact(before)) === jsonText(parseExact(value));
}

function mayBeTwice(text: string, name: string): boolean {
  const quoted = JSON.stringify(name);
  const first = text.indexOf(quoted);
  return (first >= 0 && text.includes(quoted, first + 1)) || text.includes(ASCII_ESCAPE);
}
