// Builds dist/documents.json: the pages of docs/ and docs/reference/ as HTML, which the service shows below /docs.
// Called by build.mjs.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Marked } from 'marked';

const OUT = 'dist/documents.json';
const HTML = 'text/html; charset=utf-8';
/** Folders of documents, from the root. */
const FOLDERS = ['docs', 'docs/reference', 'docs/sql'];
/** Pictures in them, and the icon of their pages. */
const PICTURES = { 'docs/capacity.svg': 'image/svg+xml', 'src/console/icon.svg': 'image/svg+xml' };

/** The name below /docs of a document: `http` of docs/http.md, `sql` of docs/sql/README.md. */
const nameOf = (path) => path.replace(/^(?:docs|src\/console)\//, '').replace(/(\/README)?\.md$/, '');

const ENTITIES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escaped = (text) => text.replace(/[&<>"]/g, (letter) => ENTITIES[letter]);
/** The text between the tags of a piece of HTML. */
const textOf = (html) => html.replace(/<[^>]*>/g, '');
const unescaped = (html) =>
  html.replace(/&(amp|lt|gt|quot|#39);/g, (all) => {
    const found = Object.entries(ENTITIES).find(([, entity]) => entity === all);
    return found === undefined ? "'" : found[0];
  });

/** The anchor of a heading, as the hosts of repositories make it. */
const slugOf = (heading) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}\s_-]/gu, '')
    .replace(/\s/g, '-');

/**
 * @param {string} path of a document
 * @param {ReadonlyMap<string, string>} names of pages and pictures below /docs, by their path
 */
function renderDocument(path, names) {
  const seen = new Map();
  const headings = [];
  /** Where a link leads: an address, or undefined for what is in the repository only. */
  const hrefOf = (href) => {
    if (/^(https?:|#)/.test(href)) return href;
    const [file, anchor] = href.split('#');
    const target = normalize(join(dirname(path), file)).replace(/\/$/, '');
    const name = names.get(target) ?? names.get(`${target}/README.md`);
    return name === undefined ? undefined : `/docs/${name}${anchor === undefined ? '' : `#${anchor}`}`;
  };
  const renderer = {
    heading({ tokens, depth }) {
      const html = this.parser.parseInline(tokens);
      const text = unescaped(textOf(html));
      const slug = slugOf(text);
      const times = seen.get(slug) ?? 0;
      seen.set(slug, times + 1);
      headings.push(text);
      return `<h${depth} id="${escaped(times === 0 ? slug : `${slug}-${times}`)}">${html}</h${depth}>\n`;
    },
    link({ href, tokens }) {
      const html = this.parser.parseInline(tokens);
      const to = hrefOf(href);
      if (to !== undefined) return `<a href="${escaped(to)}">${html}</a>`;
      const inRepository = normalize(join(dirname(path), href.replace(/#.*/, '')));
      return `<span title="In the repository: ${escaped(inRepository)}">${html}</span>`;
    },
    image({ href, text }) {
      return `<img src="${escaped(hrefOf(href))}" alt="${escaped(text)}">`;
    },
    table({ header, rows }) {
      const inner = ({ tokens }) => this.parser.parseInline(tokens);
      const heads = header.map((cell) =>
        cell.text === '' ? '<td></td>' : `<th scope="col">${inner(cell)}</th>`,
      );
      const head = header.every(({ text }) => text === '') ? '' : `<thead><tr>${heads.join('')}</tr></thead>`;
      const body = rows
        .map((cells) => `<tr>${cells.map((cell) => `<td>${inner(cell)}</td>`).join('')}</tr>`)
        .join('');
      const label = escaped(headings.at(-1) ?? path);
      return `<div class="wide" tabindex="0" role="group" aria-label="Table: ${label}"><table>${head}<tbody>${body}</tbody></table></div>\n`;
    },
    code: ({ text }) => `<pre><code>${escaped(text)}</code></pre>\n`,
  };
  const html = new Marked({ renderer }).parse(readFileSync(path, 'utf8'));
  return { html, title: headings[0] ?? path };
}

/** @returns the documents as HTML, and the names and titles of them, in their order */
function renderDocuments() {
  const paths = FOLDERS.flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => name.endsWith('.md'))
      .sort()
      .map((name) => join(folder, name)),
  );
  const names = new Map([
    ...paths.map((path) => [path, nameOf(path)]),
    ...Object.keys(PICTURES).map((path) => [path, nameOf(path)]),
  ]);
  const rendered = paths.map((path) => ({ name: names.get(path), ...renderDocument(path, names) }));
  return { names, rendered, list: rendered.map(({ name, title }) => ({ name, title })) };
}

/** Writes the page /docs and those below it. */
export async function buildDocuments() {
  const { names, rendered, list } = renderDocuments();
  const { API_PAGE, documentPage, listPage } = await import(pathToFileURL('dist/server/api/pages.js'));
  const pages = {
    '': { type: HTML, ...API_PAGE },
    documents: { type: HTML, ...listPage(list) },
    ...Object.fromEntries(rendered.map((each) => [each.name, { type: HTML, ...documentPage(each, list) }])),
    'search.json': { type: 'application/json', text: JSON.stringify(searchIndex(rendered)) },
  };
  for (const [path, type] of Object.entries(PICTURES))
    pages[names.get(path)] = { type, text: readFileSync(path, 'utf8') };
  writeFileSync(OUT, JSON.stringify(pages));
}

/** Words that stand everywhere. */
const COMMON = new Set(
  'a an and are as at be but by for from has have if in is it its no not of on one or so than that the their there they this to was what where which who with'.split(
    ' ',
  ),
);

/** A text as the search compares it. */
const plain = (text) => text.normalize('NFD').replace(/\p{M}/gu, '').replace(/[Đđ]/g, 'd').toLowerCase();

/** The words of a text; names with underscores also by their parts. */
function wordsOf(text) {
  const whole = plain(text).match(/[\p{L}\p{N}_]+/gu) ?? [];
  const all = whole.flatMap((word) => (word.includes('_') ? [word, ...word.split('_')] : [word]));
  return new Set(all.filter((word) => word.length > 1 && !COMMON.has(word)));
}

/**
 * The sections of pages and their words: for each word the numbers of its sections, each as the step from the one
 * before. src/server/api/pages.ts reads it.
 */
function searchIndex(documents) {
  const sections = [];
  const found = new Map();
  documents.forEach(({ title, html }, page) => {
    for (const part of html.split(/(?=<h[1-6][ >])/)) {
      const [, id = '', heading = title] = /^<h\d(?: id="([^"]*)")?[^>]*>(.*?)<\/h\d>/s.exec(part) ?? [];
      const text = unescaped(part.replace(/<[^>]*>/g, ' '));
      const number = sections.push([page, unescaped(id), unescaped(textOf(heading)).trim()]) - 1;
      for (const word of wordsOf(text)) found.set(word, [...(found.get(word) ?? []), number]);
    }
  });
  const steps = (numbers) => numbers.map((number, i) => number - (i === 0 ? 0 : numbers[i - 1]));
  const words = [...found.keys()].sort().map((word) => [word, steps(found.get(word))]);
  const pages = documents.map(({ name, title }) => [name, title]);
  return { pages, sections, words: Object.fromEntries(words) };
}
