// `npm run bench -- baseline [--rows 100000] [--rounds 15] [--only PATTERN] [--write] [--beside FOLDER]`: CPU a row by
// source, target, flags and spelling, of this checkout and another one in turns. Files go through the command with one
// thread, each run a process of its own, whose start counts. Bulk bodies, batches and frames of JSON go through the
// library in this process. `--write` puts the table into bench/baseline.json, by which changes are judged.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { BESIDE_OPTION, commandIn, libraryModule } from './beside.js';
import { cpuOf } from './command.js';
import { type Head, head, headLine, table } from './table.js';

type Row = (lat: string, lng: string, n: number) => string;

/** Spellings of a line, of an element of an array without its line break, and of a row of CSV with its header. */
const JSON_ROWS: Readonly<Record<string, Row>> = {
  compact: (lat, lng, n) => `{"id":${n},"lat":${lat},"lng":${lng}}`,
  'json.dumps': (lat, lng, n) => `{"id": ${n}, "lat": ${lat}, "lng": ${lng}}`,
  json_build_object: (lat, lng, n) => `{"id" : ${n}, "lat" : ${lat}, "lng" : ${lng}}`,
  'lng first': (lat, lng, n) => `{"lng":${lng},"lat":${lat},"id":${n}}`,
  lon: (lat, lng, n) => `{"id":${n},"lat":${lat},"lon":${lng}}`,
  'latitude, json.dumps': (lat, lng, n) => `{"id": ${n}, "latitude": ${lat}, "longitude": ${lng}}`,
  exponents: (lat, lng, n) => `{"id":${n},"lat":${lat}e0,"lng":${lng}e0}`,
  '25 digits': (lat, lng, n) => `{"id":${n},"lat":${lat}12345678901234567,"lng":${lng}1234567890123456}`,
  vehicle: (lat, lng, n) =>
    `{"id":${n},"plate":"51F-1234","lat":${lat},"lng":${lng},"time":"2026-01-01T00:00:00Z","speed":12.5,"ok":true}`,
  'vehicle, json.dumps': (lat, lng, n) =>
    `{"id": ${n}, "plate": "51F-1234", "lat": ${lat}, "lng": ${lng}, "time": "2026-01-01T00:00:00Z", "speed": 12.5, "ok": true}`,
  nested: (lat, lng, n) => `{"id":${n},"attributes":{"io":[1,2],"note":null},"lat":${lat},"lng":${lng}}`,
  'nested, json.dumps': (lat, lng, n) =>
    `{"id": ${n}, "attributes": {"io": [1, 2], "note": null}, "lat": ${lat}, "lng": ${lng}}`,
  'escaped names': (lat, lng, n) =>
    `{"id": ${n}, "bi\\u1ec3n s\\u1ed1": "51F", "lat": ${lat}, "lng": ${lng}}`,
};
const CSV_ROWS: Readonly<Record<string, Row>> = {
  plain: (lat, lng, n) => `${n},${lat},${lng},x`,
  quoted: (lat, lng, n) => `"${n}","${lat}","${lng}","x"`,
  blanks: (lat, lng, n) => `${n}, ${lat}, ${lng}, x`,
  exponents: (lat, lng, n) => `${n},${lat}e+00,${lng}e+00,x`,
};

const points = (rows: number): [string, string][] =>
  Array.from({ length: rows }, (_, n) => [
    (20.9 + ((n * 7919) % 1000) / 5000).toFixed(6),
    (105.7 + ((n * 104729) % 1000) / 5000).toFixed(6),
  ]);

interface FileCell {
  readonly source: string;
  readonly spelling: string;
  readonly target: string;
  readonly flags: readonly string[];
}

const cell = (source: string, target: string, spelling: string, ...flags: string[]): FileCell => ({
  ...{ source, target, spelling, flags },
});

