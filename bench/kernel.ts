// `npm run bench -- kernel [--rounds N] [--points N] [--beside FOLDER]`: the library's batch calls (positions in an
// array in; province, cell, text and status in an array out) against h3-js, which-polygon, both together as a user
// would write it, and a copy of the bytes. One process, in turns. A wrong or failed answer ends the run.
import { execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { cellToLatLng, latLngToCell } from 'h3-js';
import { Hexcodes } from '#dist/hexcodes/library/hexcodes.js';
import { BESIDE_OPTION, libraryModule } from './beside.js';
import { CORPORA, CORPUS_NOTES, type CorpusName, makeCorpora } from './corpora.js';
import {
  BLOCK,
  checkAnswers,
  checkKept,
  eachPoint,
  encodeSubject,
  h3Subject,
  keep,
  RECORD_BYTES,
  RESOLUTION,
  textOf,
} from './kernel/subjects.js';
import { type ProvinceAt, shippedPolygons } from './rivals.js';
import { BenchTable, head, ratio, type Spread, spread, spreadText } from './table.js';
import { type Measured, takeTurns } from './turns.js';

// The rows of the kernel bench: each compares our work with a rival's, both timed in the same rounds.

export interface Row {
  readonly what: string;
  readonly corpus: string;
  /** How many times as long theirs takes. */
  readonly ratio: Spread;
  readonly against: string;
  /** Nanoseconds a point. */
  readonly ours: Spread;
  readonly theirs: Spread;
}

function versus(what: string, corpus: string, ours: Measured, theirs: Measured, against: string): Row {
  return { what, corpus, ratio: ratio(theirs.ns, ours.ns), against, ours: ours.ns, theirs: theirs.ns };
}

/** One corpus: the whole encode and containment alone. */
export function encodeRows(
  hexcodes: Hexcodes,
  points: Float64Array,
  corpus: CorpusName,
  provinceAt: ProvinceAt,
  rounds: number,
): Row[] {
  const { capacity, exports, input } = hexcodes.kernel;
  const plain = encodeSubject(hexcodes, points, RESOLUTION);
  const [ours, withBorders, locate, h3, polygons, pipeline] = takeTurns(
    [
      plain,
      {
        ...plain,
        name: 'encodeBatch with border_m',
        run(piece) {
          plain.run(piece);
          keep(hexcodes.borderBatch(points.subarray(2 * piece * BLOCK, 2 * (piece + 1) * BLOCK))[0]!);
        },
      },
      {
        name: 'containment',
        points: BLOCK,
        pieces: points.length / 2 / BLOCK,
        run(piece) {
          for (let from = piece * BLOCK; from < (piece + 1) * BLOCK; from += capacity) {
            input.set(points.subarray(2 * from, 2 * (from + capacity)));
            exports.locateBatch(capacity);
          }
        },
      },
      h3Subject(points, RESOLUTION),
      eachPoint('which-polygon', points.length / 2, (n) => {
        keep(provinceAt(points[2 * n]!, points[2 * n + 1]!)?.length ?? 0);
      }),
      eachPoint('h3-js + which-polygon + string', points.length / 2, (n) => {
        const [latDeg, lngDeg] = [points[2 * n]!, points[2 * n + 1]!];
        const admin = provinceAt(latDeg, lngDeg);
        if (admin !== null) keep(`${admin}-${latLngToCell(latDeg, lngDeg, RESOLUTION)}`.length);
      }),
    ],
    rounds,
  );
  return [
    versus('whole encode', corpus, ours, h3, 'h3-js latLngToCell alone'),
    versus('whole encode', corpus, ours, pipeline, 'h3-js + which-polygon + string'),
    versus('containment', corpus, locate, polygons, 'which-polygon'),
    versus('whole encode', corpus, ours, withBorders, 'the same with border_m'),
  ];
}

function* resolutionRows(hexcodes: Hexcodes, points: Float64Array, rounds: number): Iterable<Row> {
  for (let resolution = 0; resolution < 16; resolution++) {
    const [ours, h3] = takeTurns(
      [encodeSubject(hexcodes, points, resolution), h3Subject(points, resolution)],
      rounds,
    );
    yield versus(`whole encode, resolution ${resolution}`, 'land', ours, h3, 'h3-js latLngToCell alone');
  }
}

function* decodeRows(hexcodes: Hexcodes, points: Float64Array, rounds: number): Iterable<Row> {
  const count = points.length / 2;
  for (let at = 0; at < 16; at++) {
    const resolution = (at + RESOLUTION) % 16;
    const records = hexcodes.encodeBatch(points, resolution);
    const out = {
      latLng: new Float64Array(2 * count),
      resolution: new Uint8Array(count),
      status: new Uint8Array(count),
    };
    const cells = Array.from({ length: count }, (_, n) =>
      latLngToCell(points[2 * n]!, points[2 * n + 1]!, resolution),
    );
    const [ours, h3] = takeTurns(
      [
        {
          name: 'decodeBatch',
          points: BLOCK,
          pieces: count / BLOCK,
          run(piece) {
            const [from, to] = [piece * BLOCK, (piece + 1) * BLOCK];
            hexcodes.decodeBatch(records.subarray(RECORD_BYTES * from, RECORD_BYTES * to), {
              latLng: out.latLng.subarray(2 * from, 2 * to),
              resolution: out.resolution.subarray(from, to),
              status: out.status.subarray(from, to),
            });
          },
        },
        eachPoint('h3-js cellToLatLng', count, (n) => {
          keep(cellToLatLng(cells[n]!)[0]);
        }),
      ],
      rounds,
    );
    hexcodes.decodeBatch(records, out);
    for (let n = 0; n < count; n++) {
      const [latDeg, lngDeg] = cellToLatLng(cells[n]!);
      const farDeg = Math.abs(out.latLng[2 * n]! - latDeg) + Math.abs(out.latLng[2 * n + 1]! - lngDeg);
      if (out.status[n] !== 0 || !(farDeg < 1e-9))
        throw new Error(
          `decode: ${textOf(records, n)} has status ${out.status[n]}, is ${farDeg} degrees off`,
        );
    }
    yield versus(`whole decode, resolution ${resolution}`, 'land', ours, h3, 'h3-js cellToLatLng alone');
  }
}

/** The batch calls against those of another checkout. */
function besideRows(
  hexcodes: Hexcodes,
  other: Hexcodes,
  points: Float64Array,
  corpus: CorpusName,
  rounds: number,
): Row[] {
  const records = hexcodes.encodeBatch(points, RESOLUTION);
  const decodeSubject = (library: Hexcodes) => ({
    name: 'decodeBatch',
    points: BLOCK,
    pieces: points.length / 2 / BLOCK,
    run: (piece: number) => {
      const [from, to] = [piece * BLOCK, (piece + 1) * BLOCK];
      keep(library.decodeBatch(records.subarray(RECORD_BYTES * from, RECORD_BYTES * to)).resolution[0]!);
    },
  });
  const [encoded, besideEncoded] = takeTurns(
    [
      encodeSubject(hexcodes, points, RESOLUTION),
      { ...encodeSubject(other, points, RESOLUTION), name: 'beside' },
    ],
    rounds,
  );
  const [decoded, besideDecoded] = takeTurns(
    [decodeSubject(hexcodes), { ...decodeSubject(other), name: 'beside' }],
    rounds,
  );
  return [
    versus('whole encode', corpus, encoded, besideEncoded, 'beside'),
    versus('whole decode', corpus, decoded, besideDecoded, 'beside'),
  ];
}

/** Encode against a copy of as many bytes; here ours is the slower side. */
function* copyRows(
  hexcodes: Hexcodes,
  land: Float64Array,
  counts: readonly number[],
  rounds: number,
): Iterable<Row> {
  for (const count of counts) yield copyRow(hexcodes, land, count, rounds);
}

function copyRow(hexcodes: Hexcodes, land: Float64Array, count: number, rounds: number): Row {
  const points = new Float64Array(2 * count);
  for (let at = 0; at < points.length; at += land.length) points.set(land, at);
  const bytes = new Uint8Array(points.buffer);
  // Filled, so that no page of memory is touched for the first time while it is timed.
  const target = new Uint8Array(RECORD_BYTES * count).fill(1);
  const [ours, copy] = takeTurns(
    [
      encodeSubject(hexcodes, points, RESOLUTION),
      {
        name: 'copy',
        points: BLOCK,
        pieces: count / BLOCK,
        run(piece) {
          const to = piece * BLOCK * RECORD_BYTES;
          target.set(bytes.subarray(16 * piece * BLOCK, 16 * (piece + 1) * BLOCK), to);
          target.fill(0, to + 16 * BLOCK, to + RECORD_BYTES * BLOCK);
        },
      },
    ],
    rounds,
  );
  const against = `whole encode, ${count.toLocaleString('en')} points`;
  return versus('a copy: 16 B read, 20 B written', 'land', copy, ours, against);
}

/** One point a call, as a request needs it. */
function singleRows(hexcodes: Hexcodes, points: Float64Array, rounds: number): Row[] {
  const count = points.length / 2;
  const { exports, input } = hexcodes.kernel;
  const texts = Array.from({ length: count }, (_, n) =>
    textOf(hexcodes.encodeBatch(points.subarray(2 * n, 2 * n + 2), RESOLUTION), 0),
  );
  const cells = Array.from({ length: count }, (_, n) =>
    latLngToCell(points[2 * n]!, points[2 * n + 1]!, RESOLUTION),
  );
  const [one, batchOfOne, encode, decode, h3, h3Back] = takeTurns(
    [
      eachPoint('encodeOne', count, (n) => {
        exports.encodeOne(points[2 * n]!, points[2 * n + 1]!, RESOLUTION);
      }),
      eachPoint('batch of one', count, (n) => {
        input[0] = points[2 * n]!;
        input[1] = points[2 * n + 1]!;
        exports.encodeBatch(1, RESOLUTION);
      }),
      eachPoint('encode', count, (n) => {
        keep(hexcodes.encode(points[2 * n]!, points[2 * n + 1]!).hexcodes.length);
      }),
      eachPoint('decode', count, (n) => {
        keep(hexcodes.decode(texts[n]!)?.lat ?? Number.NaN);
      }),
      h3Subject(points, RESOLUTION),
      eachPoint('cellToLatLng', count, (n) => {
        keep(cellToLatLng(cells[n]!)[0]);
      }),
    ],
    rounds,
  );
  return [
    versus('encodeOne of the kernel', 'land', one, batchOfOne, 'encodeBatch of one'),
    versus('encodeOne of the kernel', 'land', one, h3, 'h3-js latLngToCell alone'),
    versus('encode() of one position to an object', 'land', encode, h3, 'h3-js latLngToCell alone'),
    versus('decode() of one text to an object', 'land', decode, h3Back, 'h3-js cellToLatLng alone'),
  ];
}

// The start of the library: load() until ready, the first calls on cold code, and the memory of a kernel. Each start is
// a process of its own, so that nothing is compiled or parsed beforehand.

export interface Start {
  readonly readyMs: Spread;
  readonly firstEncodeMs: Spread;
  readonly firstBatchMs: Spread;
  readonly wasmBytes: number;
  readonly indexFileBytes: number;
  readonly indexMemoryBytes: number;
  readonly kernelMemoryBytes: number;
}

interface OneStart {
  readonly readyMs: number;
  readonly firstEncodeMs: number;
  readonly firstBatchMs: number;
  readonly kernelMemoryBytes: number;
  readonly indexAddress: number;
}

const PROGRAM = `
import { Hexcodes } from '#dist/hexcodes/library/hexcodes.js';
const begin = performance.now();
const hexcodes = await Hexcodes.load();
const ready = performance.now();
hexcodes.encode(21.0288, 105.8525);
const encoded = performance.now();
const points = Float64Array.from({ length: 8192 }, (_, n) => (n % 2 ? 105 + n / 8192 : 21 + n / 16384));
const batchBegin = performance.now();
hexcodes.encodeBatch(points);
const batched = performance.now();
console.log(JSON.stringify({
  readyMs: ready - begin,
  firstEncodeMs: encoded - ready,
  firstBatchMs: batched - batchBegin,
  kernelMemoryBytes: hexcodes.kernel.exports.memory.buffer.byteLength,
  indexAddress: hexcodes.kernel.exports.INDEX.value,
}));
`;

function measureStart(starts = 9): Start {
  const all = Array.from({ length: starts }, (): OneStart => {
    const output = execFileSync(process.execPath, ['--input-type=module', '-e', PROGRAM], {
      encoding: 'utf8',
    });
    return JSON.parse(output) as OneStart;
  });
  const [{ kernelMemoryBytes, indexAddress }] = all as [OneStart];
  return {
    readyMs: spread(all.map(({ readyMs }) => readyMs)),
    firstEncodeMs: spread(all.map(({ firstEncodeMs }) => firstEncodeMs)),
    firstBatchMs: spread(all.map(({ firstBatchMs }) => firstBatchMs)),
    wasmBytes: statSync('dist/kernel.wasm').size,
    indexFileBytes: statSync('data/index.bin').size,
    indexMemoryBytes: kernelMemoryBytes - indexAddress,
    kernelMemoryBytes,
  };
}

/** Points of the comparisons with a copy, 36 bytes each, in and out: 36 MiB and 144 MiB, to be larger than caches. */
const COPY_POINTS = [2 ** 20, 2 ** 22];

export default async function benchKernel(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      rounds: { type: 'string', default: '301' },
      points: { type: 'string', default: '65536' },
      ...BESIDE_OPTION,
    },
  });
  const [rounds, points] = [Number(values.rounds), Number(values.points)];
  const headOfRun = head(['h3-js', 'which-polygon']);
  const start = measureStart();

  const hexcodes = await Hexcodes.load();
  const index = readFileSync('data/index.bin');
  const corpora = makeCorpora(hexcodes.kernel, index, points);
  const provinceAt = shippedPolygons(index);
  const notes = `CPU time, medians and quartiles of ${rounds} rounds in turns, resolution ${RESOLUTION} unless named.`;
  const titles = ['× faster', 'what', 'corpus', 'than', 'ours, ns a point', 'theirs, ns a point'];
  const table = new BenchTable('kernel', headOfRun, titles, notes, { rounds, points, start });
  const print = (rows: Iterable<Row>): void => {
    for (const row of rows) {
      const { ratio, what, corpus, against, ours, theirs } = row;
      const cells = [spreadText(ratio), what, corpus, against, spreadText(ours), spreadText(theirs)];
      table.row(cells, { ...row });
    }
  };
  for (const corpus of CORPORA) {
    checkAnswers(hexcodes, corpora[corpus], corpus, provinceAt);
    print(encodeRows(hexcodes, corpora[corpus], corpus, provinceAt, rounds));
  }
  print(singleRows(hexcodes, corpora.land, rounds));
  print(resolutionRows(hexcodes, corpora.land, rounds));
  print(decodeRows(hexcodes, corpora.land, rounds));
  print(copyRows(hexcodes, corpora.land, COPY_POINTS, rounds));
  if (values.beside !== '') {
    const { Hexcodes: Other } = await libraryModule<{ Hexcodes: typeof Hexcodes }>(
      values.beside,
      'library/hexcodes.js',
    );
    const other = await Other.load();
    for (const corpus of CORPORA) print(besideRows(hexcodes, other, corpora[corpus], corpus, rounds));
  }
  checkKept();

  console.log(`\n${startLines(start)}`);
  console.log(`\n${CORPORA.map((corpus) => `- ${corpus}: ${CORPUS_NOTES[corpus]}`).join('\n')}`);
  table.end();
}

function startLines(start: Start): string {
  const kib = (bytes: number) => `${(bytes / 1024).toFixed(0)} KiB`;
  return [
    `Ready (files read, kernel compiled, index checked and laid out): ${spreadText(start.readyMs)} ms in new processes.`,
    `First batch of 4096 on cold code: ${spreadText(start.firstBatchMs)} ms; first single encode: ${spreadText(start.firstEncodeMs, 2)} ms.`,
    `kernel.wasm ${kib(start.wasmBytes)}; index.bin ${kib(start.indexFileBytes)}, in memory ${kib(start.indexMemoryBytes)};`,
    `memory of one kernel ${kib(start.kernelMemoryBytes)}.`,
  ].join('\n');
}
