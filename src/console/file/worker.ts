// The worker that converts a file beside the page. It reads the file itself, and the answer goes into a Blob bit by
// bit, so neither is ever in the memory of the page as a whole.
import { Kernel } from '../../hexcodes/kernel/kernel.js';
import { BlockBuffers } from '../../hexcodes/wire/bulk/block-buffers.js';
import { BulkInputError } from '../../hexcodes/wire/job.js';
import { FileConversion, requestFor } from './conversion.js';
import type { FileNews, FileTask } from './messages.js';
import { encodingOf, withHeader } from './pasted.js';

/** Most bytes of answers before they become part of a Blob, which browsers keep outside of the scripts' memory. */
const PART_BYTES = 8 * 2 ** 20;
/** Between two messages about the progress. */
const NEWS_MS = 100;

const tell = (news: FileNews, transfer: Transferable[] = []): void =>
  (self as unknown as Worker).postMessage(news, transfer);

addEventListener('message', ({ data }: MessageEvent<FileTask>) => {
  convert(data).catch((error: unknown) => {
    tell({ kind: 'refused', reason: error instanceof Error ? error.message : String(error) });
    if (!(error instanceof BulkInputError)) throw error;
  });
});

async function convert(task: FileTask): Promise<void> {
  const kernel = await kernelOf(task);
  const source: ReadableStream<Uint8Array> = task.isGzip
    ? task.file.stream().pipeThrough(new DecompressionStream('gzip'))
    : task.file.stream();
  const reader = (await prepared(source, task.format)).getReader();
  const answer = new AnswerBlob();
  let conversion: FileConversion | undefined;
  let readBytes = 0;
  let toldMs = performance.now();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    conversion ??= new FileConversion(
      kernel,
      requestFor(value, task.format, task.resolution),
      new BlockBuffers(),
    );
    answer.add(conversion.push(value));
    readBytes += value.length;
    if (performance.now() - toldMs < NEWS_MS) continue;
    toldMs = performance.now();
    tell({ kind: 'progress', readBytes, rows: conversion.tally.rows });
  }
  if (conversion === undefined) throw new BulkInputError('The file is empty');
  answer.add(conversion.end());
  const points = conversion.points.take();
  const { tally } = conversion;
  const type = task.format === 'csv' ? 'text/csv' : 'application/x-ndjson';
  tell({ kind: 'done', answer: answer.take(type), tally, points }, [
    points.offsets.buffer,
    points.admins.buffer,
  ]);
}

/** The bytes of a table as UTF-8, with a header row where it can be told; lines of JSON as they are. */
async function prepared(
  source: ReadableStream<Uint8Array>,
  format: FileTask['format'],
): Promise<ReadableStream<Uint8Array>> {
  if (format === 'ndjson') return source;
  const reader = source.getReader();
  const { value: beginning } = await reader.read();
  if (beginning === undefined) return new Blob([]).stream();
  const rest = (first: Uint8Array): ReadableStream<Uint8Array> =>
    new ReadableStream({
      start: (controller) => controller.enqueue(first),
      pull: async (controller) => {
        const { done, value } = await reader.read();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: (reason) => reader.cancel(reason),
    });
  const encoding = encodingOf(beginning);
  if (encoding === 'utf-8') return rest(withHeaderRow(beginning));
  const bytes = rest(beginning) as ReadableStream<BufferSource>;
  const decoded = bytes.pipeThrough(new TextDecoderStream(encoding)).getReader();
  let isFirst = true;
  const texts = new ReadableStream<string>({
    pull: async (controller) => {
      const { done, value } = await decoded.read();
      if (done) controller.close();
      // Letters of Windows-1258 have their tones behind them.
      else controller.enqueue(isFirst ? withHeader(value).normalize('NFC') : value.normalize('NFC'));
      isFirst = false;
    },
  });
  return texts.pipeThrough(new TextEncoderStream());
}

function withHeaderRow(beginning: Uint8Array): Uint8Array {
  const end = beginning.indexOf(10);
  const line = new TextDecoder().decode(end < 0 ? beginning : beginning.subarray(0, end + 1));
  const headed = withHeader(line);
  if (headed === line) return beginning;
  const head = new TextEncoder().encode(headed);
  const tail = end < 0 ? new Uint8Array() : beginning.subarray(end + 1);
  const joined = new Uint8Array(head.length + tail.length);
  joined.set(head);
  joined.set(tail, head.length);
  return joined;
}

async function kernelOf({ paths }: FileTask): Promise<Kernel> {
  const bytesOf = async (path: string): Promise<Uint8Array<ArrayBuffer>> =>
    new Uint8Array(await (await fetch(path)).arrayBuffer());
  const [kernel, index, reach] = await Promise.all([paths.kernel, paths.index, paths.reach].map(bytesOf));
  return Kernel.create(await Kernel.compile(kernel!), index!, reach!);
}

/** Collects bytes as a Blob. */
class AnswerBlob {
  #parts: Blob[] = [];
  #bytes: Uint8Array<ArrayBuffer>[] = [];
  #size = 0;

  add(answers: readonly Uint8Array<ArrayBuffer>[]): void {
    for (const answer of answers) {
      this.#bytes.push(answer);
      this.#size += answer.length;
    }
    if (this.#size >= PART_BYTES) this.#close();
  }

  take(type: string): Blob {
    this.#close();
    return new Blob(this.#parts, { type });
  }

  #close(): void {
    this.#parts.push(new Blob(this.#bytes));
    this.#bytes = [];
    this.#size = 0;
  }
}