const FILES: readonly FileCell[] = [
  ...Object.keys(CSV_ROWS).map((spelling) => cell('csv', 'csv', spelling)),
  ...[['--certainty'], ['--former'], ['--keep', 'id'], ['--prefix', 'p_']].map((flags) =>
    cell('csv', 'csv', 'plain', ...flags),
  ),
  ...Object.keys(JSON_ROWS).map((spelling) => cell('ndjson', 'ndjson', spelling)),
  ...[['--certainty'], ['--lat', 'lat', '--lng', 'lng'], ['--drop', 'id']].map((flags) =>
    cell('ndjson', 'ndjson', 'compact', ...flags),
  ),
  ...['compact', 'json.dumps', 'json_build_object', 'vehicle, json.dumps'].map((spelling) =>
    cell('ndjson', 'csv', spelling),
  ),
  ...['compact', 'json.dumps'].map((spelling) => cell('ndjson', 'parquet', spelling)),
  ...['parquet', 'ndjson', 'arrow'].map((target) => cell('csv', target, 'plain')),
  cell('csv', 'parquet', 'plain', '--certainty'),
  cell('csv', 'parquet', 'plain', '--sort', 'cell'),
  ...['parquet', 'csv', 'ndjson', 'arrow'].map((target) => cell('parquet', target, 'plain')),
  ...['arrow', 'csv'].map((target) => cell('arrow', target, 'plain')),
];

interface Figure {
  readonly what: string;
  /** CPU of a row, the median of all rounds, by checkout. */
  readonly ns: (number | null)[];
}

/** One run of this bench, as bench/baseline.json has it. */
interface Run {
  readonly head: Head;
  /** Rows of a file. */
  readonly rows: number;
  readonly rounds: number;
  /** Commits of the checkouts besides this one, whose figures come second. */
  readonly besides: readonly string[];
  readonly figures: readonly Figure[];
}

function commitIn(folder: string): string {
  return execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: folder, encoding: 'utf8' }).trim();
}

/** One conversion, by each checkout. */
interface Measured {
  readonly what: string;
  readonly rows: number;
  /** CPU of the conversion by a checkout, in ms. @throws Error where the checkout cannot do it */
  run(checkout: number): number;
}

/** Files of every spelling in a folder, and runs of the command over them. */
function fileCells(folder: string, rows: number, commands: readonly string[], only: RegExp): Measured[] {
  const position = points(rows);
  const written = new Set<string>();
  const fileOf = ({ source, spelling }: FileCell): string => {
    const name = `${source}-${spelling.replaceAll(/\W+/g, '-')}.${source}`;
    if (written.has(name)) return name;
    const rowOf = (source === 'ndjson' ? JSON_ROWS : CSV_ROWS)[spelling]!;
    const text = position.map(([lat, lng], n) => `${rowOf(lat, lng, n)}\n`).join('');
    if (source === 'ndjson') writeFileSync(join(folder, name), text);
    else {
      writeFileSync(join(folder, 'made.csv'), `id,lat,lng,note\n${text}`);
      // The command makes the others, with its own columns beside.
      if (source === 'csv') writeFileSync(join(folder, name), `id,lat,lng,note\n${text}`);
      else cpuOf([commands[0]!, 'encode', 'made.csv', '-o', name, '--prefix', 'old_', '-q'], folder);
    }
    written.add(name);
    return name;
  };
  return FILES.map((each): Measured => {
    const { source, target, spelling, flags } = each;
    const what = [`${source} → ${target}`, spelling, ...flags].join(', ').replace(/^(.*→ \w+), plain/, '$1');
    const run = (checkout: number): number => {
      const args = ['encode', fileOf(each), ...flags, '-o', `out.${target}`, '--threads', '1', '-q'];
      return cpuOf([commands[checkout]!, ...args], folder);
    };
    return { what, rows, run };
  }).filter(({ what }) => only.test(what));
}

interface Wire {
  readonly bulk: (input: 'csv' | 'ndjson', body: Uint8Array) => void;
  readonly batch: (body: Uint8Array) => void;
  readonly frame: (body: Uint8Array) => void;
}

