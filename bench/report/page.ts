// The report as one page: no script, light and dark by the reader's choice, and fit for paper.
import { parse, View } from 'vega';
import { compile, type TopLevelSpec } from 'vega-lite';
import type { Results } from '#dist/capacity/measure/results.js';
import { type Plan, planFor } from '#dist/capacity/model/plan.js';
import { benchText } from '#dist/capacity/report/bench-text.js';
import { planText } from '#dist/capacity/report/plan-text.js';
import type { Chart } from './charts.js';

interface DrawnChart extends Chart {
  readonly svg: string;
}

const STYLE = `
:root { color-scheme: light dark; --back: #fff; --ink: #1d2430; --dim: #5a6472; --line: #d6dae0; }
@media (prefers-color-scheme: dark) { :root { --back: #14181f; --ink: #dfe4ec; --dim: #98a2b0; --line: #333b47; } }
@media print { :root { --back: #fff; --ink: #000; --dim: #333; --line: #bbb; } details { display: none; } section { break-inside: avoid; } }
body { margin: 0 auto; max-width: 52rem; padding: 1.5rem 1rem 4rem; background: var(--back); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.5rem; margin: 0 0 .3rem; } h2 { font-size: 1.1rem; margin: 2.2rem 0 .2rem; }
p { margin: .2rem 0 .6rem; } .dim, figcaption { color: var(--dim); }
pre { overflow-x: auto; border: 1px solid var(--line); border-radius: 6px; padding: .7rem .9rem; font: 12px/1.45 ui-monospace, monospace; white-space: pre-wrap; }
code { font: 12px ui-monospace, monospace; }
figure { margin: .5rem 0; } svg { max-width: 100%; height: auto; color: var(--ink); }
table { border-collapse: collapse; font-size: 12px; font-variant-numeric: tabular-nums; } td, th { border-bottom: 1px solid var(--line); padding: .15rem .7rem .15rem 0; text-align: left; }
summary { cursor: pointer; color: var(--dim); }
.warn { border-left: 4px solid #d9792b; padding-left: .7rem; }
`;

export function pageOf(results: Results, plan: string, charts: readonly DrawnChart[]): string {
  const { machine, node, version, commit, date, isQuietEnough, isQuick, tookS } = results;
  const [, , answer] = plan.split('\n');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Capacity of hexcodes</title>
<style>${STYLE}</style>
</head>
<body>
<h1>Capacity of hexcodes</h1>
<p class="dim">${escaped(`${machine.cores} × ${machine.model}, Node ${node}, hexcodes ${version}${commit === null ? '' : ` (${commit})`}, ${date}, ${isQuick ? 'quick run of' : ''} ${tookS} s`)}</p>
${isQuietEnough ? '' : '<p class="warn">The machine was too noisy for figures of tails: a thread that only sleeps for a millisecond woke late, or the same work took longer in some minutes than in others. p99 and knees are those of this machine in those minutes.</p>'}
<p>${escaped(plan.split('\n')[0]!)}</p>
<p><strong>${escaped(answer!)}</strong></p>
${charts.map(sectionOf).join('\n')}
<section>
<h2>The plan in whole</h2>
<figcaption><code>hexcodes plan --vehicles 50000 --interval 5s --p99 50ms</code></figcaption>
<pre>${escaped(plan)}</pre>
</section>
<section>
<h2>The bench in whole</h2>
<figcaption><code>npm run bench -- capacity</code></figcaption>
<pre>${escaped(benchText(results))}</pre>
</section>
<p class="dim">How it was measured, and what is assumed: docs/capacity.md. Latency is counted from the moment when a request should have started.</p>
</body>
</html>
`;
}

function sectionOf({ title, note, command, svg, titles, rows }: DrawnChart): string {
  const cells = (tag: string, values: readonly (string | number)[]) =>
    `<tr>${values.map((value) => `<${tag}>${escaped(String(value))}</${tag}>`).join('')}</tr>`;
  return `<section>
<h2>${escaped(title)}</h2>
<p class="dim">${escaped(note)}</p>
<figure>
${svg}
<figcaption><code>${escaped(command)}</code></figcaption>
</figure>
<details><summary>numbers</summary><table>${cells('th', titles)}${rows.map((row) => cells('td', row)).join('')}</table></details>
</section>`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

// A plot of vega-lite as SVG: no script, no font of its own, and no colour but those given, so that it fits any page.

const FONT = 'system-ui, sans-serif';

/** @param ink colour of text and axes */
export async function drawSvg(spec: TopLevelSpec, ink: string): Promise<string> {
  const text = {
    labelColor: ink,
    titleColor: ink,
    labelFont: FONT,
    titleFont: FONT,
    titleFontWeight: 500,
  } as const;
  const whole: TopLevelSpec = {
    ...spec,
    $schema: 'https://vega.github.io/schema/vega-lite/v6.json',
    background: 'transparent',
    config: {
      axis: {
        ...text,
        domainColor: ink,
        tickColor: ink,
        gridColor: ink,
        gridOpacity: 0.15,
        labelFontSize: 11,
        titleFontSize: 11,
      },
      legend: { ...text, labelLimit: 220, labelFontSize: 11, titleFontSize: 11 },
      header: { ...text, labelFontSize: 12 },
      title: { color: ink, font: FONT },
      text: { color: ink, font: FONT },
      rule: { color: ink },
      view: { stroke: null },
      range: { category: ['#3f88c5', '#d9792b', '#3a9e6f', '#b565a7', '#b8962e', '#7a8290', '#c94f4f'] },
    },
  };
  const view = new View(parse(compile(whole).spec), { renderer: 'none' });
  return view.toSVG();
}

// The plan at the top of the report: the fleet of the example in docs/capacity.md.

export function planOf(results: Results): { plan: Plan; text: string } {
  const plan = planFor(
    {
      fleet: {
        ...{
          vehicles: 50_000,
          intervalMs: 5000,
          pointsPerReport: 1,
          togetherShare: 0,
          profile: 'stream',
          flush: undefined,
        },
        ...{ gateways: 4, peakFactor: 2, growth: 1, nightly: undefined },
      },
      ...{ targetP99Us: 50_000, headroom: 0.3, survive: 1, coresPerMachine: results.machine.cores },
      ...{
        memoryBytesPerMachine: results.machine.memoryBytes,
        linkBitsPerS: 1e9,
        proxies: 1,
        pricePerCoreHour: undefined,
      },
    },
    results,
  );
  return { plan, text: planText(plan, 'the results of this report') };
}
