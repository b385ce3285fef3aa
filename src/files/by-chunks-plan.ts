// Parquet to Parquet by column chunks: which columns can be copied unchanged. by-chunks.ts copies them.

import { parquetSchema, type SchemaTree } from 'hyparquet';
import { addedColumns, keptColumns } from './columns/columns.js';
import { ourColumns } from './columns/encode-columns.js';
import { columnsOfDegrees, isDouble, lookAtFiles, resolutionColumn } from './columns/position-columns.js';
import type { Input } from './disk/input.js';
import { reasonOf } from './exit-codes.js';
import { type ParquetFile, readParquet } from './formats/parquet/parquet-source.js';
import {
  readThrift,
  type ThriftList,
  type ThriftStruct,
  type ThriftValue,
  writtenThrift,
} from './formats/parquet/thrift.js';
import { type TableColumn, typesOf } from './formats/table.js';
import type { Run } from './request.js';

// Members of the metadata by their ids in the format.
export const FILE = { schema: 2, rowGroups: 4, orders: 7 } as const;
export const CHUNK = { path: 1, metadata: 3, cryptography: 8, encrypted: 9 } as const;
const GROUP = { columns: 1 } as const;
const FIELD_ID = 9;

export interface OpenFile {
  readonly parquet: ParquetFile;
  readonly footer: ThriftStruct;
  readonly spans: readonly ColumnSpan[];
}

/** One column in the lists of a file: nested columns have several elements and leaves. */
export interface ColumnSpan {
  /** Elements of the schema, from the first to before the second; the root is element 0. */
  readonly elements: readonly [number, number];
  /** Chunks of each row group. */
  readonly leaves: readonly Leaf[];
}

interface Leaf {
  /** Index among the chunks of a row group. */
  readonly index: number;
  readonly path: readonly string[];
  /** Whether a row may have several values of it. */
  readonly isRepeated: boolean;
}

/** The columns that are copied, read and added, the same for all inputs. */
export interface ChunkPlan {
  readonly kept: readonly number[];
  readonly lat: number;
  readonly lng: number;
  readonly columns: readonly TableColumn[];
  readonly added: readonly TableColumn[];
}

/** The plan of a run from Parquet to Parquet by chunks; null where it cannot be done. */
export async function planChunks(run: Run): Promise<ChunkPlan | null> {
  const { operation, sort, isFormer, hasCertainty = false, columns: choice, errors } = run.request;
  if (operation !== 'encode' || sort !== null || choice.position !== undefined) return null;
  // Columns that are not made from the records, and removed rows.
  if (isFormer || hasCertainty || errors.kind === 'skip' || errors.kind === 'file') return null;
  let plan: ChunkPlan | null = null;
  let first = '';
  const reason = await lookAtFiles(run, async (input) => {
    try {
      const file = await openFile(input);
      const columns = file.parquet.fields.map(({ column }) => column);
      const found = planOf(run, file.parquet, columns, input.name);
      if (found === null || !canCopy(file)) return input.name;
      const shape = JSON.stringify([typesOf(columns), elementsOf(file, found.kept).map(comparable)]);
      if (plan !== null && shape !== first) return input.name;
      first = shape;
      plan = found;
      return undefined;
    } catch (error) {
      // by-values.ts reports the same fault, after the rows before it.
      return reasonOf(error);
    }
  });
  return reason === undefined ? plan : null;
}

function planOf(
  { request }: Run,
  parquet: ParquetFile,
  columns: readonly TableColumn[],
  file: string,
): ChunkPlan | null {
  const names = columns.map(({ name }) => name);
  if (resolutionColumn(names, file) >= 0) return null;
  const where = columnsOfDegrees(request.columns, names, (index) => isDouble(parquet.elements, index), file);
  if (typeof where === 'string') return null;
  const kept = keptColumns(columns, request.columns, file);
  const shape = { hasResolution: false, isFormer: false, hasCertainty: false, isSorted: false };
  const theirs = kept.map((index) => columns[index]!);
  const added = addedColumns(ourColumns(shape), theirs, request.columns.prefix, file);
  return { kept, lat: where.lat, lng: where.lng, columns, added };
}

/**
 * Whether the columns of a file can be copied: not if a row group lacks some, or has them in another order,
 * encrypted, in other files or with other rows.
 */
function canCopy({ parquet: { metadata }, footer, spans }: OpenFile): boolean {
  const leaves = spans.flatMap((span) => span.leaves);
  for (const [i, group] of metadata.row_groups.entries()) {
    const chunks = chunksIn(footer, i);
    if (chunks.length !== leaves.length) return false;
    for (const chunk of chunks)
      if (
        chunk.has(CHUNK.path) ||
        chunk.has(CHUNK.cryptography) ||
        chunk.has(CHUNK.encrypted) ||
        !chunk.has(CHUNK.metadata)
      )
        return false;
    for (const [c, { meta_data: meta }] of group.columns.entries()) {
      const { path, isRepeated } = leaves[c]!;
      if (
        meta?.path_in_schema.length !== path.length ||
        path.some((name, p) => meta.path_in_schema[p] !== name)
      )
        return false;
      const values = Number(meta.num_values);
      const rows = Number(group.num_rows);
      if (isRepeated ? !(values >= rows) : values !== rows) return false;
    }
  }
  return true;
}

function spansOf(children: readonly SchemaTree[]): ColumnSpan[] {
  let element = 1;
  let index = 0;
  const leavesOf = (node: SchemaTree, isWithinList: boolean): Leaf[] => {
    const isRepeated = isWithinList || node.element.repetition_type === 'REPEATED';
    if (node.children.length > 0) return node.children.flatMap((child) => leavesOf(child, isRepeated));
    return [{ index: index++, path: node.path, isRepeated }];
  };
  return children.map((node) => {
    const from = element;
    element += node.count;
    return { elements: [from, element], leaves: leavesOf(node, false) };
  });
}

/** The elements of some columns, unchanged. */
export function elementsOf({ footer, spans }: OpenFile, columns: readonly number[]): ThriftStruct[] {
  const schema = listOf(footer, FILE.schema) as readonly ThriftStruct[];
  return columns.flatMap((index) => schema.slice(...spans[index]!.elements));
}

/** An element as text, equal in all files whose columns can be combined; ids are omitted. */
function comparable(element: ThriftStruct): string {
  const members = new Map(element);
  members.delete(FIELD_ID);
  return Buffer.from(writtenThrift(members)).toString('latin1');
}

export async function openFile(input: Input): Promise<OpenFile> {
  const parquet = await readParquet(input);
  const { buffer, metadata } = parquet;
  const { byteLength } = buffer;
  const start = byteLength - 8 - metadata.metadata_length;
  const bytes = await buffer.slice(start, byteLength - 8);
  const footer = readThrift(new DataView(bytes), 0);
  return { parquet, footer, spans: spansOf(parquetSchema(metadata).children) };
}

export const listOf = (struct: ThriftStruct, id: number): readonly ThriftValue[] =>
  (struct.get(id)?.value as ThriftList | undefined)?.values ?? [];

export function chunksIn(footer: ThriftStruct, group: number): readonly ThriftStruct[] {
  return listOf(
    listOf(footer, FILE.rowGroups)[group] as ThriftStruct,
    GROUP.columns,
  ) as readonly ThriftStruct[];
}
