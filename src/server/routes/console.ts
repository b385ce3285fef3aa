// GET /, /service-worker.js and /assets/{name}: the console, the page that shows codes on a map. It needs no key: it
// converts by itself, and calls nothing of the service.
import type { ServeConfig } from '../../config/config.js';
import type { HexcodesData } from '../../hexcodes/library/hexcodes.js';
import { type Basemap, fillPage } from '../console/fill-page.js';
import { type ConsoleFile, readConsoleFiles } from '../console/read-files.js';
import { preferences } from '../media-types.js';
import { fail, type Router } from '../router.js';
import type { Exchange } from '../transport/exchange.js';
import { entityTag, sendTagged } from './freshness.js';

const HTML_TYPE = 'text/html; charset=utf-8';
const SCRIPT_TYPE = 'text/javascript; charset=utf-8';
/** A name is never given to other bytes, so a browser need not ask again. */
const FOR_EVER = 'Cache-Control: public, max-age=31536000, immutable';
const ASK_AGAIN = 'Cache-Control: no-cache';
const NOSNIFF = 'X-Content-Type-Options: nosniff';

/** The map under the hexagons that the operator has set; undefined: none. */
export function basemapOf({ tilesUrl, tilesAttribution }: ServeConfig): Basemap | undefined {
  return tilesUrl === undefined ? undefined : { url: tilesUrl, attribution: tilesAttribution };
}

/** @param data the boundaries of this service */
export function addConsole(router: Router, data: HexcodesData, basemap?: Basemap): void {
  const shipped = readConsoleFiles(data);
  const { html, serviceWorker, policy } = fillPage(shipped, basemap);
  const guard = [`Content-Security-Policy: ${policy}`, NOSNIFF, 'Referrer-Policy: no-referrer', ASK_AGAIN];
  const pageLines = [
    ...guard,
    'X-Frame-Options: DENY',
    'Cross-Origin-Opener-Policy: same-origin',
    'Permissions-Policy: geolocation=(self), camera=(), microphone=()',
  ];
  addText(router, '/', HTML_TYPE, html, pageLines);
  addText(router, '/service-worker.js', SCRIPT_TYPE, serviceWorker, guard);
  const byName = new Map(shipped.files.map((file) => [file.name, file]));
  router.add({
    path: '/assets/:name',
    methods: ['GET'],
    access: 'open',
    handle: (x) => {
      const file = byName.get(x.parameter(0));
      if (file === undefined)
        fail(x, 404, 'there is no such file; the page at / names those of this version');
      else sendFile(x, file);
    },
  });
}

function addText(router: Router, path: string, type: string, text: string, lines: readonly string[]): void {
  const body = Buffer.from(text);
  const tag = entityTag(body);
  const headerLines = linesOf([`ETag: ${tag}`, ...lines]);
  router.add({
    path,
    methods: ['GET'],
    access: 'open',
    handle: (x) => sendTagged(x, tag, type, () => body, headerLines),
  });
}

function sendFile(x: Exchange, { name, type, plain, br, gzip }: ConsoleFile): void {
  const encoding = encodingFor(x.header('accept-encoding'));
  const tag = encoding === 'plain' ? `"${name}"` : `"${name}.${encoding}"`;
  const lines = [`ETag: ${tag}`, FOR_EVER, 'Vary: Accept-Encoding', NOSNIFF];
  if (encoding !== 'plain') lines.push(`Content-Encoding: ${encoding}`);
  sendTagged(x, tag, type, () => ({ plain, br, gzip })[encoding], linesOf(lines));
}

/** The smallest encoding that the request accepts (RFC 9110, 12.5.3). */
function encodingFor(accepted: string): 'br' | 'gzip' | 'plain' {
  const entries = preferences(accepted);
  const accepts = (coding: string): boolean =>
    (
      entries.find(({ name }) => name === coding) ??
      entries.find(({ name }) => name === '*') ?? { quality: 0 }
    ).quality > 0;
  return (['br', 'gzip'] as const).find(accepts) ?? 'plain';
}

const linesOf = (lines: readonly string[]): string => lines.map((line) => `\r\n${line}`).join('');
