// The page /docs, which shows the OpenAPI document by Scalar, and the pages below it: a document of the project, a link
// back, a list of the others, and a search over all. Documents are plain HTML made at build time, complete without
// their script.
import { createHash } from 'node:crypto';
import { VERSION } from '../../hexcodes/version.js';

/** Words of the frame, by their English. The documents themselves are English. */
const VIETNAMESE: Readonly<Record<string, string>> = {
  'Search the documents': 'Tìm trong tài liệu',
  'Nothing found.': 'Không tìm thấy. Tài liệu viết bằng tiếng Anh: hãy thử một từ tiếng Anh.',
  'The search could not be loaded.': 'Không tải được mục lục tìm kiếm.',
  found: 'kết quả',
  '← Hexcodes API': '← API Hexcodes',
  'The map': 'Bản đồ',
  'All documents': 'Mọi tài liệu',
  Documents: 'Tài liệu',
};

/** Vietnamese words without accents, each with the English one that the documents use. */
const SYNONYMS: Readonly<Record<string, string>> = {
  ma: 'code',
  khoa: 'key',
  tep: 'file',
  loi: 'error',
  tinh: 'province',
  lenh: 'command',
  luong: 'stream',
  xe: 'vehicle',
};

/** Key of the local storage under which the page at / keeps the chosen language. */
const LANGUAGE_KEY = 'hexcodes-language';

const FRAME_SCRIPT = `
'use strict';
{
const VIETNAMESE = ${JSON.stringify(VIETNAMESE)};
const SYNONYMS = ${JSON.stringify(SYNONYMS)};
const byId = (id) => document.getElementById(id);
const kept = () => { try { return localStorage.getItem('${LANGUAGE_KEY}'); } catch { return null; } };
const chosen = kept();
const isVietnamese = navigator.languages.some((each) => each.toLowerCase().startsWith('vi'));
const language = chosen === 'vi' || chosen === 'en' ? chosen : isVietnamese ? 'vi' : 'en';
const say = (english) => (language === 'vi' && Object.hasOwn(VIETNAMESE, english) ? VIETNAMESE[english] : english);
const choose = byId('language');
choose.hidden = false;
choose.textContent = language === 'vi' ? 'English' : 'Tiếng Việt';
choose.lang = language === 'vi' ? 'en' : 'vi';
choose.addEventListener('click', () => {
  try { localStorage.setItem('${LANGUAGE_KEY}', language === 'vi' ? 'en' : 'vi'); } catch { return; }
  location.reload();
});
const box = byId('search');
byId('search-box').hidden = false;
if (language === 'vi') {
  byId('english-only').hidden = false;
  for (const root of document.querySelectorAll('header, nav, footer')) {
    root.ariaLabel = root.ariaLabel && say(root.ariaLabel);
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const node = walker.currentNode;
      const words = say(node.data);
      if (words === node.data) continue;
      node.data = words;
      node.parentElement.lang = 'vi';
    }
  }
}
const plain = (text) => text.normalize('NFD').replace(/\\p{M}/gu, '').replace(/[Đđ]/g, 'd').toLowerCase();
let index;
const load = () => index ??= fetch('/docs/search.json').then((answer) => {
  if (!answer.ok) throw new Error(answer.status);
  return answer.json();
}).catch((error) => { index = undefined; throw error; });
/** Points of the sections that have a word, or a word that begins so. */
const pointsOf = ({ sections, pages, words }, term) => {
  const points = new Map();
  const add = (at, more) => points.set(at, Math.max(points.get(at) ?? 0, more));
  for (const [word, places] of Object.entries(words)) {
    if (!word.startsWith(term)) continue;
    let at = 0;
    for (const step of places) add(at += step, word === term ? 3 : 1);
  }
  for (const at of points.keys()) {
    const [page, , heading] = sections[at];
    const has = (text) => plain(text).split(/[^\\p{L}\\p{N}_]+/u).some((word) => word.startsWith(term));
    if (has(heading)) points.set(at, points.get(at) + 6);
    if (has(pages[page][1])) points.set(at, points.get(at) + 2);
  }
  return points;
};
const search = async () => {
  const terms = plain(box.value).match(/[\\p{L}\\p{N}_]+/gu) ?? [];
  const count = byId('search-count');
  const list = byId('search-found');
  if (terms.length === 0) { count.textContent = ''; list.replaceChildren(); return; }
  const asked = box.value;
  let found;
  try {
    found = await load();
  } catch {
    count.textContent = say('The search could not be loaded.');
    return;
  }
  if (asked !== box.value) return;
  const all = terms.map((term) => {
    const own = pointsOf(found, term);
    if (Object.hasOwn(SYNONYMS, term)) for (const [at, points] of pointsOf(found, SYNONYMS[term])) own.set(at, Math.max(points, own.get(at) ?? 0));
    return own;
  });
  const hits = [...all[0].keys()]
    .filter((at) => all.every((each) => each.has(at)))
    .map((at) => [at, all.reduce((sum, each) => sum + each.get(at), 0)])
    .sort((a, b) => b[1] - a[1] || a[0] - b[0]);
  count.textContent = hits.length === 0 ? say('Nothing found.') : hits.length + ' ' + say('found');
  list.replaceChildren(...hits.slice(0, 12).map(([at]) => {
    const [page, anchor, heading] = found.sections[at];
    const [name, title] = found.pages[page];
    const item = document.createElement('li');
    const link = document.createElement('a');
    link.href = '/docs' + (name && '/' + name) + (anchor && '#' + anchor);
    link.textContent = heading;
    const of = document.createElement('span');
    of.className = 'soft';
    of.textContent = heading === title ? '' : ' · ' + title;
    item.append(link, of);
    return item;
  }));
};
box.addEventListener('focus', () => load().catch(() => {}));
box.addEventListener('input', search);
if (box.value !== '') search();
}
`;

