// GET /openapi.json, /asyncapi.json and /docs: the service described for programs and for people, without a key, and
// below /docs the documents of the project as pages.
import { readFileSync } from 'node:fs';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { JSON_TYPE } from '../answers.js';
import type { Exchange } from '../exchange.js';
import { entityTag, sendTagged } from '../freshness.js';
import { encodingFor, preferences, qualityOf } from '../media-types.js';
import { fail, type Route } from '../router.js';
import { API_PAGE, API_PAGE_POLICY, ASYNCAPI, OPENAPI } from './documents.js';

/** A text that is sent whole, as its reader accepts it. */
interface Sent {
  readonly type: string;
  readonly tag: string;
  readonly lines: readonly string[];
  readonly plain: Uint8Array;
  /** Made when each is first asked for. */
  br?: Uint8Array;
  gzip?: Uint8Array;
}

export function descriptionRoutes(): Route[] {
  return [
    routeOf('/openapi.json', sentOf(JSON_TYPE, OPENAPI, [])),
    routeOf('/asyncapi.json', sentOf(JSON_TYPE, ASYNCAPI, [])),
    routeOf('/docs', sentOf('text/html; charset=utf-8', API_PAGE, linesOfPage(API_PAGE_POLICY))),
    ...documentRoutes(),
  ];
}

/** Headers of pages: no page is a frame elsewhere, guessed to be of another type, or told to other hosts. */
const linesOfPage = (policy: string): string[] => [
  `Content-Security-Policy: ${policy}`,
  'X-Content-Type-Options: nosniff',
  'X-Frame-Options: DENY',
  'Referrer-Policy: no-referrer',
];

/** The file that tools/packages/documents.mjs writes. */
interface DocumentPages {
  readonly policy: string;
  readonly pages: Readonly<Record<string, { readonly type: string; readonly text: string }>>;
}

function documentRoutes(): Route[] {
  // Read at the start, when the files of this version are there, and parsed when somebody reads one.
  const bytes = readFileSync(new URL('../../documents.json', import.meta.url));
  let pages: Map<string, Sent> | undefined;
  const pageOf = (name: string): Sent | undefined => {
    if (pages === undefined) {
      const documents = JSON.parse(bytes.toString()) as DocumentPages;
      const lines = linesOfPage(documents.policy);
      const entries = Object.entries(documents.pages);
      pages = new Map(entries.map(([each, { type, text }]) => [each, sentOf(type, text, lines)]));
    }
    return pages.get(name);
  };
  const route = (path: string, nameOf: (x: Exchange) => string): Route => ({
    path,
    methods: ['GET'],
    access: 'open',
    handle: (x) => {
      const page = pageOf(nameOf(x));
      if (page === undefined) fail(x, 404, 'there is no such document; the page /docs lists them');
      else send(x, page);
    },
  });
  return [
    route('/docs/:name', ({ head }) => head.parameter(0)),
    route('/docs/:folder/:name', ({ head }) => `${head.parameter(0)}/${head.parameter(1)}`),
  ];
}

/** A level that takes milliseconds. */
const BROTLI = { [constants.BROTLI_PARAM_QUALITY]: 6 };

function sentOf(type: string, text: string, lines: readonly string[]): Sent {
  const plain = Buffer.from(text);
  return { type, tag: entityTag(plain), lines, plain };
}

function routeOf(path: string, sent: Sent): Route {
  return { path, methods: ['GET'], access: 'open', handle: (x) => send(x, sent) };
}

function send(x: Exchange, sent: Sent): void {
  const { type, plain } = sent;
  const { accept } = x.head;
  const plainType = type.split(';')[0] as string;
  if (accept !== '' && qualityOf(plainType, preferences(accept)) === 0) {
    fail(x, 406, `the answer is ${plainType}, which the Accept header refuses`);
    return;
  }
  const bodyOf = (): Uint8Array => {
    if (encoding === 'br') sent.br ??= brotliCompressSync(plain, { params: BROTLI });
    if (encoding === 'gzip') sent.gzip ??= gzipSync(plain);
    return sent[encoding] ?? plain;
  };
  const encoding = encodingFor(x.head.header('accept-encoding'));
  const tag = encoding === 'plain' ? sent.tag : sent.tag.replace(/"$/, `.${encoding}"`);
  // Asked again each time, and answered 304 until a new version is installed.
  const all = [`ETag: ${tag}`, 'Cache-Control: no-cache', 'Vary: Accept-Encoding', ...sent.lines];
  if (encoding !== 'plain') all.push(`Content-Encoding: ${encoding}`);
  sendTagged(x, tag, type, bodyOf, all.map((line) => `\r\n${line}`).join(''));
}
