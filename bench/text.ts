// `npm run bench -- text [--rounds N] [--beside FOLDER]`: bulk text from bytes to bytes (scan, read numbers, convert,
// print, write) against the kernel alone on the same points, and against csv-parse or JSON.parse with h3-js doing the
// same job. One process, in turns. Rows are checked before anything is timed.
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { parse } from 'csv-parse/sync';
import { cellToLatLng, latLngToCell } from 'h3-js';
import { Hexcodes } from '#dist/hexcodes/library/hexcodes.js';
import type { BulkRequest, Operation } from '#dist/hexcodes/wire/job.js';
import { BESIDE_OPTION, libraryModule } from './beside.js';
import { CORPUS_NOTES, makeCorpora } from './corpora.js';
import { BenchTable, head, ratio, spreadText } from './table.js';
import { type Subject, takeTurns } from './turns.js';

const RESOLUTION = 13;
const RECORD_BYTES = 20;
/** Rows of a piece of ours: a block of CSV or NDJSON of about 160 KiB. */
const PIECE = 4096;
/** Rows of a piece of a rival, which would otherwise outlast a time slice. */
const SLOW_PIECE = 512;
const POINTS = 65_536;
const DECIMALS = 6;

type TextFormat = 'csv' | 'ndjson';

export default async function benchText(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: { rounds: { type: 'string', default: '151' }, ...BESIDE_OPTION },
  });
  const rounds = Number(values.rounds);
  const headOfRun = head(['h3-js', 'csv-parse']);
  const hexcodes = await Hexcodes.load();
  const ours = [await wireOf('.', '')];
  if (values.beside !== '') ours.push(await wireOf(values.beside, ', beside'));
  const corpus = makeCorpora(hexcodes.kernel, readFileSync('data/index.bin'), POINTS).cities;
  const points = corpus.map((value) => Number(value.toFixed(DECIMALS)));
  const table = new BenchTable(
    'text',
    headOfRun,
    [
      ...['operation', 'text', '× the kernel'],
      values.beside === '' ? '× faster than the rival' : '× faster than beside, or the rival',
      'ns a point',
    ],
    `Corpus "cities": ${CORPUS_NOTES.cities}; ${DECIMALS} decimals, resolution ${RESOLUTION}. CPU time, medians and quartiles of ${rounds} rounds in turns.`,
    { rounds },
  );
  for (const operation of ['encode', 'decode'] as const) {
    const subjects = subjectsOf(hexcodes, operation, points, ours);
    const [kernel, ...others] = takeTurns(subjects, rounds, 20);
    for (const measured of others) {
      const isOurs = !measured.name.includes(' + ');
      const rival =
        others.find(({ name }) => name === `${measured.name}, beside`) ??
        others.find(({ name }) => name.startsWith(`${measured.name} by `));
      table.row([
        operation,
        measured.name,
        spreadText(ratio(measured.ns, kernel!.ns), 2),
        isOurs && rival !== undefined ? spreadText(ratio(rival.ns, measured.ns)) : '',
        spreadText(measured.ns),
      ]);
    }
    table.row([operation, 'kernel alone', '1.00', '', spreadText(kernel!.ns)]);
  }
  table.end();
}

/** The modules of a checkout that convert text, and a library of its own kernel. */
interface Wire {
  /** Ending of the names of its rows. */
  readonly ending: string;
  readonly hexcodes: Hexcodes;
  readonly convertBlock: typeof import('#dist/hexcodes/wire/bulk/convert-block.js').convertBlock;
  readonly BulkReader: typeof import('#dist/hexcodes/wire/bulk/reader.js').BulkReader;
  readonly ByteSink: typeof import('#dist/hexcodes/wire/bytes/byte-sink.js').ByteSink;
  readonly batch: typeof import('#dist/hexcodes/wire/rows/batch.js');
}

