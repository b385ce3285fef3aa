// GET /{code}: a link with the code in its path leads to the page of the place, which has it behind `#`. Chats read the
// title here that they show with a link; what is behind `#` reaches no server.
import type { ServeConfig } from '../../config/config.js';
import { ADMIN_UNITS } from '../../hexcodes/admin-units.js';
import type { Hexcodes } from '../../hexcodes/library/hexcodes.js';
import { placeNear } from '../../hexcodes/library/places.js';
import type { Exchange } from '../exchange.js';
import { pictureAddress } from './console-page.js';

const SEGMENT = /^\/([0-9a-z-]{6,24})$/i;
/** A text with a slip is meant for a code where it begins as one. */
const BEGINNING = /^([a-z]{2,3})-/i;
const HTML_TYPE = 'text/html; charset=utf-8';
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
