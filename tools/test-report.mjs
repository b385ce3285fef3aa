#!/usr/bin/env node
// `node tools/test-report.mjs [--complete] REPORT...`: sums vitest's JSON reports in its last line, `N passed, N
// failed`. Names the tests that were skipped; with --complete, where all programs are installed, each of them counts as
// failed.
import { readFileSync } from 'node:fs';

const args = process.argv.slice(2);
const isComplete = args.includes('--complete');
const reports = args
  .filter((arg) => arg !== '--complete')
  .map((path) => JSON.parse(readFileSync(path, 'utf8')));

/** Tests that are for another machine than this one, and no missing program. */
const ELSEWHERE = /\(not on |\(Node 2\d/;

let passed = 0;
let failed = 0;
const skipped = new Map();
for (const { testResults } of reports) {
  for (const { name, status, message, assertionResults } of testResults) {
    const file = name.slice(name.lastIndexOf('/test/') + 1);
    if (assertionResults.length === 0 && status === 'failed') {
      failed++;
      console.log(`failed: ${file}: ${message}`);
    }
    for (const { status: outcome, fullName } of assertionResults) {
      if (outcome === 'passed') passed++;
      else if (outcome === 'failed') {
        failed++;
        console.log(`failed: ${file}: ${fullName}`);
      } else if (!ELSEWHERE.test(fullName)) skipped.set(file, [...(skipped.get(file) ?? []), fullName]);
    }
  }
}
for (const [file, names] of skipped) {
  console.log(
    `${isComplete ? 'failed, as it was skipped' : 'skipped'}: ${file}: ${names.length} tests, the first: ${names[0]}`,
  );
  if (isComplete) failed += names.length;
}
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 && passed > 0 ? 0 : 1);
