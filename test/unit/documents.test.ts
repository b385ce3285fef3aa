// The documents of the repository name files that exist, by links and by paths in backticks.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';

const LEFT_OUT = ['node_modules', 'dist', 'release', 'build', 'var', '.git', '.ci'];

/** CHANGELOG.md and bench/README.md tell of the past, in which files had other names. */
const OF_THE_PAST = ['CHANGELOG.md', 'bench/README.md'];

function documentsBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory()
      ? LEFT_OUT.includes(entry.name)
        ? []
        : documentsBelow(join(folder, entry.name))
      : entry.name.endsWith('.md')
        ? [join(folder, entry.name)]
        : [],
  );
}

const documents = documentsBelow('.');

/** Without fenced blocks, whose text is an example. */
function proseOf(path: string): string {
  return readFileSync(path, 'utf8')
    .replace(/^```[\s\S]*?^```/gm, '')
    .replace(/`[^`\n]*`/g, '');
}

test('documents are found', () => {
  expect(documents).toContain('docs/development.md');
  expect(documents.length).toBeGreaterThan(20);
});

test('links lead to files that exist', () => {
  const broken = documents.flatMap((path) =>
    [...proseOf(path).matchAll(/\]\(([^)\s]+)\)/g)]
      .map((match) => (match[1] as string).replace(/#.*$/, ''))
      .filter((link) => link !== '' && !/^[a-z]+:/.test(link))
      .filter((link) => !existsSync(join(dirname(path), link)))
      .map((link) => `${path}: ${link}`),
  );
  expect(broken).toEqual([]);
});

// A test may be named without its ending.
test('paths of sources and tests exist', () => {
  const missing = documents
    .filter((path) => !OF_THE_PAST.includes(path))
    .flatMap((path) =>
      [...proseOf(path).matchAll(/`((?:src|assembly|test|bench|data|docs)\/[\w./-]*)`/g)]
        .map((match) => match[1] as string)
        .filter((name) => !existsSync(name) && !existsSync(`${name}.test.ts`))
        .map((name) => `${path}: ${name}`),
    );
  expect(missing).toEqual([]);
});
