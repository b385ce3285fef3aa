// Documents: links, cited pages and sources, the change log, the answers to marks, the figures of README.md, and
// limits of the wire.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { CLAIMS } from '../../bench/claims/list.js';

const { version: VERSION } = JSON.parse(readFileSync('package.json', 'utf8'));

// The documents of the repository name files that exist, by links and by paths in backticks.
describe('links', () => {
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
});

// Documents that comments, tests and pages cite are in the repository: whoever reads a comment can follow it.
describe('what is cited', () => {
  const FOLDERS = ['src', 'assembly', 'test', 'bench', 'data', 'docs', 'examples', 'clients'];
  const EXTENSIONS = ['.ts', '.mjs', '.js', '.py', '.sh', '.md'];
  const OWN_PATH = join('test', 'unit', 'cited-documents.test.ts');

  /** A document of the source of the boundaries. */
  const OF_OTHERS = ['LICENSE.md'];

  /** Ways to name documents that the repository does not hold. */
  const ELSEWHERE = [
    /\bspec\/\w/i,
    /\b(?:api|streaming)\.md\b/i,
    /\bservice\.txt\b/i,
    /\bgaps decided\b/i,
    /\btable 2\.4\b/i,
    /\bdesign rule\b/i,
    /\bservice contract\b/i,
  ];

  const pages = readdirSync('.').filter((name) => name.endsWith('.md'));
  const sources = FOLDERS.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
  ).filter(
    (path) =>
      EXTENSIONS.includes(extname(path)) && path !== OWN_PATH && !/node_modules|^src\/\w+\/dist/.test(path),
  );

  /** Further sources that comments may name. */
  const TOOLS = [
    'build.mjs',
    'vitest.config.ts',
    ...readdirSync('tools', { recursive: true, encoding: 'utf8' }).map((name) => join('tools', name)),
  ];

  /** Each line as `path:number text`, addresses on the web taken out. */
  const lines = [...pages, ...sources].flatMap((path) =>
    readFileSync(path, 'utf8')
      .split('\n')
      .map((text, i) => ({ path, place: `${path}:${i + 1}`, text: text.replace(/https?:\/\/\S+/g, '') })),
  );

  test('every page that is named exists, from the root of the repository or from where it is named', () => {
    const missing = lines.flatMap(({ path, place, text }) =>
      (text.match(/[\w./-]*\w\.md\b/g) ?? [])
        .filter((name) => !OF_OTHERS.includes(name))
        .filter((name) => !existsSync(name) && !existsSync(join(dirname(path), name)))
        .map((name) => `${place} ${name}`),
    );
    expect(missing).toEqual([]);
    expect(lines.some(({ text }) => text.includes('docs/http.md'))).toBe(true);
  });

  test('every source that a comment names exists, by its path or the end of it', () => {
    const paths = `\n/${[...sources, ...TOOLS].join('\n/')}\n`;
    const named = lines.flatMap(({ path, place, text }) => {
      const comment = /(?:^|\s)(?:\/\/|\/?\*+|#)\s(.*)$/.exec(text)?.[1] ?? '';
      const names = comment.match(/(?<![\w@.*{}-])(?:[\w.-]+\/)*[\w.-]+\.(?:ts|mjs|py|sh)\b/g) ?? [];
      return path.endsWith('.md')
        ? []
        : names.map((name) => ({ place, name: name.replace(/^(?:\.+\/)+/, '') }));
    });
    expect(named.length).toBeGreaterThan(100);
    const missing = named.filter(({ name }) => !paths.includes(`/${name}\n`));
    expect(missing.map(({ place, name }) => `${place} ${name}`)).toEqual([]);
  });

  /** The anchors of a page's headings, as they are made where pages are shown. */
  function anchorsOf(path: string): string[] {
    const text = readFileSync(path, 'utf8').replace(/^```[\s\S]*?^```/gm, '');
    return [...text.matchAll(/^#+ (.+)$/gm)].map((match) =>
      (match[1] as string)
        .toLowerCase()
        .replace(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    );
  }

  test('links to a section of a page lead to a heading', () => {
    const links = lines.flatMap(({ path, place, text }) =>
      [...text.matchAll(/\]\(([\w./-]*)#([^)]+)\)/g)].map(([, page = '', anchor = '']) => ({
        place: `${place} ${page}#${anchor}`,
        page: page === '' ? path : join(dirname(path), page),
        anchor,
      })),
    );
    expect(links.length).toBeGreaterThan(10);
    const broken = links.filter(({ page, anchor }) => !anchorsOf(page).includes(anchor));
    expect(broken.map(({ place }) => place)).toEqual([]);
  });

  test('no document is cited that is not here', () => {
    const cited = lines.filter(({ text }) => ELSEWHERE.some((phrase) => phrase.test(text)));
    expect(cited.map(({ place, text }) => `${place} ${text.trim()}`)).toEqual([]);
  });
});

// CHANGELOG.md: Unreleased, then releases, newest first, the newest of which is this version; in each one order of
// kinds.
describe('the change log', () => {
  const KINDS = ['Breaking', 'Added', 'Changed', 'Fixed'];

  const sections = readFileSync('CHANGELOG.md', 'utf8')
    .split(/^## /m)
    .slice(1)
    .map((text) => ({
      title: text.slice(0, text.indexOf('\n')),
      kinds: [...text.matchAll(/^#+ (.*)$/gm)].map(([, kind]) => kind as string),
    }));
  const releases = sections.slice(1);

  test('Unreleased is first, and the newest release is this version', () => {
    expect(sections[0]?.title).toBe('Unreleased');
    expect(releases[0]?.title.split(', ')[0]).toBe(VERSION);
  });

  test('releases have a date, and are in order', () => {
    for (const { title } of releases) expect(title).toMatch(/^\d+\.\d+\.\d+, \d{4}-\d\d-\d\d$/);
    const days = releases.map(({ title }) => title.split(', ')[1] as string);
    expect(days).toEqual([...days].sort().reverse());
  });

  test.each(sections)('$title: kinds in one order, each once', ({ kinds }) => {
    expect(kinds).toEqual(KINDS.filter((kind) => kinds.includes(kind)));
  });
});

// test/trials.md answers for every mark, and SECURITY.md for those of which something is left.
describe('marks', () => {
  /** Rows of the first table below a heading: mark and last column. */
  function rowsBelow(page: string, heading: string): [mark: string, state: string][] {
    const section = readFileSync(page, 'utf8').split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
    return [...section.matchAll(/^\| ([A-Z]+\d+) \|.*\| (.*) \|$/gm)].map((row) => [
      row[1] ?? '',
      row[2] ?? '',
    ]);
  }

  const numbered = (letter: string, count: number) =>
    Array.from({ length: count }, (_, i) => `${letter}${i + 1}`);

  const attacked = rowsBelow('test/trials.md', 'Attacked');
  const checked = rowsBelow('test/trials.md', 'Checked');

  test('every mark has its row', () => {
    const marks = [...numbered('C', 4), ...numbered('H', 7), ...numbered('M', 13), ...numbered('L', 11)];
    expect(attacked.map(([mark]) => mark)).toEqual(marks);
    expect(checked.map(([mark]) => mark)).toEqual(numbered('C', 8));
  });

  test('what is mended by code names its test; the rest is left, with a reason', () => {
    for (const [mark, state] of attacked) {
      const isMended = state.startsWith('mended') && /`test\/[\w/-]+`/.test(state);
      expect([mark, isMended || /^left: ./.test(state)]).toEqual([mark, true]);
    }
  });

  test('what is left is in SECURITY.md', () => {
    const left = attacked.filter(([, state]) => /\b[Ll]eft\b/.test(state)).map(([mark]) => mark);
    expect(rowsBelow('SECURITY.md', 'What is left').map(([mark]) => mark)).toEqual(left);
  });
});

// Each figure of README.md that can be measured has its row in `npm run claims`, word for word.

/** A number with a unit of speed, time, size or share. */
const FIGURE =
  /\d[\d.,]*(?: to \d[\d.,]*)?(?: of 100\b| ?(?:million|µs|ns|ms|s|seconds|minutes|%|×|m²|[KMG]i?B|times)(?![\w/]))/g;

const README = readFileSync('README.md', 'utf8')
  .replaceAll(/```[\s\S]*?```/g, '')
  .replaceAll('\n', ' ');

/** Figures in a text, without those that stand in the words of a claim. */
const unclaimed = (text: string): string[] => {
  const rest = CLAIMS.reduce((left, { text: words }) => left.replaceAll(words, ' '), text);
  return rest.match(FIGURE) ?? [];
};

test('README.md has no figure without a row of `npm run claims`', () => {
  expect(unclaimed(README)).toEqual([]);
});

test('each row is in README.md', () => {
  expect(CLAIMS.filter(({ text }) => !README.includes(text)).map(({ text }) => text)).toEqual([]);
});

test.each([
  '40 million points',
  'in 3.5 µs',
  '7 % of points',
  '2 to 9 times',
  '3.5 MB',
  '0.4 s of CPU',
  '97 of 100',
])('a new figure is noticed: %s', (text) => {
  expect(unclaimed(`${README} ${text}`)).toHaveLength(1);
});

// The limits of the wire are in the descriptions of the API; clients and documents have copies.

const [openapi, asyncapi] = ['openapi', 'asyncapi'].map((name) => readFileSync(`dist/${name}.json`, 'utf8'));
const MAX_BATCH_ITEMS = Math.max(
  ...Array.from(openapi!.matchAll(/"maxItems":\s*(\d+)/g), ([, n]) => Number(n)),
);
const exampleOf = (name: string): number =>
  Number(new RegExp(`"${name}":\\{[^}]*"examples":\\[(\\d+)\\]`).exec(asyncapi!.replaceAll(/\s/g, ''))?.[1]);

test('the Python client cuts batches as the service takes them', () => {
  const source = readFileSync('clients/python/hexcodes_client.py', 'utf8');
  expect(Number(/^BATCH_ITEMS = ([\d_]+)$/m.exec(source)?.[1]?.replaceAll('_', ''))).toBe(MAX_BATCH_ITEMS);
});

test.each(['docs/http.md', 'docs/bulk.md'])('%s says how many items a batch has', (page) => {
  const text = readFileSync(page, 'utf8').replaceAll(/\s+/g, ' ');
  const said = [...text.matchAll(/([\d,]+) (?:of them|items|in one JSON body)/g)].map((match) => match[1]);
  expect(said.length).toBeGreaterThan(0);
  expect(new Set(said)).toEqual(new Set([MAX_BATCH_ITEMS.toLocaleString('en')]));
});

test('the example of a ready frame has the limits of today', () => {
  const ready = /^\{"type":"ready".*\}$/m.exec(readFileSync('docs/stream.md', 'utf8'))?.[0] ?? '{}';
  expect(JSON.parse(ready)).toMatchObject({
    max_frame_bytes: exampleOf('max_frame_bytes'),
    max_points: exampleOf('max_points'),
  });
});
