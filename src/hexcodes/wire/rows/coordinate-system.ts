// Whether a declared coordinate system is WGS 84 in degrees: the one check for numbers (EWKB, EWKT, GeoPackage),
// identifiers, well-known text (1, 2 and ESRI's), PROJ strings, PROJJSON and the member `crs` of GeoJSON. The order
// of axes is that of the container, never of the declaration.

import { repeatedMember } from '../params/json-grammar.js';
import { byCode, byNumber, DEGREES, type OtherSystem, unknown } from './well-known-binary.js';

export type { OtherSystem };

/** Names of WGS 84 and its datum, in lower case, letters and digits only. */
const NAMES: ReadonlySet<string> = new Set([
  'wgs84',
  'crs84',
  'wgs1984',
  'dwgs1984',
  'gcswgs1984',
  'wgs84crs84',
  'wgs84longitudelatitude',
  'worldgeodeticsystem1984',
  'worldgeodeticsystem1984ensemble',
]);
const NAMELESS: OtherSystem = { called: 'one without a name', code: null };
const DEGREE = Math.PI / 180;
const MAX_DEPTH = 64;

const IDENTIFIERS: readonly RegExp[] = [
  /^urn:(?:x-)?ogc:def:crs:(\w+):[\w.]*:(\w+)$/i,
  /^https?:\/\/(?:www\.)?opengis\.net\/def\/crs\/(\w+)\/[\w.]+\/(\w+)$/i,
  /^https?:\/\/(?:www\.)?opengis\.net\/gml\/srs\/(\w+)\.xml#(\w+)$/i,
  /^https?:\/\/(?:www\.)?spatialreference\.org\/ref\/(\w+)\/(\w+)(?:\/\w*)*$/i,
  /^(?:\+init=)?(\w+):(\w+)$/i,
];

/**
 * @param declared a number, a text or a parsed JSON value
 * @returns null for WGS 84, and where none is named (undefined, null, '', 0 and -1)
 */
export function otherSystem(declared: unknown): OtherSystem | null {
  if (declared === undefined || declared === null || declared === '') return null;
  if (typeof declared === 'number') return byNumber(declared);
  if (typeof declared === 'string') return inText(declared.trim());
  return typeof declared === 'object' ? inObject(declared as Members, 0) : unknown(String(declared));
}

type Members = Readonly<Record<string, unknown>>;

const isWgs84 = (name: unknown): boolean =>
  typeof name === 'string' && NAMES.has(name.toLowerCase().replace(/[^a-z0-9]/g, ''));

function inText(text: string): OtherSystem | null {
  if (text.startsWith('{')) {
    try {
      const declared: unknown = JSON.parse(text);
      return repeatedMember(text) === undefined ? otherSystem(declared) : unknown(text);
    } catch {
      return unknown(text);
    }
  }
  if (/^\d{1,9}$/.test(text)) return otherSystem(Number(text));
  if (isWgs84(text)) return null;
  for (const identifier of IDENTIFIERS) {
    const match = identifier.exec(text);
    if (match !== null) return byCode(match[1], match[2]);
  }
  if (/^\+?\w+=/.test(text)) return inProj(text);
  const node = wktOf(text);
  return node === null ? unknown(text) : inWkt(node);
}

/** A string of PROJ: any parameter that WGS 84 does not need makes it another system. */
function inProj(text: string): OtherSystem | null {
  const of = new Map(
    text.split(/\s+/).map((each) => {
      const [name = '', value = ''] = each.replace(/^\+/, '').split('=');
      return [name, value.toLowerCase()] as const;
    }),
  );
  const isPlain = [...of.keys()].every((name) =>
    /^(?:proj|datum|ellps|towgs84|no_defs|type|wktext|over)?$/.test(name),
  );
  const noShift = /^0(?:\.0*)?(?:,0(?:\.0*)?)*$/.test(of.get('towgs84') ?? (of.has('datum') ? '0' : ''));
  const isDatum = of.has('datum') ? of.get('datum') === 'wgs84' : of.get('ellps') === 'wgs84';
  const isDegrees = /^(?:longlat|latlong|lonlat|latlon)$/.test(of.get('proj') ?? '');
  return isPlain && noShift && isDatum && isDegrees ? null : unknown(text);
}

