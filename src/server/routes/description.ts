// GET /openapi.json, /asyncapi.json and /docs: the service described for programs and for people. They need no key, and
// change with the version only.
import { JSON_TYPE } from '../answers.js';
import { preferences, qualityOf } from '../media-types.js';
import { fail, type Router } from '../router.js';
import { API_PAGE, API_PAGE_POLICY, ASYNCAPI, OPENAPI } from './documents.js';
import { entityTag, sendTagged } from './freshness.js';

/** Headers of pages: no page is a frame elsewhere, guessed to be of another type, or told to other hosts. */
const PAGE_LINES = [
  `Content-Security-Policy: ${API_PAGE_POLICY}`,
  'X-Content-Type-Options: nosniff',
  'X-Frame-Options: DENY',
  'Referrer-Policy: no-referrer',
];

export function addDescription(router: Router): void {
  addDocument(router, '/openapi.json', JSON_TYPE, OPENAPI, []);
  addDocument(router, '/asyncapi.json', JSON_TYPE, ASYNCAPI, []);
  addDocument(router, '/docs', 'text/html; charset=utf-8', API_PAGE, PAGE_LINES);
}

function addDocument(
  router: Router,
  path: string,
  type: string,
  text: string,
  lines: readonly string[],
): void {
  const body = Buffer.from(text);
  const tag = entityTag(body);
  // Asked again each time, and answered 304 until a new version is installed.
  const headerLines = [`ETag: ${tag}`, 'Cache-Control: no-cache', ...lines]
    .map((line) => `\r\n${line}`)
    .join('');
  const plainType = type.split(';')[0] as string;
  router.add({
    path,
    methods: ['GET'],
    access: 'open',
    handle: (x) => {
      if (x.accept !== '' && qualityOf(plainType, preferences(x.accept)) === 0) {
        fail(x, 406, `the answer is ${plainType}, which the Accept header refuses`);
        return;
      }
      sendTagged(x, tag, type, () => body, headerLines);
    },
  });
}