/** Conversions of the library in a checkout. */
async function wireOf(folder: string): Promise<Wire> {
  const { Kernel } = await libraryModule<typeof import('#dist/hexcodes/kernel/kernel.js')>(
    folder,
    'kernel/kernel.js',
  );
  const { BulkReader } = await libraryModule<typeof import('#dist/hexcodes/wire/bulk/reader.js')>(
    folder,
    'wire/bulk/reader.js',
  );
  const { convertBlock } = await libraryModule<typeof import('#dist/hexcodes/wire/bulk/convert-block.js')>(
    folder,
    'wire/bulk/convert-block.js',
  );
  const batches = await libraryModule<typeof import('#dist/hexcodes/wire/rows/batch.js')>(
    folder,
    'wire/rows/batch.js',
  );
  const { answerJsonFrame } = await libraryModule<typeof import('#dist/hexcodes/wire/rows/json-frame.js')>(
    folder,
    'wire/rows/json-frame.js',
  );
  const { ByteSink } = await libraryModule<typeof import('#dist/hexcodes/wire/bytes/byte-sink.js')>(
    folder,
    'wire/bytes/byte-sink.js',
  );
  const [kernelFile, index, reach] = ['dist/kernel.wasm', 'data/index.bin', 'data/reach.bin'].map((name) =>
    readFileSync(resolve(folder, name)),
  );
  const kernel = Kernel.create(kernelFile!, index!, reach!);
  const sink = new ByteSink();
  const buffer = new Uint8Array(4 * 2 ** 20);
  return {
    bulk: (input, body) => {
      const reader = new BulkReader({
        ...{ operation: 'encode', input, output: input, resolution: 13, prefix: '' },
      });
      for (const block of [...reader.push(body), ...reader.end()])
        convertBlock(kernel, reader.job!, block, buffer);
    },
    batch: (body) => {
      batches.batchBody(batches.convertBatch(kernel, batches.openBatch('encode', body, kernel), sink));
    },
    frame: (body) => {
      answerJsonFrame(kernel, body, sink);
    },
  };
}

const REQUEST_ROWS = 1000;
const REPEATS = 20;

function wireCells(wires: readonly Wire[], only: RegExp): Measured[] {
  const position = points(REQUEST_ROWS);
  const measured = (what: string, work: (wire: Wire) => void): Measured => ({
    what,
    rows: REQUEST_ROWS * REPEATS,
    run: (checkout) => {
      const before = process.cpuUsage();
      for (let n = 0; n < REPEATS; n++) work(wires[checkout]!);
      const { user, system } = process.cpuUsage(before);
      return (user + system) / 1000;
    },
  });
  const cells = Object.entries(JSON_ROWS).flatMap(([spelling, rowOf]) => {
    const items = position.map(([lat, lng], n) => rowOf(lat, lng, n));
    const [lines, batch, frame] = [
      items.map((item) => `${item}\n`).join(''),
      `{"points":[${items.join()}]}`,
      `{"seq":1,"op":"encode","points":[${items.join()}]}`,
    ].map((text) => Buffer.from(text));
    return [
      measured(`/bulk of NDJSON, ${spelling}`, (wire) => wire.bulk('ndjson', lines!)),
      measured(`batch, ${spelling}`, (wire) => wire.batch(batch!)),
      ...(spelling === 'compact' || spelling === 'json.dumps'
        ? [measured(`JSON frame, ${spelling}`, (wire) => wire.frame(frame!))]
        : []),
    ];
  });
  const indented = Buffer.from(
    JSON.stringify({ points: position.map(([lat, lng], id) => ({ id, lat: +lat, lng: +lng })) }, null, 2),
  );
  const tables = Object.entries(CSV_ROWS).map(([spelling, rowOf]) => {
    const body = Buffer.from(
      `id,lat,lng,note\n${position.map(([lat, lng], n) => `${rowOf(lat, lng, n)}\n`).join('')}`,
    );
    return measured(`/bulk of CSV, ${spelling}`, (wire) => wire.bulk('csv', body));
  });
  return [...cells, measured('batch, indented', (wire) => wire.batch(indented)), ...tables].filter(
    ({ what }) => only.test(what),
  );
}

