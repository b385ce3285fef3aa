import { relative } from 'node:path';
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { LONG_UNITS, LONGEST, REST, SMOKE, TOGETHER } from './test/support/speeds.js';

/** One project of test files, with the options that all of them share. */
function project(
  name: string,
  include: readonly string[],
  exclude: readonly string[],
  isolate = true,
): TestProjectInlineConfiguration {
  return {
    test: {
      name,
      include: [...include],
      exclude: ['**/node_modules/**', ...exclude],
      isolate,
      pool: 'forks',
      // Limits for what hangs, not for what is slow: a busy machine takes ten times as long as a quiet one.
      testTimeout: 600_000,
      hookTimeout: 300_000,
      expect: { poll: { timeout: 120_000 } },
      // Node loads what test/support/set-up-run.ts has transpiled; vitest would transform it again for each file.
      server: { deps: { external: [/\/dist\//] } },
    },
  };
}

function placeOf({ moduleId }: TestSpecification): number {
  const place = LONGEST.indexOf(relative('.', moduleId));
  return place < 0 ? LONGEST.length : place;
}

/** The order in which a run starts its files: those that take longest, then all others as vitest orders them. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).sort((a, b) => placeOf(a) - placeOf(b));
  }
}

const OTHERS = ['test/conformance/**/*.test.ts', 'test/e2e/**/*.test.ts', 'test/oracle/**/*.test.ts'];

// Each test file is in one project; test/support/speeds.ts says which speed has which.
export default defineConfig({
  test: {
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
    globalSetup: ['./test/support/set-up-run.ts'],
    projects: [
      // Files share processes: with one for each they take half as long again.
      project(
        'units',
        ['test/property/**/*.test.ts', 'test/unit/**/*.test.ts'],
        [...LONG_UNITS, ...REST],
        false,
      ),
      // uWebSockets.js aborts the process when a worker thread that holds an app ends, so every file gets a process.
      project('smoke', SMOKE, []),
      project('parts', OTHERS, [...SMOKE, ...REST, ...TOGETHER]),
      project('together', TOGETHER, [], false),
      project('rest', REST, []),
    ],
  },
});
