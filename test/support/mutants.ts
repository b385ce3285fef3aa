// The one-line faults of test/fixtures/mutants.txt, and how one is put into its file.
import { readFileSync } from 'node:fs';

export interface Mutant {
  readonly file: string;
  readonly text: string;
  readonly replacement: string;
  readonly tests: readonly string[];
}

/** @throws Error where a block of the list is not as its head says */
export function readMutants(list = readFileSync('test/fixtures/mutants.txt', 'utf8')): Mutant[] {
  const blocks = list
    .split(/\n{2,}/)
    .map((block) => block.split('\n').filter((line) => !/^(#|$)/.test(line)));
  return blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => {
      const [file = '', text = '', replacement = '', tests = ''] = lines;
      const isRight = text.startsWith('- ') && replacement.startsWith('+ ') && tests.startsWith('= ');
      if (lines.length !== 4 || !isRight) throw new Error(`not a file, -, + and =: ${lines.join(' | ')}`);
      return {
        file,
        text: text.slice(2),
        replacement: replacement.slice(2),
        tests: tests.slice(2).split(' '),
      };
    });
}

/** The file with the fault. @throws Error where its text is not there exactly once */
export function mutated(source: string, { file, text, replacement }: Mutant): string {
  const [before, after, ...more] = source.split(text);
  if (after === undefined || more.length > 0) throw new Error(`${file}: not there once: ${text}`);
  return before + replacement + after;
}