async function wireOf(folder: string, ending: string): Promise<Wire> {
  const [library, block, reader, bytes, batch] = await Promise.all([
    libraryModule<{ Hexcodes: typeof Hexcodes }>(folder, 'library/hexcodes.js'),
    libraryModule<Pick<Wire, 'convertBlock'>>(folder, 'wire/bulk/convert-block.js'),
    libraryModule<Pick<Wire, 'BulkReader'>>(folder, 'wire/bulk/reader.js'),
    libraryModule<Pick<Wire, 'ByteSink'>>(folder, 'wire/bytes/byte-sink.js'),
    libraryModule<Wire['batch']>(folder, 'wire/rows/batch.js'),
  ]);
  const { convertBlock } = block;
  const { BulkReader } = reader;
  const { ByteSink } = bytes;
  return { ending, hexcodes: await library.Hexcodes.load(), convertBlock, BulkReader, ByteSink, batch };
}

function subjectsOf(
  hexcodes: Hexcodes,
  operation: Operation,
  points: Float64Array,
  ours: readonly Wire[],
): Subject[] {
  return [
    kernelSubject(hexcodes, operation, points),
    ...ours.flatMap((wire) => [
      blockSubject(wire, operation, 'csv', points),
      blockSubject(wire, operation, 'ndjson', points),
      batchSubject(wire, operation, points),
      ...(operation === 'decode'
        ? [printSubject(wire, points)]
        : [
            blockSubject(wire, operation, 'csv', points, true),
            blockSubject(wire, operation, 'ndjson', points, true),
          ]),
    ]),
    rivalSubject(hexcodes, operation, 'csv', points),
    rivalSubject(hexcodes, operation, 'ndjson', points),
  ];
}

/** The kernel's own batch call, points or records copied in. */
function kernelSubject(hexcodes: Hexcodes, operation: Operation, points: Float64Array): Subject {
  const { exports, input, inputBytes } = hexcodes.kernel;
  const records = hexcodes.encodeBatch(points, RESOLUTION);
  return {
    name: 'kernel alone',
    points: PIECE,
    pieces: POINTS / PIECE,
    run(piece) {
      if (operation === 'encode') {
        input.set(points.subarray(2 * piece * PIECE, 2 * (piece + 1) * PIECE));
        exports.encodeBatch(PIECE, RESOLUTION);
      } else {
        inputBytes.set(records.subarray(RECORD_BYTES * piece * PIECE, RECORD_BYTES * (piece + 1) * PIECE));
        exports.decodeBatch(PIECE);
      }
    },
  };
}

/** Both numbers of decoded positions as text, a call of the kernel each. */
function printSubject({ ending, hexcodes }: Wire, points: Float64Array): Subject {
  const { exports, inputBytes, outputFloats, textOut } = hexcodes.kernel;
  const records = hexcodes.encodeBatch(points, RESOLUTION);
  const pieces = Array.from({ length: POINTS / PIECE }, (_, piece) => {
    inputBytes.set(records.subarray(RECORD_BYTES * piece * PIECE, RECORD_BYTES * (piece + 1) * PIECE));
    exports.decodeBatch(PIECE);
    return outputFloats.slice(0, 2 * PIECE);
  });
  return {
    name: `printing of two numbers${ending}`,
    points: PIECE,
    pieces: pieces.length,
    run(piece) {
      for (const value of pieces[piece]!) sink += exports.printNumber(value, textOut.byteOffset);
    },
  };
}

function blockSubject(
  { ending, hexcodes, convertBlock, BulkReader, ByteSink }: Wire,
  operation: Operation,
  format: TextFormat,
  points: Float64Array,
  certainty = false,
): Subject {
  const documents = documentsOf(hexcodes, operation, format, points, PIECE);
  const request: BulkRequest = {
    operation,
    input: format,
    output: format,
    resolution: RESOLUTION,
    prefix: '',
    certainty,
  };
  const pieces = documents.map((document) => {
    const reader = new BulkReader(request);
    const blocks = [...reader.push(document), ...reader.end()];
    return { job: reader.job!, blocks };
  });
  for (const { job, blocks } of pieces)
    for (const block of blocks)
      if (convertBlock(hexcodes.kernel, job, block).failed > 0) throw new Error(`${format}: a row failed`);
  // Buffer and sink for all blocks, as a worker of the service reuses its own.
  const buffer = new Uint8Array(1 << 20);
  const answers = new ByteSink();
  return {
    name: `${format === 'csv' ? 'CSV' : 'NDJSON'}${certainty ? ' with certainty' : ''}${ending}`,
    points: PIECE,
    pieces: documents.length,
    run(piece) {
      const { job, blocks } = pieces[piece]!;
      for (const block of blocks)
        sink += convertBlock(hexcodes.kernel, job, block, buffer, answers).bytes.length;
    },
  };
}

