// The module by which the page's worker converts a file, without a browser.
import type { Kernel } from '#hexcodes';
import { Hexcodes } from '#hexcodes';
import { consoleModule } from './console-module.js';
import { BlockBuffers } from './wire.js';

export interface FileConversion {
  readonly points: { take(): PointsToDraw };
  readonly blocks: readonly number[];
  readonly tally: {
    readonly rows: number;
    readonly prefix: string;
    readonly operation: string;
    readonly byStatus: readonly number[];
    readonly byAdmin: readonly number[];
    readonly examples: readonly Example[];
  };
  push(chunk: Uint8Array): Uint8Array[];
  end(): Uint8Array[];
  takeFailed(): Uint8Array[];
}

export interface PointsToDraw {
  readonly offsets: Float32Array;
  readonly groups: Uint8Array;
  readonly positions: Float64Array;
  readonly rows: Uint32Array;
  readonly left: number;
  readonly box: { west: number; south: number; east: number; north: number } | undefined;
}

/** A row that failed. */
interface Example {
  readonly row: number;
  readonly status: string;
  readonly text: string;
  readonly reasons: readonly string[];
}

interface Request {
  readonly operation: string;
  readonly prefix: string;
}

interface PointList {
  add(latDeg: number, lngDeg: number, admin: number, row: number, zone?: number): void;
  takeZones(): Uint8Array;
  take(): PointsToDraw;
}

const module = await consoleModule<{
  FileConversion: new (kernel: Kernel, request: unknown, buffers: unknown, lead?: object) => FileConversion;
  requestFor(beginning: Uint8Array, input: string, resolution: number, known?: object): Request;
}>('file/conversion.ts');
export const { requestFor } = module;
export const { PointList } = await consoleModule<{ PointList: new () => PointList }>(
  'points/drawn-points.ts',
);

/** @param lead what a table has before its rows */
export const conversionOf = (kernel: Kernel, request: object, lead?: object): FileConversion =>
  new module.FileConversion(kernel, request, new BlockBuffers(), lead);

// A file converted as the page's worker does it, without a browser: by its own modules.
interface Source {
  readonly format: string;
  readonly bytes: ReadableStream<Uint8Array>;
  readonly request?: object;
  readonly hasMark: boolean;
  readonly table?: { readonly titleRows: number };
}
const { openSource, CommandOnlyError } = await consoleModule<{
  openSource(task: object): Promise<Source>;
  CommandOnlyError: new () => Error;
}>('file/source.ts');
const { kernel } = await Hexcodes.load();

interface Answer {
  readonly format: string;
  readonly text: string;
  readonly titleRows: number;
}

/**
 * The answer to a file.
 * @param task columns or a sheet that a visitor has chosen
 * @throws Error why there is none
 */
export async function converted(bytes: Uint8Array, name: string, task: object = {}): Promise<Answer> {
  const file = new File([bytes as Uint8Array<ArrayBuffer>], name);
  const whole = { kind: 'convert', file, isGzip: false, resolution: 13, ...task };
  const { format, bytes: read, request, hasMark, table } = await openSource(whole);
  const lead = { hasMark };
  const answers: Uint8Array[] = [];
  let conversion: FileConversion | undefined;
  for await (const chunk of read as unknown as AsyncIterable<Uint8Array>) {
    conversion ??= conversionOf(kernel, requestFor(chunk, format, 13, request), lead);
    answers.push(...conversion.push(chunk));
  }
  answers.push(...(conversion?.end() ?? []));
  return { format, text: Buffer.concat(answers).toString(), titleRows: table?.titleRows ?? 0 };
}

/** The converted text; `command` where the page shows a line of the command instead, else the reason of the refusal. */
export async function answerTo(bytes: Uint8Array, name: string): Promise<string> {
  try {
    return (await converted(bytes, name)).text;
  } catch (error) {
    return error instanceof CommandOnlyError ? 'command' : (error as Error).message;
  }
}
