// `npm run proof -- positions [--size N] [--seed S]`: N spellings (1 million) of positions in and around the country,
// read by every entry that reads texts: right or refused. Judges where Python has them: geopy for texts,
// openlocationcode for Plus Codes. Last the CPU time of texts made to be slow, of 1,000 and 4,000 characters.

import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import {
  isShortPlusCode,
  nearestPlusCode,
  parsePlusCode,
} from '#dist/hexcodes/wire/rows/written-position.js';
import { Hexcodes } from '#hexcodes';
import { findCode } from '#hexcodes/geometry';
import { CliFolder } from '../support/cli.js';
import { codesInColumns } from '../support/files/convert.js';
import { randomFrom } from '../support/open-world.js';
import { startServer } from '../support/server.js';
import { shippedFiles } from '../support/shipped.js';
import { amongWords, isSame, positionNear, type Spelling, spellingOf } from '../support/spellings.js';
import { optionsOf } from './run-length.js';

/** Spellings that go through files and the service, and texts for the judges. */
const ROWS = 20_000;
const CODES = 50_000;

class Counts {
  read = 0;
  refused = 0;
  wrong = 0;

  add(text: string, found: readonly [lat: number, lng: number] | null, { latDeg, lngDeg }: Spelling): void {
    if (found === null) this.refused++;
    else if (isSame(found[0], latDeg) && isSame(found[1], lngDeg)) this.read++;
    else this.addWrong(text, String(found));
  }

  addWrong(text: string, found: string): void {
    if (this.wrong++ < 10) console.log(`wrong: ${JSON.stringify(text)} as ${found}`);
  }

  say(entry: string): void {
    console.log(`${entry}: ${this.read} right, ${this.refused} refused, ${this.wrong} wrong`);
    if (this.wrong > 0) process.exitCode = 1;
  }
}

export default async function provePositions(args: string[]): Promise<void> {
  const values = optionsOf(args, { size: '1000000', seed: '20261126' });
  const size = Number(values.size);
  const seed = Number(values.seed);
  const hexcodes = await Hexcodes.load();
  const random = randomFrom(seed);
  const drawn = (): Spelling => spellingOf(random, ...positionNear(random));
  const [whole, columns, words] = [new Counts(), new Counts(), new Counts()];
  const waiting: Spelling[] = [];
  for (let i = 0; i < size; i++) {
    const spelling = drawn();
    addFound(hexcodes, whole, spelling.text, spelling);
    if (waiting.push(spelling) === ROWS || i === size - 1)
      await inColumns(hexcodes, columns, waiting.splice(0));
    if (i % 10 === 0) addFound(hexcodes, words, amongWords(random, spelling), spelling);
  }
  console.log(`positions: ${size} spellings, seed ${seed}, Node ${process.version}`);
  whole.say('one text');
  columns.say('two columns');
  words.say('findCode, among words');
  const rows = Array.from({ length: ROWS }, drawn);
  await throughFiles(hexcodes, rows);
  judged(hexcodes, rows, seed);
  timed(hexcodes);
}

function addFound(hexcodes: Hexcodes, counts: Counts, text: string, spelling: Spelling): void {
  const found = findCode(hexcodes, text);
  if (found?.kind === 'code') counts.addWrong(text, found.hexcodes);
  else counts.add(text, found?.kind === 'position' ? [found.lat, found.lng] : null, spelling);
}

/** Each column is judged by itself: beside it the other one is a number. */
async function inColumns(hexcodes: Hexcodes, counts: Counts, spellings: readonly Spelling[]): Promise<void> {
  for (const axis of ['lat', 'lng'] as const) {
    const rows = spellings.map(({ lat, lng, latDeg, lngDeg }) =>
      axis === 'lat' ? [lat, `${lngDeg}`] : [`${latDeg}`, lng],
    );
    for (const [i, code] of (await codesInColumns(hexcodes, 'lat,lng', rows)).entries()) {
      const spelling = spellings[i]!;
      const isAway = hexcodes.adminCodeOf(spelling.latDeg, spelling.lngDeg) === null;
      if (code === undefined) counts.refused++;
      else if (code === null ? isAway : isCodeOf(hexcodes, code, spelling, 15)) counts.read++;
      else counts.addWrong(`${axis}: ${rows[i]}`, String(code));
    }
  }
}

/** The command by a column of positions and by two columns, and the service by two columns. */
async function throughFiles(hexcodes: Hexcodes, rows: readonly Spelling[]): Promise<void> {
  const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`;
  const twoColumns = `lat,lng\n${rows.map(({ lat, lng }) => `${quoted(lat)},${quoted(lng)}\n`).join('')}`;
  const folder = new CliFolder();
  const server = await startServer({}, shippedFiles());
  try {
    folder.write('one.csv', `position\n${rows.map(({ text }) => `${quoted(text)}\n`).join('')}`);
    folder.write('two.csv', twoColumns);
    for (const [entry, name] of [
      ['the command, one column', 'one.csv'],
      ['the command, two columns', 'two.csv'],
    ] as const) {
      const ran = await folder.run(['encode', name, '-q', '--to', 'ndjson']);
      sayRows(hexcodes, entry, rows, ran.stdout);
    }
    const answer = await fetch(`http://127.0.0.1:${server.port}/v1/hexcodes/encode/bulk`, {
      method: 'POST',
      body: twoColumns,
      headers: { 'X-API-Key': server.key, 'Content-Type': 'text/csv', Accept: 'application/x-ndjson' },
    });
    sayRows(hexcodes, 'the service, two columns', rows, await answer.text());
  } finally {
    await server.stop();
    await folder.remove();
  }
}

