// The worker that converts a file beside the page. It reads the file itself and collects the answer in parts of a
// Blob, so the memory of the page never holds either as a whole.
import { BlockBuffers } from '../../hexcodes/wire/bulk/splitters.js';
import { BulkInputError } from '../../hexcodes/wire/job.js';
import { TableError } from '../../tables/table-error.js';
import { buffersOf } from '../points/drawn-points.js';
import { kernelOf } from '../shell/worker-kernel.js';
import { FileConversion, requestFor } from './conversion.js';
import type { FileNews, FileTask, WorkbookTask } from './messages.js';
import { CommandOnlyError, openSource } from './source.js';
import type { ZonesOfRows } from './zone-column.js';

/**
 * Bytes of the answer that are collected before they become a part of the Blob, which browsers keep outside of the
 * heap.
 */
const PART_BYTES = 8 * 2 ** 20;
const NOT_THERE = 'It is a folder, or it has been changed or moved: choose it again';
/** Interval of progress messages. */
const NEWS_MS = 100;

const tell = (news: FileNews, transfer: Transferable[] = []): void => postMessage(news, { transfer });

addEventListener('message', ({ data }: MessageEvent<FileTask | WorkbookTask>) => {
  (data.kind === 'convert' ? convert(data) : writeWorkbook(data)).catch((error: unknown) => {
    if (error instanceof CommandOnlyError) {
      tell({ kind: 'commandOnly', title: error.message });
      return;
    }
    // ZoneTooLargeError is loaded with zones alone, so the error is recognised by its member.
    const tooLarge = (error as { zone?: unknown } | undefined)?.zone;
    if (typeof tooLarge === 'number') {
      tell({ kind: 'zoneTooLarge', zone: tooLarge });
      return;
    }
    // Browsers say so of a folder, and of a file that has changed since it was chosen.
    const reason =
      error instanceof DOMException ? NOT_THERE : String((error as Partial<Error>).message ?? error);
    tell({ kind: 'refused', reason });
    if (!(error instanceof BulkInputError || error instanceof TableError || error instanceof DOMException))
      throw error;
  });
});

async function convert(task: FileTask): Promise<void> {
  const zones = await zonesOf(task);
  const kernel = await kernelOf(task.paths);
  const { format, bytes, table, request, hasMark } = await openSource(task);
  if (table !== undefined) tell({ kind: 'table', table });
  const reader = bytes.getReader();
  const answer = new AnswerBlob();
  const failed = new AnswerBlob();
  let conversion: FileConversion | undefined;
  let readBytes = 0;
  let toldMs = performance.now();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    if (conversion === undefined) {
      const whole = requestFor(value, format, task.resolution, request);
      conversion = new FileConversion(kernel, whole, new BlockBuffers(), { hasMark, zones });
    }
    answer.add(conversion.push(value));
    failed.add(conversion.takeFailed());
    readBytes += value.length;
    if (performance.now() - toldMs < NEWS_MS) continue;
    toldMs = performance.now();
    tell({ kind: 'progress', readBytes, rows: conversion.tally.rows });
  }
  if (conversion === undefined) throw new BulkInputError('The file is empty');
  answer.add(conversion.end());
  failed.add(conversion.takeFailed());
  const points = conversion.points.take();
  const { tally, blocks } = conversion;
  const type = format === 'csv' ? 'text/csv' : 'application/x-ndjson';
  const answers = { answer: answer.take(type), failed: failed.take(type) };
  const ofPoints = conversion.points.takeZones();
  tell({ kind: 'done', format, ...answers, tally, points, blocks, zones: ofPoints }, [
    ...buffersOf(points),
    ofPoints.buffer,
  ]);
}

async function writeWorkbook({ table, delimiter }: WorkbookTask): Promise<void> {
  const { workbookOf } = await import('./workbook-writer.js');
  tell({ kind: 'workbook', workbook: await workbookOf(table, delimiter) });
}

/** The zones that the visitor has drawn; the zone finder is loaded only when there are some. */
async function zonesOf({ zones, paths }: FileTask): Promise<ZonesOfRows | undefined> {
  if (zones === undefined) return undefined;
  const { ZoneFinder } = await import('../zones/zone-finder.js');
  const finder = await ZoneFinder.of({ ...zones, paths });
  return { names: zones.zones.map(({ name }) => name), find: (positions) => finder.find(positions) };
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
