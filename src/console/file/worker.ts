// The worker that converts a file beside the page. It reads the file itself, and the answer goes into a Blob bit by
// bit, so neither is ever in the memory of the page as a whole.
import { Kernel } from '../../hexcodes/kernel/kernel.js';
import { BlockBuffers } from '../../hexcodes/wire/bulk/block-buffers.js';
import { BulkInputError } from '../../hexcodes/wire/job.js';
import { FileConversion, requestFor } from './conversion.js';
import type { FileNews, FileTask } from './messages.js';

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
  const reader = source.getReader();
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
