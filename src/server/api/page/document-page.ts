// A page below /docs: a document of the project, a link back, a list of the others, and a search over all. Plain HTML
// made at build time, complete without its script.
import { createHash } from 'node:crypto';
import { VERSION } from '../../../hexcodes/version.js';

// The frame of the pages at /docs and below: a search over all of them, and its texts in Vietnamese. The script shows
// the parts that need it; without it the pages are plain HTML.

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
  Operations: 'Các thao tác',
  '← The map, where single codes need no key': '← Bản đồ: xem từng mã không cần khóa',
  'Your key, kept in this page only; the examples below take it':
    'Khóa của bạn, chỉ giữ trong trang này; các ví dụ bên dưới dùng nó',
  'The stream': 'Luồng',
  Errors: 'Lỗi',
  'Each status, and what to do': 'Từng trạng thái và cách xử lý',
  "The contract, the operator's pages, the library, the formats":
    'Hợp đồng, trang cho người vận hành, thư viện, các định dạng',
  Bodies: 'Nội dung gửi và nhận',
  'Status words': 'Các trạng thái',
  'What an error means, and what to do': 'Ý nghĩa của lỗi và cách xử lý',
  'What the server closes with': 'Mã đóng kết nối của máy chủ',
  status: 'trạng thái',
  elsewhere: 'nơi khác',
  'what it means': 'ý nghĩa',
  'what to do': 'cách xử lý',
  name: 'tên',
  where: 'ở đâu',
  what: 'là gì',
  code: 'mã',
  'why, and what to do': 'lý do và cách xử lý',
  'media type': 'kiểu dữ liệu',
  schema: 'lược đồ',
  Send: 'Gửi',
  'Parameters of ': 'Tham số của ',
  'Body of ': 'Nội dung gửi của ',
  'Try ': 'Thử ',
  'An answer, ': 'Một câu trả lời, ',
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

export const FRAME_SCRIPT = `
'use strict';
{
const VIETNAMESE = ${JSON.stringify(VIETNAMESE)};
const SYNONYMS = ${JSON.stringify(SYNONYMS)};
const byId = (id) => document.getElementById(id);
const kept = () => { try { return localStorage.getItem('${LANGUAGE_KEY}'); } catch { return null; } };
const chosen = kept();
const isVietnamese = navigator.languages.some((each) => each.toLowerCase().startsWith('vi'));
const language = chosen === 'vi' || chosen === 'en' ? chosen : isVietnamese ? 'vi' : 'en';
const say = (english) => {
  if (language !== 'vi') return english;
  if (Object.hasOwn(VIETNAMESE, english)) return VIETNAMESE[english];
  const start = Object.keys(VIETNAMESE).find((each) => each.endsWith(' ') && english.startsWith(each));
  return start === undefined ? english : VIETNAMESE[start] + english.slice(start.length);
};
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
  const frame = [...document.querySelectorAll('header, nav, footer, search, [data-frame]')];
  for (const root of frame) {
    for (const node of root.querySelectorAll('[aria-label]')) node.ariaLabel = say(node.ariaLabel);
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const node = walker.currentNode;
      if (node.parentElement.closest('pre, code, p:not(header p, footer p), td, .try label, #english-only, #language')) continue;
      const english = node.data.trimEnd();
      const words = say(english);
      if (words === english) continue;
      node.data = words + node.data.slice(english.length);
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
export const FRAME_HTML = `<p><button type="button" id="language" hidden></button></p>
<p id="english-only" lang="vi" hidden>Tài liệu viết bằng tiếng Anh; khung trang, mục lục và ô tìm kiếm có tiếng Việt.</p>
<search id="search-box" hidden><label for="search">Search the documents</label><input id="search" type="search" autocomplete="off" spellcheck="false"><p id="search-count" class="soft" role="status"></p><ul id="search-found"></ul></search>`;

// The style that the pages at /docs and below it share, and how text goes into HTML.

export const STYLE = `
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
code,pre,textarea,output{font:.875rem/1.5 ui-monospace,monospace}
pre,output{display:block;white-space:pre-wrap;overflow-wrap:anywhere;background:var(--tint);border:1px solid var(--line);border-radius:6px;padding:.75rem;margin:.5rem 0}
.method{display:inline-block;min-width:3.2rem;font-weight:700;color:var(--accent)}
.soft{color:var(--soft)}
.wide{overflow-x:auto}
table{border-collapse:collapse;width:100%;margin:.5rem 0}
caption{text-align:left;font-weight:600;padding:.25rem 0}
th,td{text-align:left;vertical-align:top;padding:.35rem .75rem .35rem 0;border-bottom:1px solid var(--line)}
tbody th{font-weight:400}
[hidden]{display:none!important}
details{margin:.5rem 0}
summary{cursor:pointer;color:var(--accent)}
form{display:grid;gap:.5rem;max-width:36rem}
label{display:grid;gap:.15rem}
input,textarea,button{font:inherit;padding:.45rem;border:1px solid var(--soft);border-radius:6px;background:var(--paper);color:var(--ink);width:100%}
button{width:auto;justify-self:start;background:var(--accent);color:var(--paper);border-color:var(--accent);padding:.45rem 1.2rem;cursor:pointer}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
#language{color:var(--ink);background:var(--paper)}
@media print{form,nav,search,#language,.try{display:none}}
`;

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Escapes a text for use between tags and in quoted attributes. */
export const escapeHtml = (text: string): string =>
  text.replace(/[&<>"]/g, (letter) => ENTITIES[letter] as string);

/** A source of a Content-Security-Policy that allows this text. */
export const hashOf = (text: string): string =>
  `sha256-${createHash('sha256').update(text).digest('base64')}`;

export interface DocumentTitle {
  /** Name of the page below /docs. */
  readonly name: string;
  readonly title: string;
}

/** Allows only the style, the script and pictures of the service. */
const POLICY = [
  "default-src 'none'",
  `style-src '${hashOf(STYLE)}'`,
  `script-src '${hashOf(FRAME_SCRIPT)}'`,
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** @param list of all documents, in their order */
export function documentPage(
  { name, title, html }: DocumentTitle & { readonly html: string },
  list: readonly DocumentTitle[],
): { page: string; policy: string } {
  const page = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>${escapeHtml(title)} · Hexcodes ${VERSION}</title><link rel="icon" href="/docs/icon.svg" type="image/svg+xml"><style>${STYLE}</style></head><body>
<header><p><a href="/docs" id="back">← Hexcodes API</a> · <a href="/">The map</a></p>${FRAME_HTML}</header>
<nav aria-label="Documents"><details><summary>All documents</summary><ul>${documentLinks(list, name)}</ul></details></nav>
<main>${html}</main>
<footer><p><a href="/docs">← Hexcodes API</a></p></footer><script>${FRAME_SCRIPT}</script></body></html>`;
  return { page, policy: POLICY };
}

/** @param current the page that shows them, if it is one of them */
export function documentLinks(list: readonly DocumentTitle[], current = ''): string {
  return list
    .map(({ name, title }) => {
      const mark = name === current ? ' aria-current="page"' : '';
      return `<li><a href="/docs/${name}"${mark}>${escapeHtml(title)}</a></li>`;
    })
    .join('');
}
