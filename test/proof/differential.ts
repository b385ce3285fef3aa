// `npm run proof -- differential [--seed S] [--share 0.2] [--files 6] [--folder CHECKOUT]`: the differential engine of
// test/support/differential over more cases than the test, or over another checkout that is built. Fails where an
// answer differs, and prints which cells left the fast path.
import { DifferentialEngine } from '../support/differential/engine.js';
import { optionsOf, report } from './run-length.js';

export default async function proveDifferential(args: string[]): Promise<void> {
  const values = optionsOf(args, { seed: '20261126', share: '0.2', files: '6', folder: '.' });
  const engine = await DifferentialEngine.of(values.folder);
  const seed = Number(values.seed);
  try {
    await engine.wire(seed, Number(values.share));
    await engine.fileCases(seed, Number(values.files));
  } finally {
    engine.close();
  }
  const { cases, rows, differences, slow } = engine.findings();
  for (const [cell, { rows: left, spellings }] of slow) {
    const [example] = spellings;
    console.log(`slow: ${cell}: ${left} rows in ${spellings.size} spellings, as ${example}`);
  }
  const faults = differences.map(({ what, got, due }) => `${what}\n    got ${got}\n    due ${due}`);
  report('differential', `${cases} cases, ${rows} rows`, seed, faults);
}
