// Parquet types as shapes of values: the kind of column that each becomes, how hyparquet's values are read, and the
// element that each kind of column is written as.

import type { SchemaElement, SchemaTree } from 'hyparquet';
import { isListLike } from 'hyparquet/src/schema.js';
import { validJson } from '../../../hexcodes/wire/params/json-grammar.js';
import type { TableColumn, TimeUnitName } from '../table.js';
import { intervalText, leaf, type Shape, structOf, toBigInt, utf8Text } from '../values/column-text.js';

const UNITS: Record<string, TimeUnitName> = { MILLIS: 'ms', MICROS: 'us', NANOS: 'ns' };
const UNIT_NAMES = { s: 'MILLIS', ms: 'MILLIS', us: 'MICROS', ns: 'NANOS' } as const;

/** Annotations of BYTE_ARRAY that mean UTF-8. Without one the column is bytes. */
const TEXTUAL = new Set(['UTF8', 'STRING', 'ENUM']);

/** Whether a column is written with the type of its file. */
export function isSameType(own: SchemaElement, written: SchemaElement): boolean {
  if (own.type !== written.type) return false;
  if (own.type === 'FIXED_LEN_BYTE_ARRAY' && own.type_length !== written.type_length) return false;
  return written.converted_type !== 'DECIMAL' || (own.scale ?? 0) === written.scale;
}

/**
 * Shapes are made before `removeAnnotations`.
 * @throws Error that names a type which is not read
 */
export function shapeOf(node: SchemaTree): Shape {
  const shape = shapeOfOne(node);
  return node.element.repetition_type === 'REPEATED' ? { is: 'list', of: shape, isRepeated: true } : shape;
}

/** The shape of each repetition. hyparquet distinguishes lists from structs by the same test. */
function shapeOfOne(node: SchemaTree): Shape {
  if (node.children.length === 0) return leafOf(node.element);
  if (node.element.logical_type?.type === 'VARIANT')
    throw new Error("values of Parquet's type VARIANT are not read");
  if (isOldList(node)) {
    const [repeated] = node.children as [SchemaTree];
    return { is: 'only', name: repeated.element.name, of: shapeOf(repeated) };
  }
  if (isListLike(node)) {
    const repeated = node.children[0]!;
    return {
      is: 'list',
      of: repeated.children.length === 1 ? shapeOf(repeated.children[0]!) : shapeOfOne(repeated),
    };
  }
  if (isMap(node)) {
    const [pairs] = node.children as [SchemaTree];
    const [key, value] = pairs.children as [SchemaTree, SchemaTree];
    const keyShape = shapeOf(key);
    if (keyShape.is !== 'leaf' || !KEY_KINDS.has(keyShape.column.kind)) {
      throw new Error('maps are read only where their keys are text, integers or UUIDs');
    }
    const names = [key.element.name, value.element.name] as const;
    const of = { is: 'map', key: keyShape, value: shapeOf(value), names } as const;
    return { is: 'only', name: pairs.element.name, of };
  }
  return structOf(node.children.map((child) => [child.element.name, shapeOf(child)] as const));
}

/**
 * Whether a list repeats its values directly, as parquet-avro and older versions of Spark and Hive write it.
 * hyparquet reads a list of records as a struct, drops a record of one member, and makes null of an empty list.
 */
function isOldList({ element, children }: SchemaTree): boolean {
  const [repeated, ...others] = children;
  if (element.converted_type !== 'LIST' || repeated?.element.repetition_type !== 'REPEATED') return false;
  const { name, converted_type: converted } = repeated.element;
  const isOldName = name === 'array' || name === `${element.name}_tuple`;
  return (
    others.length === 0 &&
    (repeated.children.length !== 1 || isOldName || converted === 'LIST' || converted === 'MAP')
  );
}

/**
 * Whether a node is a map, also by the older annotation. hyparquet makes objects of maps, which are read as pairs
 * here.
 */
function isMap({ element, children: [pairs, ...others] }: SchemaTree): boolean {
  const { converted_type: converted, repetition_type: repetition } = element;
  return (
    (converted === 'MAP' || (converted === 'MAP_KEY_VALUE' && repetition !== 'REPEATED')) &&
    others.length === 0 &&
    pairs?.element.repetition_type === 'REPEATED' &&
    pairs.children.length === 2
  );
}

const KEY_KINDS: ReadonlySet<string> = new Set(['text', 'int', 'uint', 'long', 'uuid', 'boolean']);

