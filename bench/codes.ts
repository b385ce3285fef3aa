// `npm run bench -- codes [--rounds 9]`: what the strings of a batch cost beside the batch, by its size: all of them
// kept, and in parts of 4,096 that are dropped. CPU of the process, with the threads of V8's collector. In turns.
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { Hexcodes } from '#dist/hexcodes/library/hexcodes.js';
import { makeCorpora } from './corpora.js';
import { RECORD_BYTES, RESOLUTION, textOf } from './kernel/subjects.js';
import { BenchTable, head, ratio, type Spread, spread, spreadText } from './table.js';

const SIZES = [4096, 30_000, 100_000, 300_000, 1_000_000];
const PART = 4096;
/** Different positions; larger batches have them again. */
const POSITIONS = 65_536;
/** Positions of a measurement at least: smaller batches are repeated. */
const MIN_POSITIONS = 400_000;

interface Row {
  readonly positions: number;
  readonly encodeNs: Spread;
  readonly keptRatio: Spread;
  readonly partsRatio: Spread;
}

export default async function benchCodes(args: string[]): Promise<void> {
  const { values } = parseArgs({ args, options: { rounds: { type: 'string', default: '9' } } });
  const headOfRun = head([]);
  const hexcodes = await Hexcodes.load();
  const index = readFileSync('data/index.bin');
  const { land } = makeCorpora(hexcodes.kernel, index, POSITIONS);
  const titles = [
    'positions',
    'encodeBatch, ns each',
    'codes, all kept',
    `codes in parts of ${PART}, dropped`,
  ];
  const table = new BenchTable('codes', headOfRun, titles);
  for (const size of SIZES) {
    const points = Float64Array.from({ length: 2 * size }, (_, at) => land[at % land.length]!);
    const row = measured(hexcodes, points, Number(values.rounds));
    const ratios = [row.keptRatio, row.partsRatio].map((each) => `${spreadText(each, 2)} ×`);
    table.row([row.positions.toLocaleString('en'), spreadText(row.encodeNs), ...ratios], { ...row });
  }
  table.end();
}

function measured(hexcodes: Hexcodes, points: Float64Array, rounds: number): Row {
  const positions = points.length / 2;
  const records = hexcodes.encodeBatch(points, RESOLUTION);
  hexcodes.codes(records).forEach((code, n) => {
    if (code !== textOf(records, n)) throw new Error(`codes: ${code} is ${textOf(records, n)}`);
  });
  const times = Math.ceil(MIN_POSITIONS / positions);
  const subjects = [
    () => hexcodes.encodeBatch(points, RESOLUTION).length,
    () => hexcodes.codes(records).length,
    () => {
      let count = 0;
      for (let at = 0; at < records.length; at += PART * RECORD_BYTES)
        count += hexcodes.codes(records.subarray(at, at + PART * RECORD_BYTES)).length;
      return count;
    },
  ];
  const taken = subjects.map((): number[] => []);
  for (let round = 0; round < rounds; round++)
    for (const [n, run] of subjects.entries()) {
      const before = process.cpuUsage();
      for (let time = 0; time < times; time++) if (run() === 0) throw new Error('nothing');
      const { user, system } = process.cpuUsage(before);
      taken[n]!.push(((user + system) * 1000) / times / positions);
    }
  const [encodeNs, kept, parts] = taken.map(spread) as [Spread, Spread, Spread];
  return { positions, encodeNs, keptRatio: ratio(kept, encodeNs), partsRatio: ratio(parts, encodeNs) };
}
