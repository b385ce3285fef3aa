// Files of every format with damaged bytes, and what the command's readers make of them; and small hostile files.

import { deflateRawSync } from 'node:zlib';
import * as arrow from 'apache-arrow';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { Hexcodes } from '#hexcodes';
import { WRITTEN } from '../doors/doors.js';
import { below, pick, type Random } from '../random.js';
import { convert } from './convert.js';

/** Undamaged files: one of each format that is written and has rows of its own, and CSV packed. */
export const NAMES = [
  ...WRITTEN.flatMap(([format]) => (format === 'xlsx' ? [] : [`whole.${format}`])),
  'whole.csv.gz',
];

/** The exit code of the command for an input that it cannot read. */
export const BAD_INPUT = 3;

export type Damage = 'changed' | 'cut off' | 'left out' | 'claims';

export const DAMAGES: readonly Damage[] = ['changed', 'cut off', 'left out', 'claims'];

/**
 * Numbers as sizes and counts have them when they lie: little-endian of 1, 2, 4 and 8 bytes, and of seven bits a byte.
 */
const CLAIMS = 'ff 7f ffff ffff03 ffffff7f ffffffff 00000001 ffffffffffffff7f ffffffff0f feffffff0f'
  .split(' ')
  .map((hex) => Buffer.from(hex, 'hex'));

export function damagedBytes(whole: Buffer, damage: Damage, random: Random): Buffer {
  const bytes = Buffer.from(whole);
  const at = below(bytes.length, random);
  if (damage === 'cut off') return bytes.subarray(0, at);
  if (damage === 'left out')
    return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1 + below(64, random))]);
  if (damage === 'claims') pick(CLAIMS, random).copy(bytes, at);
  else for (let i = 0; i < 4; i++) bytes[below(bytes.length, random)] = below(256, random);
  return bytes;
}

let library: Promise<Hexcodes> | undefined;

/** The number of rows of a file that is encoded into Arrow, or its fault; throws what is not a CliFailure. */
export async function outcomeOf(
  path: string,
): Promise<{ rows: number } | { fault: string; exitCode: number }> {
  library ??= Hexcodes.load();
  try {
    const output = `${path}.out.arrow`;
    const { tally } = await convert(await library, { inputs: [path], output, columns: { prefix: 'own_' } });
    return { rows: tally.rows };
  } catch (error) {
    const { name, message, exitCode } = error as Error & { exitCode?: number };
    if (name !== 'CliFailure') throw error;
    return { fault: message, exitCode: exitCode! };
  }
}

// Small files that made their readers hold gigabytes, made here and not kept.

const MIB = 2 ** 20;

/** Offset of a field in a flatbuffer table. */
function fieldAt(metadata: Buffer, table: number, field: number): number {
  const vtable = table - metadata.readInt32LE(table);
  return table + metadata.readUInt16LE(vtable + 4 + 2 * field);
}

function follow(metadata: Buffer, at: number): number {
  return at + metadata.readUInt32LE(at);
}

/** An Arrow stream of 16 KiB, sound. */
export function soundArrow(): Buffer {
  const floats = (from: number) =>
    arrow.vectorFromArray(
      Array.from({ length: 700 }, (_, i) => from + i / 1000),
      new arrow.Float64(),
    );
  const names = arrow.vectorFromArray(
    Array.from({ length: 700 }, (_, i) => `a${i}`),
    new arrow.Utf8(),
  );
  return Buffer.from(
    arrow.tableToIPC(new arrow.Table({ lat: floats(21), lng: floats(105), name: names }), 'stream'),
  );
}

/**
 * The stream of `soundArrow` with two damaged bytes, by which a list of its metadata claims 67 million entries: they
 * made a reader collect 4.2 GB of them.
 */
export function arrowWithCount(list: 'columns' | 'nodes' | 'buffers'): Buffer {
  const bytes = soundArrow();
  const schemaBytes = bytes.readInt32LE(4);
  const start = list === 'columns' ? 8 : 8 + schemaBytes + 8;
  const metadata = bytes.subarray(start);
  const message = metadata.readUInt32LE(0);
  const header = follow(metadata, fieldAt(metadata, message, 2));
  const field = list === 'buffers' ? 2 : 1;
  const count = follow(metadata, fieldAt(metadata, header, field));
  metadata[count + 2] = 0xff;
  metadata[count + 3] = 0x03;
  return bytes;
}

/** A Parquet file of 99 KB: 2,000 rows that name one text of 1 MiB, 2 GB as CSV. */
export function longTexts(rows = 2000, letters = MIB): Buffer {
  const each = <T>(value: T): T[] => Array.from({ length: rows }, () => value);
  return Buffer.from(
    parquetWriteBuffer({
      columnData: [
        { name: 'lat', data: each(21.03), type: 'DOUBLE' },
        { name: 'lng', data: each(105.85), type: 'DOUBLE' },
        { name: 'text', data: each('x'.repeat(letters)), type: 'STRING' },
      ],
    }),
  );
}

