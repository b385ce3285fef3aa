// `npm run bench -- report [--from data/capacity.json] [--kernel FILE] [--out bench/report/index.html] [--plot
// docs/capacity.svg] [--readme README.md]`: draws results of `hexcodes bench`, and of `bench -- kernel` where that is
// given, as one page without scripts, and one plot; with --readme a small table and that plot are written there,
// between its two marks.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { parseArgs } from 'node:util';
import { parseResults } from '#dist/capacity/measure/results.js';
import { type Chart, chartsOf, latencyChart, type PeerStep, planChart } from './report/charts.js';
import { drawSvg, pageOf, planOf } from './report/page.js';
import { withTable } from './report/readme-table.js';

/** A colour that can be read on light and dark pages, for a plot without a page. */
const INK_ALONE = '#7a8290';

export default async function drawReport(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      from: { type: 'string', default: 'data/capacity.json' },
      kernel: { type: 'string' },
      out: { type: 'string', default: 'bench/report/index.html' },
      readme: { type: 'string' },
      plot: { type: 'string', default: 'docs/capacity.svg' },
    },
  });
  const results = parseResults(readFileSync(values.from, 'utf8'));
  const peers = values.kernel === undefined ? [] : peersOf(JSON.parse(readFileSync(values.kernel, 'utf8')));
  const planned = planOf(results);
  const charts: Chart[] = [planChart(planned.plan), ...chartsOf(results, peers)];
  const drawn = await Promise.all(
    charts.map(async (chart) => ({ ...chart, svg: await drawSvg(chart.spec, 'currentColor') })),
  );
  write(values.out, pageOf(results, planned.text, drawn));
  write(values.plot, await drawSvg(latencyChart(results).spec, INK_ALONE));
  if (values.readme !== undefined)
    write(values.readme, withTable(readFileSync(values.readme, 'utf8'), results, values.plot));
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  console.log(`${path}, ${(Buffer.byteLength(text) / 1024).toFixed(0)} KiB`);
}

interface KernelRow {
  readonly what: string;
  readonly corpus: string;
  readonly against: string;
  readonly theirs: { readonly median: number };
}

/** Rows of the kernel bench whose rivals are drawn: each does the same work at the default resolution. */
const DRAWN = /^(?:whole encode|containment|whole decode, resolution 13)$/;

/** The rivals of the kernel bench on its first corpus. */
function peersOf({ rows }: { rows: readonly KernelRow[] }): PeerStep[] {
  return rows
    .filter(
      ({ what, corpus, against }) =>
        corpus === 'land' && DRAWN.test(what) && /h3-js|which-polygon/.test(against),
    )
    .map(({ against, theirs }) => ({ name: against, nsPerPoint: theirs.median }));
}
