// One table for the tests of the page: positions of a device with their error, networks that are none, pasted texts and
// files, each with the answer.
import { readFileSync } from 'node:fs';

export function consoleCases(
  kind: 'position' | 'network' | 'text' | 'file',
): [given: string, wanted: string][] {
  return readFileSync('test/fixtures/console-cases.tsv', 'utf8')
    .split('\n')
    .map((line) => line.split('\t'))
    .filter(([each]) => each === kind)
    .map(([, given = '', wanted = '']) => [given, wanted]);
}
