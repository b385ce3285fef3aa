// A page below /docs: a document of the project, the way back, a list of the others, and a search over all. Plain HTML
// made at build time, whole without its script.

import { createHash } from 'node:crypto';
import { VERSION } from '../../../hexcodes/version.js';
import { FRAME_HTML, FRAME_SCRIPT } from './frame.js';

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

/** A source of a Content-Security-Policy that lets in this text. */
export const hashOf = (text: string): string =>
  `sha256-${createHash('sha256').update(text).digest('base64')}`;

export interface DocumentTitle {
  /** Its name below /docs. */
  readonly name: string;
  readonly title: string;
}

/** Lets the style, the script and pictures of the service in, and nothing else. */
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
