// `npm run bench -- peers [--rounds 31]`: CPU of encode and decode of one core, in batches, against h3-js, Plus Codes,
// geohash and S2 in JavaScript, the C library of H3 and h3o, s2 and Plus Codes of Rust. Packages are installed into
// build/rivals/peers; the C library comes with the wheel of h3 for Python and is measured by a program that `cc`
// builds, those of Rust by one that `cargo` builds. A rival that cannot be built is left out by name. Those of other
// languages are processes, which take turns with ours. All but H3 do other work: they name another cell, no province.
import { execFileSync } from 'node:child_process';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { cellToLatLng, latLngToCell } from 'h3-js';
import { Hexcodes } from '#dist/hexcodes/library/hexcodes.js';
import { makeCorpora } from './corpora.js';
import { eachPoint, encodeSubject, keep, RECORD_BYTES, RESOLUTION } from './kernel/subjects.js';
import { OwnPackages, once, ownFolder } from './rivals.js';
import { BenchTable, head, ratio, type Spread, spread, spreadText } from './table.js';
import { type Subject, takeTurns } from './turns.js';

const PACKAGES = {
  ngeohash: '0.6.4',
  nodes2ts: '4.0.2',
  'open-location-code': '1.0.3',
  's2-geometry': '1.2.10',
} as const;
const H3_WHEEL = 'h3==4.5.0';
const POINTS = 65_536;
/** Passes of a process of another language over all points. */
const TIMES = 4;
const PROCESS_ROUNDS = 9;

interface Codes {
  readonly OpenLocationCode: new () => { encode(lat: number, lng: number, length: number): string };
}

interface Geohash {
  encode(lat: number, lng: number, length: number): string;
  encode_int(lat: number, lng: number, bits: number): number;
}

interface S2 {
  readonly S2LatLng: { fromDegrees(lat: number, lng: number): unknown };
  readonly S2CellId: { fromPoint(point: unknown): { parentL(level: number): { id: unknown } } };
}

interface S2Geometry {
  readonly S2: { latLngToKey(lat: number, lng: number, level: number): string };
}

/** A rival of another language: a program and its arguments around the name of the file of points. */
interface Native {
  readonly name: string;
  readonly does: 'encode' | 'decode';
  readonly program: string;
  readonly what: string;
}

export default async function benchPeers(args: string[]): Promise<void> {
  const { values } = parseArgs({ args, options: { rounds: { type: 'string', default: '31' } } });
  const rounds = Number(values.rounds);
  const hexcodes = await Hexcodes.load();
  const points = makeCorpora(hexcodes.kernel, readFileSync('data/index.bin'), POINTS).land;
  const { natives, missing } = nativesIn(ownFolder('peers'));
  const packages = new OwnPackages('peers', PACKAGES);
  const versions = { ...packages.versions, 'h3 of Python': H3_WHEEL.split('==')[1]! };
  const table = new BenchTable(
    'peers',
    head(['h3-js'], versions),
    ['× faster', 'what', 'than', 'ours, ns a point', 'theirs, ns a point'],
    `Corpus "land", resolution ${RESOLUTION}; CPU, medians and quartiles of ${rounds} rounds in turns, of processes ${PROCESS_ROUNDS}.`,
    { rounds },
  );
  const print = (what: string, than: string, ours: Spread, theirs: Spread): string =>
    table.row([spreadText(ratio(theirs, ours)), what, than, spreadText(ours), spreadText(theirs)], {
      ...{ what, than, ours, theirs },
    });
  const encode = encodeSubject(hexcodes, points, RESOLUTION);
  for (const rival of await encodersOf(packages, points)) {
    const [ours, theirs] = takeTurns([encode, rival], rounds);
    print('encode', rival.name, ours.ns, theirs.ns);
  }
  const decode = decodeSubject(hexcodes, points);
  const cells = Array.from({ length: POINTS }, (_, n) =>
    latLngToCell(points[2 * n]!, points[2 * n + 1]!, RESOLUTION),
  );
  const [ours, theirs] = takeTurns(
    [decode, eachPoint('h3-js cellToLatLng', POINTS, (n) => keep(cellToLatLng(cells[n]!)[0]))],
    rounds,
  );
  print('decode', 'h3-js cellToLatLng', ours.ns, theirs.ns);
  const file = join(ownFolder('peers'), 'points.f64');
  writeFileSync(file, Buffer.from(points.buffer, points.byteOffset, points.byteLength));
  for (const { name, does, program, what } of natives) {
    const [own, others]: [number[], number[]] = [[], []];
    for (let round = 0; round < PROCESS_ROUNDS; round++) {
      const [measured] = takeTurns([does === 'encode' ? encode : decode], 15, round === 0 ? 100 : 1);
      own.push(measured.ns.median);
      const printed = execFileSync(program, [file, what, String(TIMES)], {
        ...{ encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] },
      });
      others.push(Number(printed));
    }
    print(does, name, spread(own), spread(others));
  }
  for (const each of missing) console.log(`\nLeft out: ${each}`);
  table.end({ missing });
}

