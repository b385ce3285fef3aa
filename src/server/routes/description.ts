// GET /openapi.json: the service described for programs. It needs no key, and changes with the version only.
import { createHash } from 'node:crypto';
import { JSON_TYPE } from '../answers.js';
import { requireJson } from '../media-types.js';
import type { Router } from '../router.js';
import { OPENAPI } from './documents.js';

export function addDescription(router: Router): void {
  const body = Buffer.from(OPENAPI);
  const tag = `"${createHash('sha256').update(body).digest('hex').slice(0, 16)}"`;
  // Asked again each time, and answered 304 until a new version is installed.
  const headerLines = `\r\nETag: ${tag}\r\nCache-Control: no-cache`;
  router.add({
    path: '/openapi.json',
    methods: ['GET'],
    access: 'open',
    handle: (x) => {
      if (!requireJson(x)) return;
      const isKnown = tagsOf(x.headerValues('if-none-match')).some((given) => given === tag || given === '*');
      if (isKnown) x.send(304, '', '', headerLines);
      else x.send(200, JSON_TYPE, body, headerLines);
    },
  });
}

/** The entity tags of If-None-Match headers; a weak one stands for the strong one (RFC 9110, 13.1.2). */
function tagsOf(headers: readonly string[]): string[] {
  return headers.flatMap((header) => header.split(',').map((tag) => tag.trim().replace(/^W\//, '')));
}