/** An Arrow stream of lists whose entries are all one text of a dictionary. */
export function listsOfOneText(entries: number, letters: number): Buffer {
  const type = new arrow.Dictionary(new arrow.Utf8(), new arrow.Int32());
  const dictionary = arrow.vectorFromArray(['y'.repeat(letters)], new arrow.Utf8());
  const keys = arrow.makeData({
    type,
    length: entries,
    nullCount: 0,
    data: new Int32Array(entries),
    dictionary,
  });
  const list = arrow.makeData({
    type: new arrow.List(new arrow.Field('item', type, true)),
    length: 1,
    nullCount: 0,
    valueOffsets: new Int32Array([0, entries]),
    child: keys,
  });
  const degrees = (value: number) => arrow.vectorFromArray([value], new arrow.Float64());
  return Buffer.from(
    arrow.tableToIPC(
      new arrow.Table({ lat: degrees(21.03), lng: degrees(105.85), tags: new arrow.Vector([list]) }),
      'stream',
    ),
  );
}

/**
 * An Arrow stream whose texts go back and forth over the same bytes.
 * @param rows odd: the writer keeps bytes up to the last offset
 */
export function overlappingTexts(rows: number, letters: number): Buffer {
  const texts = arrow.makeData({
    type: new arrow.Utf8(),
    length: rows,
    nullCount: 0,
    valueOffsets: Int32Array.from({ length: rows + 1 }, (_, i) => (i % 2 === 1 ? letters : 0)),
    data: Buffer.alloc(letters, 'z'),
  });
  const degrees = (value: number) =>
    arrow.vectorFromArray(
      Array.from({ length: rows }, () => value),
      new arrow.Float64(),
    );
  return Buffer.from(
    arrow.tableToIPC(
      new arrow.Table({ lat: degrees(21.03), lng: degrees(105.85), text: new arrow.Vector([texts]) }),
      'stream',
    ),
  );
}

/** A GeoJSON collection of one point whose property is nested. */
export function deepGeoJson(depth: number): string {
  const nested = '['.repeat(depth) + ']'.repeat(depth);
  return `{"type":"FeatureCollection","features":[{"type":"Feature","geometry":{"type":"Point","coordinates":[105.85,21.03]},"properties":{"a":${nested}}}]}`;
}

const RELATIONS = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const SHEETS = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const SHEET = 'xl/worksheets/sheet1.xml';
const FIRST_ROWS =
  '<row r="1"><c r="A1" t="inlineStr"><is><t>lat</t></is></c><c r="B1" t="inlineStr"><is><t>lng</t></is></c></row>' +
  '<row r="2"><c r="A2"><v>21.03</v></c><c r="B2"><v>105.85</v></c></row>';

/**
 * A workbook of one position and more.
 * @param more XML after its rows
 * @param claimed size of the sheet that the head of its part names, in place of its own
 */
export function workbook(more: string | Buffer = '', claimed?: number): Buffer {
  const sheet = Buffer.concat([
    Buffer.from(`<worksheet xmlns="${SHEETS}"><sheetData>${FIRST_ROWS}`),
    Buffer.from(more as string),
    Buffer.from('</sheetData></worksheet>'),
  ]);
  const parts: [string, Buffer][] = [
    [
      'xl/workbook.xml',
      Buffer.from(
        `<workbook xmlns="${SHEETS}" xmlns:r="${RELATIONS}"><sheets><sheet name="s" sheetId="1" r:id="rId1"/></sheets></workbook>`,
      ),
    ],
    [
      'xl/_rels/workbook.xml.rels',
      Buffer.from(
        `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="${RELATIONS}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>`,
      ),
    ],
    [SHEET, sheet],
  ];
  const pieces: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [path, content] of parts) {
    const packed = deflateRawSync(content);
    const name = Buffer.from(path);
    const local = Buffer.alloc(30);
    local.writeUInt32LE(0x04034b50, 0);
    const entry = Buffer.alloc(46);
    entry.writeUInt32LE(0x02014b50, 0);
    for (const [head, at] of [
      [local, 8],
      [entry, 10],
    ] as const) {
      head.writeUInt16LE(8, at);
      head.writeUInt32LE(packed.length, at + 10);
      head.writeUInt32LE(
        head === local && path === SHEET ? (claimed ?? content.length) : content.length,
        at + 14,
      );
      head.writeUInt16LE(name.length, at + 18);
    }
    entry.writeUInt32LE(offset, 42);
    pieces.push(local, name, packed);
    directory.push(entry, name);
    offset += local.length + name.length + packed.length;
  }
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(parts.length, 10);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...pieces, ...directory, end]);
}