function leafOf(element: SchemaElement): Shape {
  const { type, converted_type: converted, logical_type: logical } = element;
  if (logical?.type === 'DECIMAL' || converted === 'DECIMAL') {
    const { scale = 0, precision = 38 } = logical?.type === 'DECIMAL' ? logical : element;
    const storage = decimalStorage(element, precision);
    return leaf(
      { kind: 'decimal', scale, precision, ...(storage === undefined ? {} : { storage }) },
      integerOf,
    );
  }
  if (logical?.type === 'TIMESTAMP') {
    return leaf({ kind: 'timestamp', unit: UNITS[logical.unit] ?? 'ms', isUtc: logical.isAdjustedToUTC });
  }
  if (logical?.type === 'TIME')
    return leaf(
      { kind: 'time', unit: UNITS[logical.unit] ?? 'ms', isUtc: logical.isAdjustedToUTC },
      toBigInt,
    );
  switch (converted) {
    case 'TIMESTAMP_MILLIS':
      return leaf({ kind: 'timestamp', unit: 'ms', isUtc: true });
    case 'TIMESTAMP_MICROS':
      return leaf({ kind: 'timestamp', unit: 'us', isUtc: true });
    case 'TIME_MILLIS':
      return leaf({ kind: 'time', unit: 'ms' }, toBigInt);
    case 'TIME_MICROS':
      return leaf({ kind: 'time', unit: 'us' }, toBigInt);
    case 'INTERVAL':
      return leaf({ kind: 'text' }, intervalOf);
  }
  // Spark, Hive and Impala write instants of UTC as INT96, without an annotation.
  if (type === 'INT96') return leaf({ kind: 'timestamp', unit: 'ns', isUtc: true }, in64Bits);
  if (converted === 'DATE' || logical?.type === 'DATE') return leaf({ kind: 'date' });
  if (converted === 'JSON' || logical?.type === 'JSON') return leaf({ kind: 'json' }, validJson);
  const isUnsigned = logical?.type === 'INTEGER' && !logical.isSigned;
  if (type === 'INT64') {
    if (converted === 'UINT_64' || isUnsigned) {
      return leaf({ kind: 'ulong' }, (value: number | bigint) => BigInt.asUintN(64, BigInt(value)));
    }
    return leaf({ kind: 'long' }, toBigInt);
  }
  if (type === 'INT32') {
    const bitWidth =
      logical?.type === 'INTEGER' ? logical.bitWidth : Number(converted?.match(/INT_(\d+)$/)?.[1]);
    const bits = bitWidth === 8 || bitWidth === 16 ? ({ bits: bitWidth } as const) : {};
    return isUnsigned || converted?.startsWith('UINT_') === true
      ? leaf({ kind: 'uint', ...bits }, (value: number) => value >>> 0)
      : leaf({ kind: 'int', ...bits });
  }
  if (type === 'BOOLEAN') return leaf({ kind: 'boolean' });
  if (type === 'DOUBLE') return leaf({ kind: 'double' });
  if (type === 'FLOAT' || logical?.type === 'FLOAT16') return leaf({ kind: 'float' });
  if (type === 'BYTE_ARRAY' || type === 'FIXED_LEN_BYTE_ARRAY') {
    if (logical?.type === 'UUID') return leaf({ kind: 'uuid' });
    return TEXTUAL.has(converted ?? logical?.type ?? '')
      ? leaf({ kind: 'text' }, (value: string | Uint8Array) =>
          typeof value === 'string' ? value : utf8Text(value),
        )
      : leaf({ kind: 'binary' });
  }
  throw new Error(`values of Parquet's type ${type} are not read`);
}

/**
 * How a file stores decimals, if differently from us and wide enough for the precision. A column whose values have
 * sizes of their own is stored in our way.
 */
function decimalStorage(
  { type, type_length: length = 0 }: SchemaElement,
  precision: number,
): TableColumn['storage'] {
  if (type === 'INT32') return precision <= MAX_DIGITS_OF_INT32 ? type : undefined;
  if (type === 'INT64') return undefined;
  const isFixed = type === 'FIXED_LEN_BYTE_ARRAY' && length <= MAX_DECIMAL_BYTES;
  const own = precision <= MAX_DIGITS_OF_INT64 ? 0 : decimalBytes(precision);
  return isFixed && length >= decimalBytes(precision) && length !== own ? length : undefined;
}