/** The median CPU of each cell by each checkout, in ns a row. */
function measureAll(cells: readonly Measured[], checkouts: number, rounds: number): Figure[] {
  return cells.map(({ what, rows, run }) => {
    const all = Array.from({ length: checkouts }, (): number[] => []);
    for (let round = 0; round < rounds; round++) {
      // Who goes first changes with each round.
      for (let k = 0; k < checkouts; k++) {
        const which = (k + round) % checkouts;
        try {
          all[which]!.push(run(which));
        } catch (error) {
          if (round === 0) console.error(`${what}: ${error instanceof Error ? error.message : error}`);
        }
      }
    }
    const ns = all.map((ms) => {
      const median = ms.toSorted((a, b) => a - b)[ms.length >> 1];
      return median === undefined ? null : Math.round((median * 1e6) / rows);
    });
    console.error(`${what}: ${ns.join(' ')}`);
    return { what, ns };
  });
}

export default async function benchBaseline(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      rounds: { type: 'string', default: '15' },
      rows: { type: 'string', default: '100000' },
      only: { type: 'string', default: '' },
      write: { type: 'boolean', default: false },
      ...BESIDE_OPTION,
    },
  });
  const [rounds, rows] = [Number(values.rounds), Number(values.rows)];
  const only = new RegExp(values.only);
  const folders = ['.', ...(values.beside === '' ? [] : [values.beside])].map((each) => resolve(each));
  const commands = folders.map(commandIn);
  const wires: Wire[] = [];
  for (const folder of folders) wires.push(await wireOf(folder));
  const folder = mkdtempSync(join(tmpdir(), 'hexcodes-bench-'));
  let figures: Figure[];
  try {
    writeFileSync(join(folder, 'one.csv'), 'lat,lng\n21.0288,105.8525\n');
    const start: Measured = {
      ...{ what: 'start, µs', rows: 1000 },
      run: (checkout) => cpuOf([commands[checkout]!, 'encode', 'one.csv', '-o', 'one-out.csv', '-q'], folder),
    };
    figures = [
      ...measureAll([start], folders.length, rounds),
      ...measureAll(wireCells(wires, only), folders.length, 7 * rounds),
      ...measureAll(fileCells(folder, rows, commands, only), folders.length, rounds),
    ];
  } finally {
    rmSync(folder, { recursive: true });
  }
  const headOfRun = head([]);
  const lines = figures.map(({ what, ns }) => {
    const [here, beside] = ns;
    const hasBoth = here !== null && beside !== null && here !== undefined && beside !== undefined;
    return [what, ...ns.map((each) => String(each ?? '–')), ...(hasBoth ? [(here / beside).toFixed(2)] : [])];
  });
  const names = ['here', ...(folders.length > 1 ? ['beside', 'here ÷ beside'] : [])];
  console.log(`${headLine(headOfRun)}\n\nns of CPU a row, the median of the rounds.\n`);
  console.log(table(['what', ...names], lines));
  if (!values.write) return;
  const path = 'bench/baseline.json';
  const earlier = existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Run[]) : [];
  // A figure that is measured again takes the place of the earlier one.
  const measured = new Set(figures.map(({ what }) => what));
  const kept = earlier.map((run) => ({
    ...run,
    figures: run.figures.filter(({ what }) => !measured.has(what)),
  }));
  const run: Run = {
    head: headOfRun,
    rows,
    rounds,
    besides: values.beside === '' ? [] : [commitIn(values.beside)],
    figures,
  };
  const runs = [...kept.filter((each) => each.figures.length > 0), run];
  writeFileSync(path, `${JSON.stringify(runs, null, 1)}\n`);
}
