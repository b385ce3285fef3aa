// GET /openapi.json, /asyncapi.json and /docs: the service described for programs and for people, without a key, and
// below /docs the documents of the project as pages.
import { readFileSync } from 'node:fs';
import type { ServeConfig } from '../../config/config.js';
import { JSON_TYPE } from '../http/answers.js';
import type { Exchange } from '../http/exchange.js';
import { type CompressedText, compressedText, sendCompressed } from '../http/freshness.js';
import { acceptedTypes, qualityOf } from '../http/negotiation.js';
import { fail, type Route } from '../http/router.js';
import { API_PAGE, API_PAGE_POLICY, ASYNCAPI, OPENAPI } from './documents.js';

type DescribedAddress = Pick<ServeConfig, 'publicUrl' | 'host' | 'port'>;

export function descriptionRoutes({ config }: { readonly config: DescribedAddress }): Route[] {
  const described = compressedText(JSON_TYPE, withAddress(OPENAPI, addressOf(config)), []);
  return [
    routeOf('/openapi.json', described),
    routeOf('/v1/openapi.json', described),
    routeOf('/asyncapi.json', compressedText(JSON_TYPE, ASYNCAPI, [])),
    routeOf('/docs', compressedText('text/html; charset=utf-8', API_PAGE, linesOfPage(API_PAGE_POLICY))),
    ...documentRoutes(),
  ];
}

/** Wildcard addresses, and port 0, which is not known yet, become those of a service on this machine. */
function addressOf({ publicUrl, host, port }: DescribedAddress): string {
  if (publicUrl !== undefined) return publicUrl;
  const name = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `http://${name.includes(':') ? `[${name}]` : name}:${port === 0 ? 8080 : port}`;
}

/** The document with the address by which clients reach the service: generators need an absolute one. */
const withAddress = (document: string, url: string): string =>
  document.replace(/"servers":\[[^\]]*\]/, () => `"servers":${JSON.stringify([{ url }])}`);

/** Headers of pages: no framing by other sites, no guessing of the type, no referrer. */
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
  let pages: Map<string, CompressedText> | undefined;
  const pageOf = (name: string): CompressedText | undefined => {
    if (pages === undefined) {
      const documents = JSON.parse(bytes.toString()) as DocumentPages;
      const lines = linesOfPage(documents.policy);
      const entries = Object.entries(documents.pages);
      pages = new Map(entries.map(([each, { type, text }]) => [each, compressedText(type, text, lines)]));
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

function routeOf(path: string, sent: CompressedText): Route {
  return { path, methods: ['GET'], access: 'open', handle: (x) => send(x, sent) };
}

function send(x: Exchange, sent: CompressedText): void {
  const { accept } = x.head;
  const plainType = sent.type.split(';')[0] as string;
  if (qualityOf(plainType, acceptedTypes(accept)) === 0)
    fail(x, 406, `the answer is ${plainType}, which the Accept header refuses`);
  else sendCompressed(x, sent);
}
