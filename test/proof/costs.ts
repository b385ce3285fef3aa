// `npm run proof -- costs [FILE...]`: each CPU time of files of results as its neighbours predict it (leave-one-out),
// and what a plan of every fleet that the documents name takes itself, start of the command included.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { parseResults } from '#dist/capacity/measure/results.js';
import { leaveOneOut, worstOf } from '#dist/capacity/model/cost.js';
import { report } from './run-length.js';

const SHIPPED = 'data/capacity.json';
const COMMAND = 'src/cli/bin/hexcodes.js';
const MAX_SECONDS = 1;
/** /proc counts CPU time in these. */
const TICKS_PER_S = 100;

export default async function proveCosts(files: string[]): Promise<void> {
  for (const file of files.length === 0 ? [SHIPPED] : files) {
    const { ways } = parseResults(readFileSync(file, 'utf8'));
    const all = leaveOneOut(ways);
    console.log(`${file}\n\n| way | rate/s | measured | from the others | error |\n|---|---|---|---|---|`);
    for (const each of all)
      console.log(
        `| \`${each.way}\` | ${each.ratePerS.toFixed(0)} | ${each.measuredUs.toFixed(1)} us | ${each.predictedUs.toFixed(1)} us | ${errorOf(each)} |`,
      );
    const worst = worstOf(all);
    console.log(`\n${all.length} points, the worst ${worst === undefined ? '–' : errorOf(worst)}\n`);
  }
  const fleets = fleetsOfDocuments();
  const faults: string[] = [];
  for (const flags of fleets) {
    const before = childrenSeconds();
    const { status } = spawnSync(process.execPath, [COMMAND, 'plan', ...flags], { stdio: 'ignore' });
    const seconds = childrenSeconds() - before;
    const line = `${seconds.toFixed(2)} s of CPU, exit code ${status}: hexcodes plan ${flags.join(' ')}`;
    console.log(line);
    if (status !== 0 || seconds > MAX_SECONDS) faults.push(line);
  }
  if (fleets.length === 0) faults.push('the documents name no fleet');
  report('costs', `${fleets.length} fleets of the documents`, 0, faults);
}

const errorOf = ({ measuredUs, predictedUs }: { measuredUs: number; predictedUs: number }): string => {
  const error = predictedUs / measuredUs - 1;
  return `${error >= 0 ? '+' : ''}${(100 * error).toFixed(1)} %`;
};

/** Flags of every plan in the documents, by the results that ship. */
function fleetsOfDocuments(): string[][] {
  const paths = readdirSync('docs', { recursive: true, encoding: 'utf8' }).map((path) => `docs/${path}`);
  const pages = ['README.md', ...paths.filter((path) => path.endsWith('.md'))].map((path) =>
    readFileSync(path, 'utf8'),
  );
  const plans = pages.flatMap((text) => [...text.matchAll(/hexcodes plan (--vehicles [^`\n]+)/g)]);
  return [...new Set(plans.map(([, flags]) => flags!.replace(/ --from \S+/, '').trim()))].map((flags) =>
    flags.split(/ +/),
  );
}

/** CPU time of all children that have ended. */
function childrenSeconds(): number {
  const fields = readFileSync('/proc/self/stat', 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  return (Number(fields[13]) + Number(fields[14])) / TICKS_PER_S;
}