/** Part of the head of a page, hidden until the script runs. */
const FRAME_HTML = `<p><button type="button" id="language" hidden></button></p>
<p id="english-only" lang="vi" hidden>Tài liệu viết bằng tiếng Anh; khung trang, mục lục và ô tìm kiếm có tiếng Việt.</p>
<search id="search-box" hidden><label for="search">Search the documents</label><input id="search" type="search" autocomplete="off" spellcheck="false"><p id="search-count" class="soft" role="status"></p><ul id="search-found"></ul></search>`;

const STYLE = `
:root{color-scheme:light dark;--ink:#1b1f24;--soft:#57606a;--line:#d0d7de;--paper:#fff;--tint:#f6f8fa;--accent:#0a58ca}
@media(prefers-color-scheme:dark){:root{--ink:#e6edf3;--soft:#9da7b1;--line:#3d444d;--paper:#0d1117;--tint:#161b22;--accent:#79b8ff}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.55 system-ui,sans-serif}
main,header,nav,footer{max-width:60rem;margin:0 auto;padding:0 1rem}
header{padding-top:2rem}
h1{font-size:1.9rem;margin:0}
h2{margin:2.5rem 0 .5rem;padding-top:1rem;border-top:1px solid var(--line)}
h3{margin:2rem 0 .25rem;font-size:1.1rem;overflow-wrap:anywhere}
a{color:var(--accent)}
img{max-width:100%;height:auto}
nav ul{columns:2;padding-left:1.2rem}
nav li{break-inside:avoid}
@media(max-width:40rem){nav ul{columns:1}}
p,li{overflow-wrap:anywhere}
code,pre{font:.875rem/1.5 ui-monospace,monospace}
pre{white-space:pre-wrap;overflow-wrap:anywhere;background:var(--tint);border:1px solid var(--line);border-radius:6px;padding:.75rem;margin:.5rem 0}
.soft{color:var(--soft)}
.wide{overflow-x:auto}
table{border-collapse:collapse;width:100%;margin:.5rem 0}
th,td{text-align:left;vertical-align:top;padding:.35rem .75rem .35rem 0;border-bottom:1px solid var(--line)}
tbody th{font-weight:400}
[hidden]{display:none!important}
details{margin:.5rem 0}
summary{cursor:pointer;color:var(--accent)}
label{display:grid;gap:.15rem}
input,button{font:inherit;padding:.45rem;border:1px solid var(--soft);border-radius:6px;background:var(--paper);color:var(--ink);width:100%}
button{width:auto;padding:.45rem 1.2rem;cursor:pointer}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
@media print{nav,search,#language{display:none}}
`;

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Escapes a text for use between tags and in quoted attributes. */
const escapeHtml = (text: string): string => text.replace(/[&<>"]/g, (letter) => ENTITIES[letter] as string);

/** A source of a Content-Security-Policy that allows this text. */
const hashOf = (text: string): string => `sha256-${createHash('sha256').update(text).digest('base64')}`;

interface DocumentTitle {
  /** Name of the page below /docs. */
  readonly name: string;
  readonly title: string;
}

/** A Content-Security-Policy that allows these styles, scripts and pictures, and requests to the service alone. */
const policyOf = (styles: string, scripts: string, pictures: string): string =>
  [
    "default-src 'none'",
    `style-src ${styles}`,
    `script-src ${scripts}`,
    `img-src ${pictures}`,
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

const DOCUMENT_POLICY = policyOf(`'${hashOf(STYLE)}'`, `'${hashOf(FRAME_SCRIPT)}'`, "'self'");

/** The start of the viewer. Without these settings it asks hosts of Scalar for fonts, and leads to its services. */
const VIEWER_SCRIPT = `
'use strict';
Scalar.createApiReference('#viewer', {
  url: '/openapi.json',
  servers: [{ url: location.origin }],
  defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
  withDefaultFonts: false,
  telemetry: false,
  hideClientButton: true,
  showDeveloperTools: 'never',
  agent: { disabled: true },
  mcp: { disabled: true },
});
`;

const VIEWER_STYLE = `
body{margin:0;--scalar-custom-header-height:2.75rem}
.links{position:sticky;top:0;z-index:10;box-sizing:border-box;height:2.75rem;display:flex;align-items:center;gap:1.25rem;padding:0 1rem;overflow-x:auto;white-space:nowrap;font:15px system-ui,sans-serif;background:var(--scalar-background-1);border-bottom:1px solid var(--scalar-border-color)}
.links a{color:var(--scalar-color-1)}
`;

/** The page /docs. The viewer inserts styles, which cannot be named by hash: styles alone are 'unsafe-inline'. */
export const API_PAGE = {
  text: `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>Hexcodes API</title><link rel="icon" href="/docs/icon.svg" type="image/svg+xml"><style>${VIEWER_STYLE}</style></head><body>
<nav class="links" aria-label="Pages"><a href="/" id="back">← The map</a><a href="/docs/documents">Documents</a><a href="/docs/stream">The stream</a><a href="/asyncapi.json">AsyncAPI</a><a href="/docs/reference/http">As text</a></nav>
<div id="viewer"></div><noscript><p>The operations need JavaScript; as text they do not.</p></noscript>
<script src="/docs/viewer.js"></script><script>${VIEWER_SCRIPT}</script></body></html>`,
  policy: policyOf("'unsafe-inline'", `'self' '${hashOf(VIEWER_SCRIPT)}'`, "'self' data:"),
};

/** @param list of all documents, in their order */
export function documentPage(
  { name, title, html }: DocumentTitle & { readonly html: string },
  list: readonly DocumentTitle[],
): { text: string; policy: string } {
  const text = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>${escapeHtml(title)} · Hexcodes ${VERSION}</title><link rel="icon" href="/docs/icon.svg" type="image/svg+xml"><style>${STYLE}</style></head><body>
<header><p><a href="/docs" id="back">← Hexcodes API</a> · <a href="/">The map</a></p>${FRAME_HTML}</header>
<nav aria-label="Documents"><details><summary>All documents</summary><ul>${documentLinks(list, name)}</ul></details></nav>
<main>${html}</main>
<footer><p><a href="/docs">← Hexcodes API</a></p></footer><script>${FRAME_SCRIPT}</script></body></html>`;
  return { text, policy: DOCUMENT_POLICY };
}

/** The page with the list of all documents. */
export const listPage = (list: readonly DocumentTitle[]): { text: string; policy: string } =>
  documentPage(
    { name: 'documents', title: 'Documents', html: `<h1>Documents</h1><ul>${documentLinks(list)}</ul>` },
    list,
  );

/** @param current the page that shows them, if it is one of them */
function documentLinks(list: readonly DocumentTitle[], current = ''): string {
  return list
    .map(({ name, title }) => {
      const mark = name === current ? ' aria-current="page"' : '';
      return `<li><a href="/docs/${name}"${mark}>${escapeHtml(title)}</a></li>`;
    })
    .join('');
}
