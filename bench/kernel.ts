// `npm run bench -- kernel [--rounds N] [--points N] [--beside FOLDER]`: the library's batch calls (positions in an
// array in; province, cell, text and status in an array out) against h3-js, which-polygon, both together as a user
// would write it, and a copy of the bytes. One process, in turns. A wrong or failed answer ends the run.
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { Hexcodes } from '#dist/hexcodes/library/hexcodes.js';
import { BESIDE_OPTION, libraryModule } from './beside.js';
import { CORPORA, CORPUS_NOTES, makeCorpora } from './corpora.js';
import { BenchTable, head } from './head.js';
import { checkAnswers } from './kernel/answers.js';
import {
  besideRows,
  copyRows,
  decodeRows,
  encodeRows,
  type Row,
  resolutionRows,
  singleRows,
} from './kernel/rows.js';
import { measureStart, type Start } from './kernel/start.js';
import { checkKept, RESOLUTION } from './kernel/subjects.js';
import { spreadText } from './measure.js';
import { shippedPolygons } from './polygons.js';

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
