// `npm run bench -- kernel [--rounds N] [--points N]`: what users get of the library (positions in an array handed in,
// containment, cell, text and status out into an array) against h3-js, which-polygon, both together as a user would
// write it, and a copy of the bytes. One process, in turns. A wrong or failed answer ends the run.
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { cellToLatLng, latLngToCell } from 'h3-js';
import whichPolygon from 'which-polygon';
import { ADMIN_UNITS } from '#dist/admin-units.js';
import { ProvinceBorders } from '#dist/geometry/province-borders.js';
import { Hexcodes } from '#dist/library/node.js';
import { CORPORA, CORPUS_NOTES, type CorpusName, makeCorpora } from './corpora.js';
import { head, headLine, saveResult } from './head.js';
import { type Measured, ratio, type Spread, type Subject, spreadText, table, takeTurns } from './measure.js';
import { measureStart, type Start } from './start.js';

const RESOLUTION = 13;
const RECORD_BYTES = 20;
/** Points of the comparisons with a copy, 16 bytes in and 20 out: 36 MiB, and 144 MiB, which no cache here holds. */
const COPY_POINTS = [2 ** 20, 2 ** 22];

interface Row {
  readonly what: string;
  readonly corpus: string;
  readonly ratio: Spread;
  readonly against: string;
  readonly ours: Spread;
  readonly theirs: Spread;
}

export default async function benchKernel(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: { rounds: { type: 'string', default: '301' }, points: { type: 'string', default: '65536' } },
  });
  const [rounds, points] = [Number(values.rounds), Number(values.points)];
  const headOfRun = head(['h3-js', 'which-polygon']);
  const start = measureStart();

  const hexcodes = await Hexcodes.load();
  const index = readFileSync('data/index.bin');
  const corpora = makeCorpora(hexcodes.kernel, index, points);
  const find = polygonsOf(index);
  const rows: Row[] = [];
  for (const corpus of CORPORA) {
    checkAnswers(hexcodes, corpora[corpus], corpus, find);
    rows.push(...encodeRows(hexcodes, corpora[corpus], corpus, find, rounds));
  }
  rows.push(...resolutionRows(hexcodes, corpora.land, rounds));
  rows.push(...decodeRows(hexcodes, corpora.land, rounds));
  rows.push(...COPY_POINTS.map((count) => copyRow(hexcodes, corpora.land, count, rounds)));
  rows.push(...singleRows(hexcodes, corpora.land, rounds));

  const titles = ['× faster', 'what', 'corpus', 'than', 'ours, ns a point', 'theirs, ns a point'];
  if (Number.isNaN(sink)) throw new Error('a rival failed');
  console.log(`${headLine(headOfRun)}\n`);
  console.log(`Medians and quartiles of ${rounds} rounds in turns, resolution ${RESOLUTION} unless named.\n`);
  console.log(
    table(
      titles,
      rows.map((row) => [
        spreadText(row.ratio),
        row.what,
        row.corpus,
        row.against,
        spreadText(row.ours),
        spreadText(row.theirs),
      ]),
    ),
  );
  console.log(`\n${startLines(start)}`);
  console.log(`\n${CORPORA.map((corpus) => `- ${corpus}: ${CORPUS_NOTES[corpus]}`).join('\n')}`);
  console.log(`\n${saveResult('kernel', { head: headOfRun, rounds, points, rows, start })}`);
}

type Find = (latDeg: number, lngDeg: number) => string | null;

/** which-polygon on the shipped boundaries, one feature a province. */
function polygonsOf(index: Uint8Array): Find {
  const borders = new ProvinceBorders(index);
  const features = ADMIN_UNITS.map(({ code }, admin) => ({
    type: 'Feature' as const,
    properties: { code },
    geometry: borders.ofAdmin(admin),
  }));
  const query = whichPolygon<{ code: string }>({ type: 'FeatureCollection', features });
  return (latDeg, lngDeg) => query([lngDeg, latDeg])?.code ?? null;
}

