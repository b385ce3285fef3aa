// GET /, /service-worker.js and /assets/{name}: the console, the page that shows codes on a map. It needs no key: it
// converts by itself, and calls nothing of the service.

import type { ServeConfig } from '../../config/config.js';
import { ADMIN_UNITS } from '../../hexcodes/admin-units.js';
import type { Hexcodes, HexcodesData } from '../../hexcodes/library/hexcodes.js';
import { placeNear } from '../../hexcodes/library/places.js';
import { OVERLOADED_MESSAGE } from '../../hexcodes/wire/job.js';
import type { Exchange } from '../http/exchange.js';
import { type CompressedText, compressedText, sendCompressed } from '../http/freshness.js';
import { fail, failUnavailable, type Route } from '../http/router.js';
import type { BasemapArchive } from './basemap-archive.js';
import { type Basemap, fillPage, pictureAddress, readConsoleFiles } from './console-page.js';

// GET /basemap/{version}: byte ranges of the operator's archive, for the page. They need no key, as the page.

/** Bytes of ranges that are read at once; a page asks for some twenty tiles. */
const MAX_READING_BYTES = 64 * 2 ** 20;
/** Tiles and directories are smaller. */
const MAX_RANGE_BYTES = 4 * 2 ** 20;
const DEADLINE_MS = 30_000;
const RANGE = /^bytes=(\d{1,15})-(\d{1,15})$/;
/** The version is in the path, so its bytes never change. */
const RANGE_LINES =
  '\r\nCache-Control: public, max-age=31536000, immutable\r\nAccept-Ranges: bytes\r\nX-Content-Type-Options: nosniff';

/** Path of an archive. */
const archivePath = ({ version }: BasemapArchive): string => `/basemap/${version}`;

interface BasemapDeps {
  readonly basemap: BasemapArchive | undefined;
}

export function basemapRoutes({ basemap }: BasemapDeps): Route[] {
  if (basemap === undefined) return [];
  const { sizeBytes } = basemap;
  let readingBytes = 0;
  const handle = (x: Exchange): void => {
    if (x.head.parameter(0) !== basemap.version) {
      fail(x, 404, 'there is no such map; the page at / names the one of this service');
      return;
    }
    const [, first, last] = RANGE.exec(x.head.header('range')) ?? [];
    const start = Number(first);
    const end = Math.min(Number(last), sizeBytes - 1);
    if (!(start <= end && end - start < MAX_RANGE_BYTES)) {
      fail(
        x,
        416,
        `ask for one range of at most ${MAX_RANGE_BYTES} bytes, as Range: bytes=0-16383; the map has ${sizeBytes} bytes`,
        { headerLines: `\r\nContent-Range: bytes */${sizeBytes}` },
      );
      return;
    }
    const length = end - start + 1;
    if (readingBytes + length > MAX_READING_BYTES) {
      failUnavailable(x, OVERLOADED_MESSAGE);
      return;
    }
    x.deadline(DEADLINE_MS);
    readingBytes += length;
    basemap
      .bytes(start, length)
      .then((bytes) => {
        const range = `\r\nContent-Range: bytes ${start}-${end}/${sizeBytes}`;
        if (x.state !== 'over') x.send(206, 'application/octet-stream', bytes, `${RANGE_LINES}${range}`);
      })
      .catch((error: unknown) => x.reject(error))
      .finally(() => (readingBytes -= length));
  };
  return [{ path: '/basemap/:version', access: 'open', handle }];
}

const HTML_TYPE = 'text/html; charset=utf-8';
const SCRIPT_TYPE = 'text/javascript; charset=utf-8';
/** A name is never given to other bytes, so a browser need not ask again. */
const FOR_EVER = 'public, max-age=31536000, immutable';
const NOSNIFF = 'X-Content-Type-Options: nosniff';

/** A contact must be reviewed within a year. */
const SECURITY_VALID_MS = 180 * 86_400_000;

interface ConsoleDeps {
  readonly config: ServeConfig;
  /** The boundaries of this service. */
  readonly files: HexcodesData;
  readonly basemap: BasemapArchive | undefined;
}

/** The map under the hexagons that the operator has set. */
function basemapOf({ config: { tilesUrl, tilesAttribution }, basemap }: ConsoleDeps): Basemap | undefined {
  if (basemap !== undefined) {
    const attribution = tilesAttribution || basemap.attribution;
    return { url: archivePath(basemap), attribution, archive: basemap.info };
  }
  return tilesUrl === undefined ? undefined : { url: tilesUrl, attribution: tilesAttribution, archive: null };
}

