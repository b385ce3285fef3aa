// `npm run proof -- mutants [--from N] [--to N] [--only TEXT] [--for 30m] [--timeout 10m] [--unchecked] [--suite]`:
// faults of one line, one at a time: each is built in a copy of the checkout, and must fail in the tests that are named
// beside it in test/fixtures/mutants.txt. First the copy is built and tested without a fault; with --unchecked, if that
// was done at this commit, only built. With --suite, the faults that pass their tests meet all tests.
import { MutantCopy, readMutants } from '../support/mutants.js';
import { millisecondsOf, optionsOf, report } from './run-length.js';

/** How many times as long as the tests of one fault all tests together may take. */
const SUITE_TIMEOUTS = 6;

export default async function proveMutants(args: string[]): Promise<void> {
  const values = optionsOf(args, {
    from: '1',
    to: 'Infinity',
    only: '',
    for: '2h',
    timeout: '10m',
    unchecked: false,
    suite: false,
  });
  const endMs = performance.now() + millisecondsOf(values.for);
  const all = readMutants().map((mutant, i) => ({ ...mutant, number: i + 1 }));
  const chosen = all
    .filter(({ number }) => number >= Number(values.from) && number <= Number(values.to))
    .filter(({ file, text }) => `${file} ${text}`.includes(values.only));
  const caught = { build: 0, test: 0, time: 0, suite: 0 };
  const survivors: string[] = [];
  const copy = new MutantCopy(millisecondsOf(values.timeout));
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => {
      copy.remove();
      process.exit(1);
    });
  }
  let tried = 0;
  try {
    const named = [...new Set(chosen.flatMap(({ tests }) => tests))];
    await copy.checkWithoutFault(values.unchecked ? [] : named);
    for (const mutant of chosen) {
      if (performance.now() >= endMs) break;
      tried++;
      const name = `${mutant.number} ${mutant.file}: ${mutant.text} -> ${mutant.replacement}`;
      const found = await copy.catchOf(mutant, mutant.tests);
      console.log(found === undefined ? `${name}\n    passes` : `${name}\n    ${found.by}: ${found.what}`);
      if (found !== undefined) {
        caught[found.by]++;
        continue;
      }
      const late = values.suite ? await copy.catchOf(mutant, [], SUITE_TIMEOUTS * copy.timeoutMs) : undefined;
      if (late === undefined) survivors.push(name);
      else {
        caught.suite++;
        console.log(`    ${late.by} of the suite: ${late.what}`);
      }
    }
  } finally {
    copy.remove();
  }
  const by = `${caught.test} caught by their tests, ${caught.suite} by others, ${caught.build} by the build, ${caught.time} never end`;
  report('mutants', `${tried} of ${all.length} faults, ${by}`, 0, survivors);
}