/** Every record against what it should be: its status, and of some its province and its cell. */
function checkAnswers(hexcodes: Hexcodes, points: Float64Array, corpus: CorpusName, find: Find): void {
  const records = hexcodes.encodeBatch(points, RESOLUTION);
  const count = points.length / 2;
  for (let n = 0; n < count; n++) {
    const [latDeg, lngDeg] = [points[2 * n]!, points[2 * n + 1]!];
    const status = records[RECORD_BYTES * n + 19]!;
    const covered = hexcodes.adminCodeOf(latDeg, lngDeg) !== null;
    if (status !== (covered ? 0 : 1)) throw new Error(`${corpus}: status ${status} of ${latDeg}, ${lngDeg}`);
    if (n % 16 !== 0) continue;
    // which-polygon counts a point beyond the last micro-degree of a province; those few are no matter here
    const text = textOf(records, n);
    const code = find(latDeg, lngDeg);
    const rounded = find(Math.floor(latDeg * 1e6 + 0.5) / 1e6, Math.floor(lngDeg * 1e6 + 0.5) / 1e6);
    const admin = text === '' ? null : text.slice(0, text.indexOf('-'));
    if (admin !== code && admin !== rounded)
      throw new Error(`${corpus}: ${admin} is ${code} to which-polygon`);
    if (text === '') continue;
    const cell = hexcodes.read(text)?.cell.toString(16);
    if (cell !== latLngToCell(latDeg, lngDeg, RESOLUTION)) throw new Error(`${corpus}: ${text} is ${cell}`);
  }
}

function textOf(records: Uint8Array, n: number): string {
  return String.fromCharCode(
    ...records.subarray(RECORD_BYTES * n, RECORD_BYTES * n + 19).filter((byte) => byte !== 0),
  );
}

function versus(what: string, corpus: string, ours: Measured, theirs: Measured, against: string): Row {
  return { what, corpus, ratio: ratio(theirs, ours), against, ours: ours.ns, theirs: theirs.ns };
}

/** Sums of the rivals' answers, so that nothing they do can be left out. */
let sink = 0;

/** Points of a piece of work: of ours, and of subjects that are slower by far. */
const BLOCK = 16384;
const SLOW_BLOCK = 256;

/** A subject that works point by point: `one` gets the place of a point, since numbers of degrees would be boxed. */
function eachPoint(name: string, count: number, one: (n: number) => void): Subject {
  return {
    name,
    points: SLOW_BLOCK,
    pieces: count / SLOW_BLOCK,
    run(piece) {
      const end = (piece + 1) * SLOW_BLOCK;
      for (let n = piece * SLOW_BLOCK; n < end; n++) one(n);
    },
  };
}

function h3Subject(points: Float64Array, resolution: number): Subject {
  return eachPoint('h3-js latLngToCell', points.length / 2, (n) => {
    sink += latLngToCell(points[2 * n]!, points[2 * n + 1]!, resolution).length;
  });
}

function encodeSubject(hexcodes: Hexcodes, points: Float64Array, resolution: number): Subject {
  const records = new Uint8Array((RECORD_BYTES * points.length) / 2).fill(1);
  return {
    name: 'encodeBatch',
    points: BLOCK,
    pieces: points.length / 2 / BLOCK,
    run(piece) {
      const from = piece * BLOCK;
      const out = records.subarray(RECORD_BYTES * from, RECORD_BYTES * (from + BLOCK));
      hexcodes.encodeBatch(points.subarray(2 * from, 2 * (from + BLOCK)), resolution, out);
    },
  };
}

function encodeRows(
  hexcodes: Hexcodes,
  points: Float64Array,
  corpus: CorpusName,
  find: Find,
  rounds: number,
): Row[] {
  const { capacity, exports, input } = hexcodes.kernel;
  const { locateBatch } = exports as typeof exports & { locateBatch(count: number): void };
  const [ours, locate, h3, polygons, pipeline] = takeTurns(
    [
      encodeSubject(hexcodes, points, RESOLUTION),
      {
        name: 'containment',
        points: BLOCK,
        pieces: points.length / 2 / BLOCK,
        run(piece) {
          for (let from = piece * BLOCK; from < (piece + 1) * BLOCK; from += capacity) {
            input.set(points.subarray(2 * from, 2 * (from + capacity)));
            locateBatch(capacity);
          }
        },
      },
      h3Subject(points, RESOLUTION),
      eachPoint('which-polygon', points.length / 2, (n) => {
        sink += find(points[2 * n]!, points[2 * n + 1]!)?.length ?? 0;
      }),
      eachPoint('h3-js + which-polygon + string', points.length / 2, (n) => {
        const [latDeg, lngDeg] = [points[2 * n]!, points[2 * n + 1]!];
        const admin = find(latDeg, lngDeg);
        if (admin !== null) sink += `${admin}-${latLngToCell(latDeg, lngDeg, RESOLUTION)}`.length;
      }),
    ],
    rounds,
  ) as [Measured, Measured, Measured, Measured, Measured];
  return [
    versus('whole encode', corpus, ours, h3, 'h3-js latLngToCell alone'),
    versus('whole encode', corpus, ours, pipeline, 'h3-js + which-polygon + string'),
    versus('containment', corpus, locate, polygons, 'which-polygon'),
  ];
}

