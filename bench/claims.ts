// `npm run claims`: measures the figures of README.md on this machine, some three minutes, and writes them as one page,
// build/claims.html: claimed, yours, verdict, command. Figures that take longer, or need data that does not ship, are
// there with their command. Times are of CPU; the page is written again after each figure.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Hexcodes } from '#dist/hexcodes/library/hexcodes.js';
import { commandIn } from './beside.js';
import { loadHttp } from './bulk/load.js';
import { BODY_POINTS, waysOf } from './bulk/ways.js';
import { CLAIMS, type Claim } from './claims/list.js';
import { startService } from './cold.js';
import { makeCorpora } from './corpora.js';
import { encodeSubject, RESOLUTION } from './kernel/subjects.js';
import { bindLoad, ServerProcess } from './server-process.js';
import { BenchTable, type Head, head, headLine, overLoads, spread } from './table.js';
import { takeTurns } from './turns.js';

const PAGE = 'build/claims.html';
const SERVERS = new URL('./bulk/servers.js', import.meta.url);
/** A figure that is worse by more is not met. */
const TOLERANCE = 0.1;
const EQUAL_TOLERANCE = 0.02;
const MEMORY_ROWS = 2_000_000;

/** The lowest and the highest that was measured. */
type Measured = readonly [number, number];

interface Row {
  readonly claim: Claim;
  readonly yours: Measured | undefined;
  readonly verdict: 'holds' | 'does not hold here' | 'by its command';
  /** How busy the machine was. */
  readonly machine: string;
}

type Measures = Readonly<Record<string, () => Promise<Measured> | Measured>>;

/** Rounds of each load of a way. */
const ROUNDS = 4;

/** Millions of points a second of one core by a way into the service: the median over its numbers of connections. */
async function wayRate(library: Hexcodes, pairsDeg: Float64Array, name: string): Promise<Measured> {
  const server = await ServerProcess.start(SERVERS, 'hexcodes');
  const medians: number[] = [];
  for (const way of waysOf(library, pairsDeg)) {
    if (way.name !== name) continue;
    const points = 100_000 * way.scale;
    const nanos: number[] = [];
    await way.warm?.(server.port);
    // The first round is a warm-up.
    for (let round = -1; round < ROUNDS; round++) {
      const before = await server.cpuMicros();
      const answered = await way.run(server.port, points, false);
      if (round >= 0) nanos.push((((await server.cpuMicros()) - before) * 1000) / answered);
    }
    medians.push(spread(nanos).median);
  }
  server.end();
  const rate = 1000 / overLoads(medians);
  return [rate, rate];
}

/** Megabytes of a service at its start, and at most until it has answered CSV of two million rows. */
async function serviceMegabytes(folder: string): Promise<Measured> {
  const service = await startService(commandIn(resolve('.')), folder);
  const megabytes = (field: string): number =>
    Number(
      new RegExp(`${field}:\\s+(\\d+) kB`).exec(readFileSync(`/proc/${service.pid}/status`, 'utf8'))![1],
    ) / 1000;
  try {
    const atStart = megabytes('VmRSS');
    const body = Buffer.from(`lat,lng\n${'21.028812,105.852507\n'.repeat(MEMORY_ROWS)}`);
    const path = '/v1/hexcodes/encode/bulk';
    await loadHttp(service.port, { path, contentType: 'text/csv', body, connections: 1, requests: 1 });
    return [atStart, megabytes('VmHWM')];
  } finally {
    await service.end();
  }
}