export function consoleRoutes(deps: ConsoleDeps): Route[] {
  const basemap = basemapOf(deps);
  const shipped = readConsoleFiles(deps.files);
  const { html, serviceWorker, policy } = fillPage(shipped, {
    basemap,
    hasService: true,
    hasPathLinks: deps.config.pathLinks,
    publicUrl: deps.config.publicUrl,
  });
  const guard = [`Content-Security-Policy: ${policy}`, NOSNIFF, 'Referrer-Policy: no-referrer'];
  const pageLines = [
    ...guard,
    'X-Frame-Options: DENY',
    'Cross-Origin-Opener-Policy: same-origin',
    'Permissions-Policy: geolocation=(self), camera=(), microphone=()',
  ];
  const byName = new Map(
    shipped.files.map((file): [string, CompressedText] => [
      file.name,
      { ...file, tag: `"${file.name}"`, lines: [NOSNIFF], cacheControl: FOR_EVER },
    ]),
  );
  return [
    textRoute('/', HTML_TYPE, html, pageLines),
    textRoute('/service-worker.js', SCRIPT_TYPE, serviceWorker, guard),
    textRoute('/robots.txt', 'text/plain; charset=utf-8', 'User-agent: *\nDisallow: /v1/\n', [NOSNIFF]),
    ...iconRoutes(byName.get(shipped.roles.icon as string)),
    securityRoute(deps.config),
    {
      path: '/assets/:name',
      access: 'open',
      handle: (x) => {
        const file = byName.get(x.head.parameter(0));
        if (file === undefined)
          fail(x, 404, 'there is no such file; the page at / names those of this version');
        else sendCompressed(x, file);
      },
    },
  ];
}

/** Browsers ask for this address whatever the page names. */
const iconRoutes = (icon: CompressedText | undefined): Route[] =>
  icon === undefined
    ? []
    : [textRoute('/favicon.ico', icon.type, Buffer.from(icon.plain).toString(), [NOSNIFF])];

/** RFC 9116. A contact is the operator's to name. */
function securityRoute({ securityContact, publicUrl }: ServeConfig): Route {
  const path = '/.well-known/security.txt';
  const handle = (x: Exchange): void => {
    if (securityContact === undefined) {
      fail(x, 404, 'the operator has named no contact (HEXCODES_SECURITY_CONTACT)');
      return;
    }
    const expires = new Date(Date.now() + SECURITY_VALID_MS).toISOString().replace(/\.\d+/, '');
    const canonical = publicUrl === undefined ? '' : `Canonical: ${publicUrl}${path}\n`;
    x.send(
      200,
      'text/plain; charset=utf-8',
      `Contact: ${securityContact}\nExpires: ${expires}\n${canonical}`,
    );
  };
  return { path, access: 'open', handle };
}

function textRoute(path: string, type: string, text: string, lines: readonly string[]): Route {
  const compressed = compressedText(type, text, lines);
  return { path, access: 'open', handle: (x) => sendCompressed(x, compressed) };
}

// GET /{code}: a link with the code in its path leads to the page of the place, which has it after `#`. Chats read the
// title here that they show with a link; the part after `#` reaches no server.

const SEGMENT = /^\/([0-9a-z-]{6,24})$/i;
/** A text with a slip is meant for a code where it begins as one. */
const BEGINNING = /^([a-z]{2,3})-/i;
const LINES = [
  "Content-Security-Policy: default-src 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options: nosniff',
  'Referrer-Policy: no-referrer',
  'Cache-Control: no-cache',
]
  .map((line) => `\r\n${line}`)
  .join('');

interface CodePageDeps {
  readonly config: ServeConfig;
  readonly hexcodes: Hexcodes;
}

/** @returns answers a request whose path is a code; false: it is not, and the request is left as it is */
export function codePage({ config: { publicUrl }, hexcodes }: CodePageDeps): (x: Exchange) => boolean {
  const picture = pictureAddress(publicUrl);
  return (x) => {
    const { method, path } = x.head;
    if (method !== 'GET' && method !== 'HEAD') return false;
    const text = SEGMENT.exec(path)?.[1];
    if (text === undefined) return false;
    const read = hexcodes.read(text);
    const province = read?.admin_code ?? BEGINNING.exec(text)?.[1]?.toUpperCase();
    const unit = ADMIN_UNITS.find(({ code }) => code === province);
    if (unit === undefined) return false;
    if (read === null) {
      // The page offers the codes that it may have been.
      x.send(404, HTML_TYPE, html(text, 'Hexcodes', picture), LINES);
      return true;
    }
    const near = placeNear(read.lat, read.lng);
    const where = [...(near === null ? [] : [`gần ${near.name}`]), unit.name].join(', ');
    x.send(200, HTML_TYPE, html(read.hexcodes, `${read.hexcodes} · ${where}`, picture), LINES);
    return true;
  };
}

const html = (code: string, title: string, picture: string): string => `<!doctype html>
<html lang="vi">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="robots" content="noindex">
<meta property="og:type" content="website">
<meta property="og:site_name" content="Hexcodes">
<meta property="og:title" content="${title}">
<meta property="og:description" content="Xem trên bản đồ, chỉ đường, sao chép tọa độ.">
<meta property="og:image" content="${picture}">
<meta name="twitter:card" content="summary_large_image">
<meta http-equiv="refresh" content="0; url=/#${code}">
<title>${title}</title>
</head>
<body><p><a href="/#${code}">${code}</a></p></body>
</html>
`;
