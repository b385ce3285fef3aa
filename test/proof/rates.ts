// `npm run proof -- rates [--ways single,batch,csv,stream,mixed] [--rounds 8] [--for 90s] [--tools FOLDER]
// [--state FILE]`: the CPU time of a message that the model predicts against the measured one, at six rates from 100/s
// to the knee, within 15 %. Two services take turns: one for the curve, one for the rates between its points.
// Start it as root in a session of its own, `setsid -w npm run proof -- rates`: services and tools are scheduled in
// real time.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { PROFILES } from '#dist/capacity/measure/profiles.js';
import type { WayResult } from '#dist/capacity/measure/results.js';
import { leaveOneOut, worstOf } from '#dist/capacity/model/cost.js';
import { CoreSpeed, GeneratorProcess } from '#dist/capacity/processes/pinned-process.js';
import { Traffic } from '#dist/capacity/traffic/traffic.js';
import { OutsideLoad } from '../support/capacity/outside-load.js';
import { type AtRate, proveWay } from './rates-way.js';
import { millisecondsOf, RunLength, report } from './run-length.js';

const MAX_ERROR = 0.15;
/** Share of the cells, each a rate of a way, that the proof asks for. */
const MIN_SHARE = 0.8;
/** Priority of this session, where the system schedules by sessions (autogroup): -20 to 19. */
const PRIORITY = -20;

/** Each way in a file of `--state`. */
interface Proved {
  readonly curve: WayResult | null;
  readonly rates: readonly AtRate[];
}

/**
 * Vegeta (single, batch, csv) and k6 (stream) drive the rates at which they send one by one, the generator of the bench
 * the others. Ways that the file of --state has are not measured again: one at a time needs no machine for itself for
 * long. --for bounds the low rates of a way, and a third of it the high ones.
 */
export default async function proveRates(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      ways: { type: 'string', default: PROFILES.map(({ name }) => name).join() },
      rounds: { type: 'string', default: '8' },
      for: { type: 'string' },
      tools: { type: 'string', default: '' },
      state: { type: 'string' },
    },
  });
  const folder = mkdtempSync(join(tmpdir(), 'hexcodes-rates-'));
  const tool = (name: string): string => (values.tools === '' ? name : join(values.tools, name));
  const outside = new OutsideLoad(folder, await Traffic.load(), { vegeta: tool('vegeta'), k6: tool('k6') });
  try {
    writeFileSync('/proc/self/autogroup', String(PRIORITY));
  } catch {
    console.log('this session has no priority over others: figures may be missed because of them');
  }
  const proved: Record<string, Proved> =
    values.state !== undefined && existsSync(values.state)
      ? (JSON.parse(readFileSync(values.state, 'utf8')) as Record<string, Proved>)
      : {};
  const generator = await GeneratorProcess.start();
  const core = await CoreSpeed.start();
  const names = values.ways.split(',');
  const lengthOf = (share: number): RunLength =>
    new RunLength(Number(values.rounds), values.for && `${(share * millisecondsOf(values.for)) / 1000}s`);
  try {
    for (const name of names) {
      if (proved[name] !== undefined) continue;
      const profile = PROFILES.find((each) => each.name === name)!;
      proved[name] = await proveWay(profile, lengthOf, { generator, outside, core });
      if (values.state !== undefined) writeFileSync(values.state, `${JSON.stringify(proved)}\n`);
    }
  } finally {
    generator.end();
    core.end();
    rmSync(folder, { recursive: true, force: true });
  }
  console.log(
    '| way | by | rate/s | turns a message | CPU predicted | measured | error |\n|---|---|---|---|---|---|---|',
  );
  const faults: string[] = [];
  const counts: string[] = [];
  let [held, cells] = [0, 0];
  for (const name of names) {
    const lines = proved[name]!.rates.map((rate) => ({ line: lineOf(name, rate), error: errorOf(rate) }));
    for (const { line } of lines) console.log(line);
    // A figure that was never measured is a fault as well.
    const missed = lines.filter(({ error }) => !(Math.abs(error) <= MAX_ERROR));
    faults.push(...missed.map(({ line }) => line));
    cells += lines.length;
    held += lines.length - missed.length;
    counts.push(`${name} ${lines.length - missed.length} of ${lines.length}`);
  }
  const worst = worstOf(leaveOneOut(names.flatMap((name) => proved[name]!.curve ?? [])));
  if (worst !== undefined) {
    const { way, ratePerS, measuredUs, predictedUs } = worst;
    console.log(
      `leave-one-out of these curves: within ${(100 * Math.abs(predictedUs / measuredUs - 1)).toFixed(1)} % (worst: ${way} at ${ratePerS.toFixed(0)}/s)`,
    );
  }
  console.log(`within 15 %: ${counts.join(', ')}`);
  const isHeld = held >= MIN_SHARE * cells;
  if (isHeld) for (const fault of faults) console.log(`  beyond 15 %: ${fault}`);
  report('rates', `${held} of ${cells} cells within 15 % (aim 80 %)`, 1, isHeld ? [] : faults);
}

const errorOf = ({ plannedUs, measuredUs }: AtRate): number => plannedUs / measuredUs - 1;

function lineOf(name: string, rate: AtRate): string {
  const { by, ratePerS, turns, plannedUs, measuredUs } = rate;
  const error = errorOf(rate);
  const signed = `${error >= 0 ? '+' : ''}${(100 * error).toFixed(1)} %`;
  const us = (value: number): string => (Number.isNaN(value) ? '–' : `${value.toFixed(1)} us`);
  return `| \`${name}\` | ${by} | ${ratePerS.toFixed(0)} | ${turns.toFixed(2)} | ${us(plannedUs)} | ${us(measuredUs)} | ${signed} |`;
}
