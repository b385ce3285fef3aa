// A page below /docs: a document of the project, the way back, a list of the others, and a search over all. Plain HTML
// made at build time, whole without its script.
import { VERSION } from '../../../hexcodes/version.js';
import { FRAME_HTML, FRAME_SCRIPT } from './frame.js';
import { escapeHtml, hashOf, STYLE } from './style.js';

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