/** The fewest bytes that hold any number of `precision` digits, and a sign. */
const decimalBytes = (precision: number): number => Math.ceil((precision * Math.log2(10) + 1) / 8);

/** The stored integer of a decimal; bytes are big-endian two's complement. */
function integerOf(value: number | bigint | Uint8Array): bigint {
  if (typeof value === 'number' || typeof value === 'bigint') return BigInt(value);
  let whole = 0n;
  for (const byte of value) whole = (whole << 8n) | BigInt(byte);
  return BigInt.asIntN(8 * value.length, whole);
}

/** Nanoseconds of INT96, which has days beyond the years 1677 to 2262 that 64 bits hold. */
function in64Bits(nanoseconds: bigint): bigint {
  if (BigInt.asIntN(64, nanoseconds) === nanoseconds) return nanoseconds;
  throw new Error('a time of INT96 before 1677 or after 2262');
}

/** Months, days and milliseconds, each in 32 bits, little endian. */
function intervalOf(bytes: Uint8Array): string {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const [months, days, ms] = [0, 4, 8].map((at) => view.getUint32(at, true));
  return intervalText(months!, days!, 1_000_000n * BigInt(ms!));
}

/**
 * Removes annotations by which hyparquet would make doubles, nothing, objects or other lists of the stored values.
 */
export function removeAnnotations(nodes: readonly SchemaTree[]): void {
  for (const node of nodes) {
    const { element, children } = node;
    const { converted_type: converted, logical_type: logical } = element;
    if (converted === 'DECIMAL' || logical?.type === 'DECIMAL') delete element.logical_type;
    const isOther = converted === 'DECIMAL' || converted === 'INTERVAL' || converted === 'BSON';
    if (isOther || isOldList(node) || isMap(node)) delete element.converted_type;
    removeAnnotations(children);
  }
}

const MAX_DIGITS_OF_INT32 = 9;
const MAX_DIGITS_OF_INT64 = 18;
const MAX_DECIMAL_BYTES = 32;

/** The element that a column is written as. */
export function elementOf(column: TableColumn): SchemaElement {
  return { name: column.name, repetition_type: 'OPTIONAL', ...storedAs(column) };
}

function storedAs(column: TableColumn): Omit<SchemaElement, 'name' | 'repetition_type'> {
  switch (column.kind) {
    case 'text':
    case 'duration':
      return { type: 'BYTE_ARRAY', converted_type: 'UTF8' };
    case 'json':
      return { type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'JSON' } };
    case 'binary':
      return { type: 'BYTE_ARRAY' };
    case 'uuid':
      return { type: 'FIXED_LEN_BYTE_ARRAY', type_length: 16, logical_type: { type: 'UUID' } };
    case 'double':
      return { type: 'DOUBLE' };
    case 'float':
      return { type: 'FLOAT' };
    case 'int':
    case 'uint': {
      const { bits, kind } = column;
      const size = bits ?? (kind === 'uint' ? 32 : undefined);
      if (size === undefined) return { type: 'INT32' };
      return { type: 'INT32', converted_type: `${kind === 'uint' ? 'UINT' : 'INT'}_${size}` };
    }
    case 'long':
      return { type: 'INT64' };
    case 'ulong':
      return { type: 'INT64', converted_type: 'UINT_64' };
    case 'boolean':
      return { type: 'BOOLEAN' };
    case 'date':
      return { type: 'INT32', converted_type: 'DATE' };
    case 'time':
    case 'timestamp': {
      const unit = UNIT_NAMES[column.unit ?? 'ms'];
      const isShort = column.kind === 'time' && unit === 'MILLIS';
      const type = column.kind === 'time' ? 'TIME' : 'TIMESTAMP';
      const logical_type = { type, isAdjustedToUTC: column.isUtc === true, unit } as const;
      return { type: isShort ? 'INT32' : 'INT64', logical_type };
    }
    case 'decimal': {
      const { scale = 0, precision = 38 } = column;
      const storage =
        column.storage ?? (precision <= MAX_DIGITS_OF_INT64 ? 'INT64' : decimalBytes(precision));
      const stored =
        typeof storage === 'string'
          ? { type: storage }
          : ({ type: 'FIXED_LEN_BYTE_ARRAY', type_length: storage } as const);
      return { ...stored, converted_type: 'DECIMAL', scale, precision };
    }
  }
}