/** PROJJSON, or the member `crs` of GeoJSON of 2008. */
function inObject(object: Members, depth: number): OtherSystem | null {
  const { type, name, id, properties } = object;
  if (typeof properties === 'object' && properties !== null) {
    const { name: called, code, href, urn } = properties as Members;
    const system = called ?? href ?? urn ?? (code === undefined ? undefined : `EPSG:${code}`);
    return typeof system === 'string' ? inText(system.trim()) : NAMELESS;
  }
  const shown = typeof name === 'string' ? unknown(name) : NAMELESS;
  if (typeof id === 'object' && id !== null && type !== 'CompoundCRS') {
    const { authority, code } = id as Members;
    return byCode(authority, code, name);
  }
  if (type === 'CompoundCRS' && Array.isArray(object.components) && depth < MAX_DEPTH) {
    const [first] = object.components as unknown[];
    return typeof first === 'object' && first !== null ? inObject(first as Members, depth + 1) : shown;
  }
  if (type !== 'GeographicCRS' && type !== 'GeodeticCRS') return shown;
  const datum = (object.datum ?? object.datum_ensemble) as Members | undefined;
  const meridian = datum?.prime_meridian as Members | undefined;
  const axes = (object.coordinate_system as Members | undefined)?.axis;
  const isDegrees =
    axes === undefined ||
    (Array.isArray(axes) && axes.slice(0, 2).every(({ unit }: Members) => unit === 'degree'));
  const isGreenwich = meridian === undefined || meridian.longitude === 0;
  return isWgs84(datum?.name) && isDegrees && isGreenwich ? null : shown;
}

interface WktNode {
  readonly keyword: string;
  readonly values: (string | number)[];
  readonly nodes: WktNode[];
}

const WKT_TOKEN = /\s*(?:"((?:[^"]|"")*)"|([A-Za-z_]\w*)|([-+]?[\d.]+(?:[eE][-+]?\d+)?)|([[\](),]))/y;

/** null for text of another form */
function wktOf(text: string): WktNode | null {
  const open: WktNode[] = [];
  let root: WktNode | null = null;
  let word = '';
  WKT_TOKEN.lastIndex = 0;
  for (let at = 0; at < text.length; at = WKT_TOKEN.lastIndex) {
    const [, quoted, name, digits, mark] = WKT_TOKEN.exec(text) ?? [];
    const parent = open.at(-1);
    if (name !== undefined) word = name;
    else if (quoted !== undefined) parent?.values.push(quoted);
    else if (digits !== undefined) parent?.values.push(Number(digits));
    else if (mark === '[' || mark === '(') {
      if (root !== null && parent === undefined) return null;
      const node = { keyword: word.toUpperCase(), values: [], nodes: [] };
      parent?.nodes.push(node);
      root ??= node;
      open.push(node);
      if (open.length > MAX_DEPTH) return null;
      word = '';
    } else if (mark === ']' || mark === ')') {
      if (open.pop() === undefined) return null;
    } else if (mark === undefined) return null;
  }
  return open.length === 0 ? root : null;
}

function inWkt(node: WktNode): OtherSystem | null {
  const child = (...keywords: string[]): WktNode | undefined =>
    node.nodes.find(({ keyword }) => keywords.includes(keyword));
  const shown = unknown(String(node.values[0] ?? node.keyword));
  if (node.keyword === 'COMPD_CS' || node.keyword === 'COMPOUNDCRS')
    return node.nodes[0] === undefined ? shown : inWkt(node.nodes[0]);
  const [authority, code] = child('AUTHORITY', 'ID')?.values ?? [];
  if (!/^(?:GEOGCS|GEOGCRS|GEOGRAPHICCRS|GEODCRS|GEODETICCRS)$/.test(node.keyword))
    return authority === undefined || DEGREES.has(`${authority}:${code}`.toUpperCase())
      ? shown
      : byCode(authority, code, node.values[0]);
  if (authority !== undefined) return byCode(authority, code, node.values[0]);
  const datum = child('DATUM', 'ENSEMBLE', 'GEODETICDATUM', 'TRF');
  const shifts = datum?.nodes.find(({ keyword }) => keyword === 'TOWGS84')?.values ?? [];
  const meridian = child('PRIMEM', 'PRIMEMERIDIAN')?.values[1] ?? 0;
  const units = [node, ...node.nodes.filter(({ keyword }) => keyword === 'AXIS')].flatMap(({ nodes }) =>
    nodes.flatMap(({ keyword, values }) => (/^(?:ANGLE)?UNIT$/.test(keyword) ? [Number(values[1])] : [])),
  );
  const isDegrees = units.length > 0 && units.every((unit) => Math.abs(unit - DEGREE) < 1e-12);
  const isPlain = meridian === 0 && shifts.every((shift) => shift === 0);
  return isWgs84(datum?.values[0]) && isDegrees && isPlain ? null : shown;
}