function resolutionRows(hexcodes: Hexcodes, points: Float64Array, rounds: number): Row[] {
  return Array.from({ length: 16 }, (_, resolution) => {
    const [ours, h3] = takeTurns(
      [encodeSubject(hexcodes, points, resolution), h3Subject(points, resolution)],
      rounds,
    ) as [Measured, Measured];
    return versus(`whole encode, resolution ${resolution}`, 'land', ours, h3, 'h3-js latLngToCell alone');
  });
}

function decodeRows(hexcodes: Hexcodes, points: Float64Array, rounds: number): Row[] {
  const count = points.length / 2;
  return Array.from({ length: 16 }, (_, at) => (at + RESOLUTION) % 16).map((resolution) => {
    const records = hexcodes.encodeBatch(points, resolution);
    const out = {
      latLngDeg: new Float64Array(2 * count),
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
              latLngDeg: out.latLngDeg.subarray(2 * from, 2 * to),
              resolution: out.resolution.subarray(from, to),
              status: out.status.subarray(from, to),
            });
          },
        },
        eachPoint('h3-js cellToLatLng', count, (n) => {
          sink += cellToLatLng(cells[n]!)[0];
        }),
      ],
      rounds,
    ) as [Measured, Measured];
    hexcodes.decodeBatch(records, out);
    for (let n = 0; n < count; n++) {
      const [latDeg, lngDeg] = cellToLatLng(cells[n]!);
      const farDeg = Math.abs(out.latLngDeg[2 * n]! - latDeg) + Math.abs(out.latLngDeg[2 * n + 1]! - lngDeg);
      if (out.status[n] !== 0 || !(farDeg < 1e-9))
        throw new Error(
          `decode: ${textOf(records, n)} has status ${out.status[n]}, is ${farDeg} degrees off`,
        );
    }
    return versus(`whole decode, resolution ${resolution}`, 'land', ours, h3, 'h3-js cellToLatLng alone');
  });
}

/** Encode against moving as many bytes, in pieces one after another; here ours takes longer. */
function copyRow(hexcodes: Hexcodes, land: Float64Array, count: number, rounds: number): Row {
  const points = new Float64Array(2 * count);
  for (let at = 0; at < points.length; at += land.length) points.set(land, at);
  const bytes = new Uint8Array(points.buffer);
  // filled, so that no page of either is new when its time is taken
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
  ) as [Measured, Measured];
  const against = `whole encode, ${count.toLocaleString('en')} points`;
  return versus('a copy: 16 B read, 20 B written', 'land', copy, ours, against);
}

/** One point a call, as a request asks. */
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
        sink += hexcodes.encode(points[2 * n]!, points[2 * n + 1]!).hexcodes.length;
      }),
      eachPoint('decode', count, (n) => {
        sink += hexcodes.decode(texts[n]!)?.lat ?? Number.NaN;
      }),
      h3Subject(points, RESOLUTION),
      eachPoint('cellToLatLng', count, (n) => {
        sink += cellToLatLng(cells[n]!)[0];
      }),
    ],
    rounds,
  ) as [Measured, Measured, Measured, Measured, Measured, Measured];
  return [
    versus('encodeOne of the kernel', 'land', one, batchOfOne, 'encodeBatch of one'),
    versus('encodeOne of the kernel', 'land', one, h3, 'h3-js latLngToCell alone'),
    versus('encode() of one position to an object', 'land', encode, h3, 'h3-js latLngToCell alone'),
    versus('decode() of one text to an object', 'land', decode, h3Back, 'h3-js cellToLatLng alone'),
  ];
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
