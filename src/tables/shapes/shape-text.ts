// Geometries as well-known text (WKT), of OGC and PostGIS.

import { otherSystem } from '../../hexcodes/wire/rows/coordinate-system.js';
import { bytesOfHex, type Shape, shapeOfWkb } from '../../hexcodes/wire/rows/well-known-binary.js';
import { addPart, lonePoint, pointsOf } from './shapes.js';

const TYPES = [
  '',
  'POINT',
  'LINESTRING',
  'POLYGON',
  'MULTIPOINT',
  'MULTILINESTRING',
  'MULTIPOLYGON',
  'GEOMETRYCOLLECTION',
];
const BEGINS = new RegExp(`^(?:SRID=\\d+;)?\\s*(?:${TYPES.slice(1).join('|')})(?:ZM|Z|M)?\\b`, 'i');
const TOKEN = /\s*(?:([a-z]+)|([-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)|([(),]))/iy;
const MAX_DEPTH = 16;

type Lists = Pick<Shape, 'points' | 'lines' | 'polygons' | 'order'>;

/** null for any other text. */
function shapeOfWkt(text: string): Shape | null {
  if (!BEGINS.test(text)) return null;
  const [, srid] = /^SRID=(\d+);/i.exec(text) ?? [];
  const reader = new WktReader(srid === undefined ? text : text.slice(text.indexOf(';') + 1));
  const shape = { points: [], lines: [], polygons: [], order: [], system: Number(srid ?? 0) };
  try {
    const type = reader.geometry(shape, 0);
    reader.end();
    return { ...shape, type };
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

class WktReader {
  #at = 0;
  #token = '';
  /** Numbers of a position, as Z, M and ZM say; 0 where they do not. */
  #size = 0;

  constructor(private readonly text: string) {
    this.#next();
  }

  geometry(to: Lists, depth: number): number {
    const [, name, glued] = /^(.*?)(ZM|Z|M)?$/.exec(this.#token.toUpperCase())!;
    const type = TYPES.indexOf(name!);
    if (type < 1 || depth > MAX_DEPTH) throw new SyntaxError();
    this.#next();
    const tag = glued ?? (/^(?:ZM|Z|M)$/i.test(this.#token) ? this.#token : '');
    if (glued === undefined && tag !== '') this.#next();
    if (tag !== '') this.#size = 2 + tag.length;
    if (/^EMPTY$/i.test(this.#token)) this.#next();
    else if (type === 1) addPart(to, 1, this.#position(true));
    else if (type === 2) addPart(to, 2, this.#line());
    else if (type === 3)
      addPart(
        to,
        3,
        this.#list(() => this.#line()),
      );
    else if (type === 4) this.#list(() => addPart(to, 1, this.#position(this.#token === '(')));
    else if (type === 5) this.#list(() => addPart(to, 2, this.#line()));
    else if (type === 6)
      this.#list(() =>
        addPart(
          to,
          3,
          this.#list(() => this.#line()),
        ),
      );
    else this.#list(() => this.geometry(to, depth + 1));
    return type;
  }

  /** @throws SyntaxError for text after the geometry */
  end(): void {
    if (this.#token !== '' || this.text.slice(this.#at).trim() !== '') throw new SyntaxError();
  }

  #line(): number[] {
    return this.#list(() => this.#position(false)).flat();
  }

  #list<T>(each: () => T): T[] {
    this.#take('(');
    const items = [each()];
    while (this.#token === ',') {
      this.#next();
      items.push(each());
    }
    this.#take(')');
    return items;
  }

  /** Longitude and latitude; heights and measures are left out. */
  #position(isBracketed: boolean): [number, number] {
    if (isBracketed) this.#take('(');
    const numbers: number[] = [];
    while (/[\d.]/.test(this.#token)) {
      numbers.push(Number(this.#token));
      this.#next();
    }
    if (isBracketed) this.#take(')');
    const [lng, lat] = numbers;
    if (lng === undefined || lat === undefined || numbers.length > 4) throw new SyntaxError();
    if (this.#size > 0 && numbers.length !== this.#size) throw new SyntaxError();
    return [lng, lat];
  }

  #take(token: string): void {
    if (this.#token !== token) throw new SyntaxError();
    this.#next();
  }

  #next(): void {
    TOKEN.lastIndex = this.#at;
    const [whole = '', ...kinds] = TOKEN.exec(this.text) ?? [];
    this.#at += whole.length;
    this.#token = kinds.find((each) => each !== undefined) ?? '';
  }
}

// A shape in the text of a column: well-known text, or binary in hexadecimal digits.

const HEX_WKB = /^0[01](?:[0-9a-f]{2}){8,}$/i;

/** null for any other text, and for a shape of another system than WGS 84. */
export function shapeInText(text: string): Shape | null {
  const shape = anyShapeIn(text);
  return shape !== null && otherSystem(shape.system) === null ? shape : null;
}

/** The number of the system of a shape; null for any other text. */
export function systemInText(text: string): number | null {
  return anyShapeIn(text)?.system ?? null;
}

function anyShapeIn(text: string): Shape | null {
  const trimmed = text.trim();
  return HEX_WKB.test(trimmed) ? shapeOfWkb(bytesOfHex(trimmed)) : shapeOfWkt(trimmed);
}

/** Whether a shape is more than a point. */
export function isLineOrArea(shape: Shape): boolean {
  return lonePoint(shape) === null && pointsOf(shape, 'first').length > 0;
}
