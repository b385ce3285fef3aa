// A plan as one page without scripts: the answer, the replicas that an autoscaler needs at each rate, those of each
// hour of the day, and the machines of each month of growth, as tables and pictures.
import type { Results } from '../measure/results.js';
import { type Plan, type Step, stepOf } from '../model/plan.js';
import type { DayProfile } from '../model/trace.js';
import { percent, plain, range, roughTime, time, whole } from './figures.js';

/** Rates of the curve, as shares of the peak. */
const SHARES = [0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.25, 1.5, 2];
const MONTH_MS = (365 / 12) * 86_400_000;
/** Months of a table; of more, every second one or fewer. */
const MAX_MONTHS = 24;

/** The contents of a page besides the plan itself. */
export interface PlanPage {
  /** Undefined: no counts were given. */
  readonly day: DayProfile | undefined;
  /** The factor of growth is reached in this time; 0: no growth. */
  readonly growthMs: number;
  /** The plan for people, with its arithmetic. */
  readonly text: string;
}

interface Section {
  readonly title: string;
  readonly note: string;
  readonly titles: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** Heights of the picture: one bar for each row, and what is below it. */
  readonly bars: readonly { readonly label: string; readonly value: number }[];
}

/** @throws Error as planFor does */
export function planHtml(plan: Plan, results: Results, { day, growthMs, text }: PlanPage): string {
  const sections = [
    byRate(plan, results),
    ...(day === undefined ? [] : [byHour(plan, results, day)]),
    ...(growthMs === 0 ? [] : [byMonth(plan, results, growthMs)]),
  ];
  const lines = text.slice(0, text.indexOf('\n\n')).split('\n');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Plan of a fleet, hexcodes</title>
<style>${STYLE}</style>
</head>
<body>
<h1>Plan of a fleet</h1>
<ul>
${lines.map((line) => `<li>${escaped(line)}</li>`).join('\n')}
</ul>
${sections.map(sectionText).join('\n')}
<section>
<h2>The plan in whole</h2>
<pre>${escaped(text)}</pre>
</section>
</body>
</html>
`;
}

const perS = ({ demand }: Step): number =>
  demand.peak.reduce((sum, { messagesPerS }) => sum + messagesPerS, 0);

const stepCells = (step: Step): string[] => [
  plain(step.demand.peakPointsPerS),
  plain(perS(step)),
  whole(step.processes),
  range(step.answer.busyShare, (share) => percent(Number(share.toPrecision(2)))),
  step.answer.holdsTarget ? range(step.answer.p99Us, roughTime) : 'not held',
];
/** A fleet at a multiple of its mean rate, its connections as they are and without its nights. */
const stepAt = (peakFactor: number, request: Plan['request'], results: Results): Step =>
  stepOf({ peakFactor, nightly: undefined }, request, results);

const STEP_TITLES = ['points/s', 'messages/s', 'replicas', 'each busy', 'p99'];

function byRate({ request }: Plan, results: Results): Section {
  const { fleet, headroom, targetP99Us } = request;
  const steps = SHARES.map((share) => stepAt(share * fleet.peakFactor, request, results));
  return {
    title: 'Replicas by rate',
    note: `A replica is one process on one core. As few as keep ${percent(headroom)} of their time free and hold a p99 of ${time(targetP99Us)}; replicas that may fail are added. The connections stay as they are.`,
    titles: STEP_TITLES,
    rows: steps.map(stepCells),
    bars: steps.map((step) => ({ label: plain(step.demand.peakPointsPerS), value: step.processes })),
  };
}

function byHour({ request }: Plan, results: Results, { hours, counted }: DayProfile): Section {
  const steps = hours.map(({ peakShare }) => stepAt(Math.max(peakShare, 1e-6), request, results));
  return {
    title: 'Replicas by hour',
    note: `The busiest of each hour in ${whole(counted)} counted hours, as the file writes its times; shares are of the mean hour.`,
    titles: ['hour', 'mean', 'busiest', ...STEP_TITLES],
    rows: hours.map(({ hour, meanShare, peakShare }, at) => [
      `${hour}:00`,
      percent(meanShare),
      percent(peakShare),
      ...stepCells(steps[at]!),
    ]),
    bars: hours.map(({ hour }, at) => ({ label: String(hour), value: steps[at]!.processes })),
  };
}

function byMonth({ request }: Plan, results: Results, growthMs: number): Section {
  const { fleet, pricePerCoreHour } = request;
  const all = Math.max(1, Math.round(growthMs / MONTH_MS));
  const every = Math.ceil(all / MAX_MONTHS);
  const months = Array.from({ length: Math.floor(all / every) + 1 }, (_, at) => at * every);
  const steps = months.map((month) => stepOf({ growth: fleet.growth ** (month / all) }, request, results));
  return {
    title: 'Machines by month',
    note: 'The fleet grows by the same share each month; machines are with those that may fail.',
    titles: ['month', 'vehicles', ...STEP_TITLES, 'machines', 'cost a month'],
    rows: steps.map((step, at) => [
      String(months[at]),
      plain(fleet.vehicles * fleet.growth ** (months[at]! / all)),
      ...stepCells(step),
      range(step.answer.machines, whole),
      pricePerCoreHour === undefined
        ? '–'
        : range(step.answer.cores, (cores) => plain(730 * pricePerCoreHour * cores)),
    ]),
    bars: steps.map(({ answer }, at) => ({ label: String(months[at]), value: answer.machines.high })),
  };
}

function sectionText({ title, note, titles, rows, bars }: Section): string {
  const cells = (tag: string, values: readonly string[]): string =>
    values.map((value) => `<${tag}>${escaped(value)}</${tag}>`).join('');
  return `<section>
<h2>${escaped(title)}</h2>
<p>${escaped(note)}</p>
${picture(title, bars)}
<table>
<tr>${cells('th', titles)}</tr>
${rows.map((row) => `<tr>${cells('td', row)}</tr>`).join('\n')}
</table>
</section>`;
}

const WIDTH = 760;
const HEIGHT = 180;
/** Space for text under and over the bars. */
const MARGIN = 18;

function picture(title: string, bars: Section['bars']): string {
  const most = Math.max(1, ...bars.map(({ value }) => value));
  const step = WIDTH / bars.length;
  const drawn = bars.map(({ label, value }, at) => {
    const height = Math.max(1, ((HEIGHT - 2 * MARGIN) * value) / most);
    const [x, y] = [at * step, HEIGHT - MARGIN - height];
    const middle = (x + step / 2).toFixed(1);
    return `<rect x="${(x + 2).toFixed(1)}" y="${y.toFixed(1)}" width="${(step - 4).toFixed(1)}" height="${height.toFixed(1)}"/><text x="${middle}" y="${(y - 4).toFixed(1)}">${whole(value)}</text><text x="${middle}" y="${HEIGHT - 4}">${escaped(label)}</text>`;
  });
  return `<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${escaped(title)}">${drawn.join('')}</svg>`;
}

const STYLE = `
:root { color-scheme: light dark; --back: #fff; --ink: #1d2430; --line: #d6dae0; --bar: #2a6f97; }
@media (prefers-color-scheme: dark) { :root { --back: #14181f; --ink: #dfe4ec; --line: #333b47; --bar: #61a5c2; } }
body { margin: 0 auto; max-width: 52rem; padding: 1.5rem 1rem 4rem; background: var(--back); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }
svg { width: 100%; height: auto; } rect { fill: var(--bar); } text { fill: var(--ink); font: 10px system-ui, sans-serif; text-anchor: middle; }
table { border-collapse: collapse; font-size: 12px; font-variant-numeric: tabular-nums; } td, th { border-bottom: 1px solid var(--line); padding: .15rem .7rem .15rem 0; text-align: left; }
pre { white-space: pre-wrap; font: 12px/1.45 ui-monospace, monospace; }
`;

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escaped = (text: string): string => text.replace(/[&<>"]/g, (character) => ENTITIES[character]!);