function sayRows(hexcodes: Hexcodes, entry: string, rows: readonly Spelling[], lines: string): void {
  const counts = new Counts();
  const answers = lines.trim().split('\n');
  for (const [i, spelling] of rows.entries()) {
    const { hexcodes: code } = JSON.parse(answers[i] ?? '{}') as { hexcodes?: string | null };
    if (code === null || code === undefined) counts.refused++;
    else if (isCodeOf(hexcodes, code, spelling)) counts.read++;
    else counts.addWrong(spelling.text, code);
  }
  counts.say(entry);
}

/** Whether a code is that of the position, or of one within the rounding of its digits. */
function isCodeOf(hexcodes: Hexcodes, code: string, { latDeg, lngDeg }: Spelling, resolution = 13): boolean {
  return [0, 1e-9, -1e-9].some((lat) =>
    [0, 1e-9, -1e-9].some((lng) => {
      const at = [latDeg + lat, lngDeg + lng] as const;
      return hexcodes.adminCodeOf(...at) !== null && hexcodes.encode(...at, resolution).hexcodes === code;
    }),
  );
}

interface Judgement {
  read: ([lat: number, lng: number] | null)[];
  codes: {
    full: string;
    at: [number, number];
    short: string | null;
    near?: [number, number];
    back?: [number, number];
  }[];
}

function judged(hexcodes: Hexcodes, rows: readonly Spelling[], seed: number): void {
  const pythons = [process.env['HEXCODES_JUDGE_PYTHON'], 'build/python-env/bin/python', 'python3'];
  const python = pythons.find(
    (each) =>
      each !== undefined &&
      (each === 'python3' || existsSync(each)) &&
      spawnSync(each, ['-c', 'import geopy, openlocationcode']).status === 0,
  );
  if (python === undefined) {
    console.log(
      'judges: skipped, no Python with geopy and openlocationcode (HEXCODES_JUDGE_PYTHON names one)',
    );
    return;
  }
  // geopy takes the numbers that it knows out of the others: it judges whole texts with all their marks.
  const whole = rows.filter(({ isRegular, form }) => isRegular && !form.includes('none'));
  const input = JSON.stringify({ texts: whole.map(({ text }) => text), codes: CODES, seed });
  const ran = spawnSync(python, ['test/support/judge_positions.py'], {
    input,
    maxBuffer: 2 ** 28,
    encoding: 'utf8',
  });
  if (ran.status !== 0) throw new Error(ran.stderr);
  const { read, codes } = JSON.parse(ran.stdout) as Judgement;
  let [both, differ] = [0, 0];
  for (const [i, { text }] of whole.entries()) {
    const ours = findCode(hexcodes, text);
    const theirs = read[i];
    if (ours?.kind !== 'position' || theirs === null || theirs === undefined) continue;
    both++;
    if (!isSame(ours.lat, theirs[0]) || !isSame(ours.lng, theirs[1])) {
      if (differ++ < 5)
        console.log(`geopy: ${JSON.stringify(text)} is ${theirs}, ours ${ours.lat},${ours.lng}`);
    }
  }
  console.log(`geopy: ${both} of ${whole.length} texts read by both, ${differ} differ`);
  let wrong = 0;
  for (const { full, at, short, near, back } of codes) {
    const cell = parsePlusCode(full);
    const isRight = cell !== null && isSame(cell.latDeg, at[0]) && isSame(cell.lngDeg, at[1]);
    const again = short !== null && isShortPlusCode(short) ? nearestPlusCode(short, ...near!) : null;
    const isBack =
      short === null || (again !== null && isSame(again.latDeg, back![0]) && isSame(again.lngDeg, back![1]));
    if (!isRight || !isBack) wrong++;
  }
  console.log(`openlocationcode: ${codes.length} Plus Codes, ${wrong} differ`);
  if (wrong > 0) process.exitCode = 1;
}

const REPEATS = 5;
const SLOW_UNITS = [
  ...['1', '1 ', ' ', '°', "1'", '1,', '1.1 ', 'N', '1N ', '-', '('],
  ...['?a=', '#', '&q=1', '/', '@1,', '!3d1', '%', 'a1 ', 'lat ', '+', '22+', '21°1 '],
];
const BEGINNINGS = ['', '1 ', '21°', 'https://www.google.com/maps/', 'geo:1,1?q=', 'x '];

function timed(hexcodes: Hexcodes): void {
  const costOf = (text: string): number => {
    let least = Number.POSITIVE_INFINITY;
    for (let turn = 0; turn < 3; turn++) {
      const before = process.cpuUsage();
      for (let i = 0; i < REPEATS; i++) findCode(hexcodes, text);
      const { user, system } = process.cpuUsage(before);
      least = Math.min(least, user + system);
    }
    return least / REPEATS;
  };
  const costs = BEGINNINGS.flatMap((beginning) =>
    SLOW_UNITS.map((unit) => {
      const text = (size: number): string => `${(beginning + unit.repeat(size)).slice(0, size - 1)}x`;
      const [small, large] = [costOf(text(1000)), costOf(text(4000))];
      return { name: beginning + unit, small, large, ratio: large / Math.max(small, 20) };
    }),
  ).sort((a, b) => b.ratio - a.ratio);
  const worst = costs[0]!;
  const dearest = costs.reduce((a, b) => (b.large > a.large ? b : a));
  console.log(
    `texts of 1,000 and 4,000 characters: at most ${worst.ratio.toFixed(1)} times the CPU (${JSON.stringify(worst.name)}…, ${worst.small.toFixed(0)} and ${worst.large.toFixed(0)} µs); the dearest ${dearest.large.toFixed(0)} µs (${JSON.stringify(dearest.name)}…)`,
  );
}