async function encodersOf(packages: OwnPackages, points: Float64Array): Promise<Subject[]> {
  const { OpenLocationCode } = (await packages.load<{ default: Codes }>('open-location-code')).default;
  const { default: geohash } = await packages.load<{ default: Geohash }>('ngeohash');
  const { S2LatLng, S2CellId } = await packages.load<S2>('nodes2ts');
  const { S2 } = (await packages.load<{ default: S2Geometry }>('s2-geometry')).default;
  const plus = new OpenLocationCode();
  const each = (name: string, one: (lat: number, lng: number) => number): Subject =>
    eachPoint(name, POINTS, (n) => keep(one(points[2 * n]!, points[2 * n + 1]!)));
  return [
    each('h3-js latLngToCell', (lat, lng) => latLngToCell(lat, lng, RESOLUTION).length),
    each('Plus Codes, open-location-code, 11 digits', (lat, lng) => plus.encode(lat, lng, 11).length),
    each('ngeohash, 9 characters', (lat, lng) => geohash.encode(lat, lng, 9).length),
    each('ngeohash, integer of 52 bits', (lat, lng) => geohash.encode_int(lat, lng, 52)),
    each('S2 by s2-geometry, level 20', (lat, lng) => S2.latLngToKey(lat, lng, 20).length),
    each('S2 by nodes2ts, level 20', (lat, lng) => {
      const point = (S2LatLng.fromDegrees(lat, lng) as { toPoint(): unknown }).toPoint();
      return S2CellId.fromPoint(point).parentL(20) === null ? 1 : 0;
    }),
  ];
}

function decodeSubject(hexcodes: Hexcodes, points: Float64Array): Subject {
  const block = 16_384;
  const records = hexcodes.encodeBatch(points, RESOLUTION);
  return {
    name: 'decodeBatch',
    points: block,
    pieces: POINTS / block,
    run(piece) {
      const [from, to] = [RECORD_BYTES * piece * block, RECORD_BYTES * (piece + 1) * block];
      keep(hexcodes.decodeBatch(records.subarray(from, to)).resolution[0]!);
    },
  };
}

/** Builds what can be built here. */
function nativesIn(folder: string): { natives: Native[]; missing: string[] } {
  const natives: Native[] = [];
  const missing: string[] = [];
  const attempt = (name: string, build: () => Native[]): void => {
    try {
      natives.push(...build());
    } catch (error) {
      missing.push(`${name}: ${error instanceof Error ? error.message.split('\n')[0] : String(error)}`);
    }
  };
  attempt('C library of H3', () => {
    const program = join(folder, 'libh3');
    const source = readFileSync('bench/peers/libh3.c', 'utf8');
    const wheel = join(folder, 'wheel');
    once(ownFolder('peers/built'), H3_WHEEL + source, () => {
      const run = (command: string, ...words: string[]) => execFileSync(command, words, { stdio: 'pipe' });
      run('python3', '-m', 'pip', 'install', '-q', '--no-deps', '--upgrade', '--target', wheel, H3_WHEEL);
      const include = join(wheel, 'include', 'h3');
      const words = [
        '-O3',
        '-march=native',
        '-I',
        include,
        'bench/peers/libh3.c',
        join(wheel, 'lib64', 'libh3.a'),
      ];
      run('cc', ...words, '-lm', '-o', program);
    });
    return [
      { name: 'C libh3 latLngToCell', does: 'encode', program, what: 'encode' },
      { name: 'C libh3 latLngToCell and h3ToString', does: 'encode', program, what: 'text' },
      { name: 'C libh3 cellToLatLng', does: 'decode', program, what: 'decode' },
    ];
  });
  attempt('h3o, s2 and Plus Codes of Rust', () => {
    const crate = join(folder, 'crate');
    cpSync('bench/peers/h3o', crate, { recursive: true });
    execFileSync('cargo', ['build', '--release', '--quiet'], {
      ...{ cwd: crate, stdio: 'pipe', env: { ...process.env, RUSTFLAGS: '-C target-cpu=native' } },
    });
    const program = join(crate, 'target', 'release', 'bench-peers');
    return [
      { name: 'Rust h3o to_cell', does: 'encode', program, what: 'h3o' },
      { name: 'Rust h3o to_cell and its text', does: 'encode', program, what: 'h3o-text' },
      { name: 'Rust s2, level 20', does: 'encode', program, what: 's2' },
      { name: 'Rust open-location-code, 11 digits', does: 'encode', program, what: 'olc' },
      { name: 'Rust h3o LatLng of a cell', does: 'decode', program, what: 'h3o-decode' },
    ];
  });
  return { natives, missing };
}
