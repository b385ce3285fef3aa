// A module of the console as it is written: the page ships as a bundle, of which no part can be imported by itself.

import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

/** @param path below src/console, with its ending. Needs vitest, which reads TypeScript. */
export async function consoleModule<Module>(path: string): Promise<Module> {
  return (await import(/* @vite-ignore */ resolve('src/console', path))) as Module;
}

// One table for the tests of the page: positions of a device with their error, networks that are none, pasted texts and
// files, each with the answer.
export function consoleCases(
  kind: 'position' | 'network' | 'text' | 'file',
): [given: string, wanted: string][] {
  return readFileSync('test/fixtures/console-cases.tsv', 'utf8')
    .split('\n')
    .map((line) => line.split('\t'))
    .filter(([each]) => each === kind)
    .map(([, given = '', wanted = '']) => [given, wanted]);
}