function measuresOf(library: Hexcodes, land: Float64Array, folder: string): Measures {
  /** Share of the points up to 100 m from a border that have the right province, by the index itself. */
  const shareNearBorders = (): Measured => {
    const shares: number[] = [];
    for (let n = 0; n < land.length / 2; n++) {
      const border = library.borderOf(land[2 * n]!, land[2 * n + 1]!);
      if (border?.certainty == null || border.border_m === null || border.border_m >= 100) continue;
      shares.push(100 * border.certainty);
    }
    const mean = shares.reduce((sum, value) => sum + value, 0) / shares.length;
    return [mean, mean];
  };
  return {
    library: () => {
      const [{ ns }] = takeTurns([encodeSubject(library, land, RESOLUTION)], 101);
      return [1000 / ns.median, 1000 / ns.median];
    },
    stream: () => wayRate(library, land, 'WebSocket binary encode, 4096 a frame'),
    csv: () => wayRate(library, land, 'HTTP CSV encode'),
    memory: () => serviceMegabytes(folder),
    'share below 100 m': shareNearBorders,
  };
}

function verdictOf({ claimed, better }: Claim, yours: Measured | undefined): Row['verdict'] {
  if (yours === undefined) return 'by its command';
  const [low, high] = claimed;
  const holds = {
    more: yours[0] >= low * (1 - TOLERANCE),
    less: yours[1] <= high * (1 + TOLERANCE),
    equal: Math.abs(yours[0] - low) <= EQUAL_TOLERANCE * low,
  };
  return holds[better] ? 'holds' : 'does not hold here';
}

const figure = (value: number): string => String(Number(value.toPrecision(value > 90 ? 4 : 3)));
const rangeText = ([low, high]: Measured): string =>
  figure(low) === figure(high) ? figure(low) : `${figure(low)} to ${figure(high)}`;
const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

function pageOf(headOfRun: Head, rows: readonly Row[]): string {
  const lines = rows.map(({ claim, yours, verdict, machine }) => {
    const cells = [
      claim.text.replace(/^\| | \|$|\($/g, ''),
      `${rangeText(claim.claimed)} ${claim.unit}`,
      yours === undefined ? '' : `${rangeText(yours)} ${claim.unit}`,
      verdict,
      machine,
    ].map((cell) => `<td>${escaped(cell)}</td>`);
    return `<tr class="${verdict === 'does not hold here' ? 'no' : ''}">${cells.join('')}<td><code>${escaped(claim.command)}</code></td></tr>`;
  });
  return `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Figures of README.md on this machine</title>
<style>body{font:15px system-ui;margin:2em auto;max-width:70em;padding:0 1em}td,th{text-align:left;padding:.3em .8em;border-bottom:1px solid #ccc}.no td:nth-child(4){font-weight:bold;color:#b00020}</style>
<h1>Figures of README.md on this machine</h1>
<p>${escaped(headLine(headOfRun))}</p>
<table><tr><th>README.md</th><th>claimed</th><th>yours</th><th>verdict</th><th>machine</th><th>command</th></tr>
${lines.join('\n')}
</table>
<p>A figure holds if yours is worse by at most a tenth; where other work kept the machine busy, speeds are too low. Shares are those that the boundary index of this build states.</p>
</html>
`;
}

export default async function benchClaims(): Promise<void> {
  const headOfRun = head(['h3-js']);
  const library = await Hexcodes.load();
  const { land } = makeCorpora(library.kernel, readFileSync('data/index.bin'), BODY_POINTS);
  const folder = mkdtempSync(join(tmpdir(), 'hexcodes-claims-'));
  const table = new BenchTable('claims', headOfRun, ['README.md', 'claimed', 'yours', 'verdict']);
  const rows: Row[] = [];
  bindLoad();
  try {
    const measures = measuresOf(library, land, folder);
    for (const claim of CLAIMS) {
      const yours = claim.measure === undefined ? undefined : await measures[claim.measure]!();
      const verdict = verdictOf(claim, yours);
      const ours = yours === undefined ? '' : rangeText(yours);
      const words = claim.text.replaceAll('|', '').trim();
      const cells = [words, `${rangeText(claim.claimed)} ${claim.unit}`, ours, verdict];
      const machine = table.row(cells, { claim, yours, verdict });
      rows.push({ claim, yours, verdict, machine: yours === undefined ? '' : machine });
      mkdirSync('build', { recursive: true });
      writeFileSync(PAGE, pageOf(headOfRun, rows));
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  table.end();
  console.log(PAGE);
}
