// `npm run bench -- kernel [--rounds N] [--points N] [--beside FOLDER]`: the library's batch calls (positions in an
// array in; province, cell, text and status in an array out) against h3-js, which-polygon, both together as a user
// would write it, and a copy of the bytes. One process, in turns. A wrong or failed answer ends the run.
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { Hexcodes } from '#dist/hexcodes/library/hexcodes.js';
import { BESIDE_OPTION, libraryModule } from './beside.js';
import { CORPORA, CORPUS_NOTES, makeCorpora } from './corpora.js';
import { head, headLine, saveResult } from './head.js';
import { checkAnswers } from './kernel/answers.js';
import {
  besideRows,
  copyRow,
  decodeRows,
  encodeRows,
  type Row,
  resolutionRows,
  singleRows,
} from './kernel/rows.js';
import { measureStart, type Start } from './kernel/start.js';
import { checkKept, RESOLUTION } from './kernel/subjects.js';
import { spreadText, table } from './measure.js';
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
  const rows: Row[] = [];
  for (const corpus of CORPORA) {
    checkAnswers(hexcodes, corpora[corpus], corpus, provinceAt);
    rows.push(...encodeRows(hexcodes, corpora[corpus], corpus, provinceAt, rounds));
  }
  rows.push(...resolutionRows(hexcodes, corpora.land, rounds));
  rows.push(...decodeRows(hexcodes, corpora.land, rounds));
  rows.push(...COPY_POINTS.map((count) => copyRow(hexcodes, corpora.land, count, rounds)));
  rows.push(...singleRows(hexcodes, corpora.land, rounds));
  if (values.beside !== '') {
    const { Hexcodes: Other } = await libraryModule<{ Hexcodes: typeof Hexcodes }>(
      values.beside,
      'library/hexcodes.js',
    );
    const other = await Other.load();
    for (const corpus of CORPORA) rows.push(...besideRows(hexcodes, other, corpora[corpus], corpus, rounds));
  }
  checkKept();

  const titles = ['× faster', 'what', 'corpus', 'than', 'ours, ns a point', 'theirs, ns a point'];
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

function startLines(start: Start): string {
  const kib = (bytes: number) => `${(bytes / 1024).toFixed(0)} KiB`;
  return [
    `Ready (files read, kernel compiled, index checked and laid out): ${spreadText(start.readyMs)} ms in new processes.`,
    `First batch of 4096 on cold code: ${spreadText(start.firstBatchMs)} ms; first single encode: ${spreadText(start.firstEncodeMs, 2)} ms.`,
    `kernel.wasm ${kib(start.wasmBytes)}; index.bin ${kib(start.indexFileBytes)}, in memory ${kib(start.indexMemoryBytes)};`,
    `memory of one kernel ${kib(start.kernelMemoryBytes)}.`,
  ].join('\n');
}
