// The types of Arrow as shapes of values: which kind of column each becomes, and how flechette's values are read.

import { type DataType, DateUnit, type Field, IntervalUnit, TimeUnit, Type } from '@uwdata/flechette';
import { validJson } from '../../../hexcodes/wire/params/json-grammar.js';
import type { TimeUnitName } from '../table.js';
import { intervalText, leaf, type Shape, structOf, toBigInt, uuidText } from '../values/column-text.js';

const MS_PER_DAY = 86_400_000;
const UNITS: Record<number, TimeUnitName> = {
  [TimeUnit.SECOND]: 's',
  [TimeUnit.MILLISECOND]: 'ms',
  [TimeUnit.MICROSECOND]: 'us',
  [TimeUnit.NANOSECOND]: 'ns',
};

/** Key of a field's metadata that names its extension type. */
export const EXTENSION_NAME = 'ARROW:extension:name';
export const UUID_EXTENSION = 'arrow.uuid';
const JSON_EXTENSION = 'arrow.json';
const TEXTS: ReadonlySet<number> = new Set([Type.Utf8, Type.LargeUtf8, Type.Utf8View]);

/** @throws Error that names a type which is not read */
export function shapeOf({ type, metadata }: Pick<Field, 'type' | 'metadata'>): Shape {
  const extension = metadata?.get(EXTENSION_NAME);
  if (extension === UUID_EXTENSION && type.typeId === Type.FixedSizeBinary)
    return leaf({ kind: 'uuid' }, uuidText);
  if (extension === JSON_EXTENSION && TEXTS.has(type.typeId)) return leaf({ kind: 'json' }, validJson);
  switch (type.typeId) {
    case Type.Dictionary:
      return shapeOf({ type: type.dictionary, metadata });
    case Type.RunEndEncoded:
      return shapeOf(type.children[1]!);
    case Type.List:
    case Type.LargeList:
    case Type.ListView:
    case Type.LargeListView:
    case Type.FixedSizeList:
      return { is: 'list', of: shapeOf(type.children[0]!) };
    case Type.Struct:
      return structOf(type.children.map((field) => [field.name, shapeOf(field)] as const));
    case Type.Map: {
      const [key, value] = (type.children[0]!.type as { children: Field[] }).children;
      return { is: 'map', key: shapeOf(key!), value: shapeOf(value!) };
    }
    default:
      return leafOf(type);
  }
}

function leafOf(type: DataType): Shape {
  switch (type.typeId) {
    case Type.Null:
      return leaf({ kind: 'text' });
    case Type.Bool:
      return leaf({ kind: 'boolean' });
    case Type.Int:
      if (type.bitWidth === 64) return leaf({ kind: type.signed ? 'long' : 'ulong' }, toBigInt);
      return leaf({
        kind: type.signed ? 'int' : 'uint',
        ...(type.bitWidth === 32 ? {} : { bits: type.bitWidth }),
      });
    case Type.Float:
      return leaf({ kind: type.precision === 2 ? 'double' : 'float' });
    case Type.Decimal:
      return leaf({ kind: 'decimal', precision: type.precision, scale: type.scale }, toBigInt);
    case Type.Timestamp: {
      const { timezone } = type;
      const isUtc = timezone !== null && timezone !== '';
      return leaf({
        kind: 'timestamp',
        unit: UNITS[type.unit]!,
        isUtc,
        ...(isUtc ? { zone: timezone } : {}),
      });
    }
    case Type.Date:
      return leaf({ kind: 'date' }, type.unit === DateUnit.DAY ? (ms: number) => ms / MS_PER_DAY : wholeDays);
    case Type.Time:
      return leaf({ kind: 'time', unit: UNITS[type.unit]! }, toBigInt);
    case Type.Duration:
      return leaf({ kind: 'duration', unit: UNITS[type.unit]! }, toBigInt);
    case Type.Interval:
      return leaf({ kind: 'text' }, INTERVAL_TEXT[type.unit]);
    case Type.Utf8:
    case Type.LargeUtf8:
    case Type.Utf8View:
      return leaf({ kind: 'text' });
    case Type.Binary:
    case Type.LargeBinary:
    case Type.BinaryView:
    case Type.FixedSizeBinary:
      return leaf({ kind: 'binary' });
    default: {
      const name = Object.entries(Type).find(([, id]) => id === type.typeId)?.[0] ?? `type ${type.typeId}`;
      throw new Error(`values of Arrow's type ${name} are not read`);
    }
  }
}

/** Dates of milliseconds must be whole days (Schema.fbs of Arrow). */
function wholeDays(ms: number): number {
  if (ms % MS_PER_DAY !== 0) throw new Error(`a date that is not a whole day: ${ms} ms`);
  return ms / MS_PER_DAY;
}

const INTERVAL_TEXT: Record<number, (value: never) => string> = {
  [IntervalUnit.YEAR_MONTH]: (months: number) => intervalText(months, 0, 0n),
  [IntervalUnit.DAY_TIME]: ([days, ms]: Int32Array) => intervalText(0, days!, 1_000_000n * BigInt(ms!)),
  [IntervalUnit.MONTH_DAY_NANO]: ([months, days, ns]: Float64Array) => {
    if (!Number.isSafeInteger(ns)) throw new Error(`an interval of ${ns} nanoseconds`);
    return intervalText(months!, days!, BigInt(ns!));
  },
};
