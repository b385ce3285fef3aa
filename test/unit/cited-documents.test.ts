// Documents that comments, tests and pages cite are in the repository: whoever reads a comment can follow it.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { expect, test } from 'vitest';

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