function batchSubject(
  { ending, hexcodes, ByteSink, batch }: Wire,
  operation: Operation,
  points: Float64Array,
): Subject {
  const { batchBody, convertBatch, openBatch } = batch;
  const name = operation === 'encode' ? 'points' : 'hexcodes';
  const bodies = documentsOf(hexcodes, operation, 'ndjson', points, PIECE).map((document) =>
    Buffer.from(`{"${name}":[${Buffer.from(document).toString().trimEnd().split('\n').join(',')}]}`),
  );
  const answers = new ByteSink();
  return {
    name: `batch JSON${ending}`,
    points: PIECE,
    pieces: bodies.length,
    run(piece) {
      const opened = openBatch(operation, bodies[piece]!, hexcodes.kernel);
      sink += batchBody(convertBatch(hexcodes.kernel, opened, answers)).length;
    },
  };
}

/** The code of a user without this library: a parser, one object a row, h3-js and a string; no province, no hexcode. */
function rivalSubject(
  hexcodes: Hexcodes,
  operation: Operation,
  format: TextFormat,
  points: Float64Array,
): Subject {
  const documents = documentsOf(hexcodes, operation, format, points, SLOW_PIECE, true);
  const isCsv = format === 'csv';
  return {
    name: isCsv ? 'CSV by csv-parse + h3-js' : 'NDJSON by JSON.parse + h3-js',
    points: SLOW_PIECE,
    pieces: documents.length,
    run(piece) {
      const text = new TextDecoder().decode(documents[piece]!);
      const items = isCsv
        ? (parse(text, { columns: true }) as Record<string, string>[])
        : text
            .trimEnd()
            .split('\n')
            .map((line) => JSON.parse(line) as Record<string, string>);
      const lines = items.map((item) => rivalLine(operation, isCsv, item));
      sink += new TextEncoder().encode(lines.join('\n')).length;
    },
  };
}

function rivalLine(operation: Operation, isCsv: boolean, item: Record<string, string>): string {
  if (operation === 'encode') {
    const cell = latLngToCell(Number(item.lat), Number(item.lng), RESOLUTION);
    return isCsv
      ? `${Object.values(item).join(',')},${cell},${RESOLUTION},OK`
      : JSON.stringify({ hexcodes: cell, ...item, resolution: RESOLUTION, status: 'OK' });
  }
  const [lat, lng] = cellToLatLng(item.hexcodes!);
  return isCsv
    ? `${Object.values(item).join(',')},${lat},${lng},${RESOLUTION},OK`
    : JSON.stringify({ lat, lng, resolution: RESOLUTION, ...item, status: 'OK' });
}

/** `id,lat,lng` or `id,hexcodes`, as rows or objects; `cells`: H3 indexes in place of hexcodes. */
function documentsOf(
  hexcodes: Hexcodes,
  operation: Operation,
  format: TextFormat,
  points: Float64Array,
  size: number,
  cells = false,
): Uint8Array[] {
  const documents: Uint8Array[] = [];
  for (let from = 0; from < POINTS; from += size) {
    const lines: string[] = [];
    if (format === 'csv') lines.push(operation === 'encode' ? 'id,lat,lng' : 'id,hexcodes');
    for (let n = from; n < from + size; n++) {
      const [lat, lng] = [points[2 * n]!, points[2 * n + 1]!];
      if (operation === 'encode') {
        lines.push(format === 'csv' ? `${n},${lat},${lng}` : `{"lat":${lat},"lng":${lng},"id":${n}}`);
        continue;
      }
      const code = cells
        ? latLngToCell(lat, lng, RESOLUTION)
        : hexcodes.encode(lat, lng, RESOLUTION).hexcodes;
      lines.push(format === 'csv' ? `${n},${code}` : `{"hexcodes":"${code}","id":${n}}`);
    }
    documents.push(new TextEncoder().encode(`${lines.join('\n')}\n`));
  }
  return documents;
}

/** Sum of the bytes written, so that the engine cannot leave the writing out. */
let sink = 0;
process.on('exit', () => {
  if (sink === 0) process.exitCode = 1;
});
