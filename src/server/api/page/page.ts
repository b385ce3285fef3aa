// The page /docs: every operation with its parameters, answers, errors, calls to copy and a form to try it, as plain
// HTML made at build time of the same table as the OpenAPI document. All of it except the forms works without its
// script.
import { VERSION } from '../../../hexcodes/version.js';
import { BODIES } from '../bodies.js';
import { REASONS, RECORDED_ANSWERS } from '../document.js';
import { COMMON_ERRORS, OPERATIONS, type Operation, type Parameter } from '../operations.js';
import { CLOSE_CODES } from '../stream-document.js';
import { callsOf, exampleRequests } from './calls.js';
import {
  type DocumentTitle,
  documentLinks,
  escapeHtml,
  FRAME_HTML,
  FRAME_SCRIPT,
  hashOf,
  STYLE,
} from './document-page.js';

// The meaning of each status word, and its remedy, for the page /docs. docs/http.md and docs/stream.md say the same.

/** A word of the member `status`, in an answer, an item, a row or a frame of the stream. */
interface StatusEntry {
  readonly word: string;
  /** HTTP statuses of answers whose `status` it is. */
  readonly http: readonly number[];
  /** Other uses of the word; '' for none. */
  readonly elsewhere: string;
  readonly meaning: string;
  readonly remedy: string;
}

const IN_ITEMS = 'items of a batch, rows of /bulk, points of the stream';

export const STATUS_CATALOGUE: readonly StatusEntry[] = [
  {
    word: 'OK',
    http: [200],
    elsewhere: IN_ITEMS,
    meaning: 'Done. A batch is OK although items of it failed: each has a `status` of its own.',
    remedy: 'Nothing.',
  },
  {
    word: 'INVALID_HEXCODES',
    http: [200, 404],
    elsewhere: IN_ITEMS,
    meaning:
      'The text is not a hexcode: mistyped, cut off, or something else. 200 of a decode, 404 of `/v1/hexcodes/{code}`.',
    remedy:
      'Show the person what `/v1/hexcodes/{code}/suggestions` finds, and let them choose. The same text fails again.',
  },
  {
    word: 'NOT_FOUND',
    http: [404],
    elsewhere: IN_ITEMS,
    meaning:
      'The position lies in no province of Viet Nam nor in its coastal sea; or there is nothing at this path, no province of this code.',
    remedy:
      'See whether latitude and longitude are exchanged, and whether the path is spelt as on this page.',
  },
  {
    word: 'INVALID_REQUEST',
    http: [400, 405, 406, 408, 413, 414, 415, 417, 426],
    elsewhere: `${IN_ITEMS}; frame status 1`,
    meaning:
      'A parameter, the body, a header, the method or the length is wrong. `details` names every parameter at fault, `message` says the rest.',
    remedy: 'Correct the request: the same one fails again. After 408 send the body faster, or in parts.',
  },
  {
    word: 'REQUEST_DENIED',
    http: [401, 403],
    elsewhere: 'close code 4001 of the stream',
    meaning:
      '401: the key is missing, unknown, expired or revoked. 403: it is disabled, has no scope for this path, or is bound to other web origins or networks.',
    remedy: 'Send a valid key in `X-API-Key`; ask whoever gave it for the scope, origin or network.',
  },
  {
    word: 'OVER_QUERY_LIMIT',
    http: [429],
    elsewhere: 'the rest of a /bulk body; frame status 2; close code 4002 of the stream',
    meaning:
      'A rate or a quota of the key is reached. `GET /v1/usage` shows its limits and what it has used.',
    remedy: 'Wait as many seconds as `Retry-After` says. Where it is a quota, ask for a larger one.',
  },
  {
    word: 'UNAVAILABLE',
    http: [503],
    elsewhere: 'the rest of a /bulk body; frame status 3; close codes 1012 and 1013 of the stream',
    meaning:
      'Overloaded, restarting, or no answer within 30 s; on `/v1/traccar` also: the sink of positions is away, and as many wait as may.',
    remedy:
      'Send it again after `Retry-After`, more slowly each time. Conversions have no side effects, so repeating them is safe; a position repeated to `/v1/traccar` may be kept twice. Likewise after 502 or 504 of a proxy.',
  },
  {
    word: 'INTERNAL_ERROR',
    http: [500],
    elsewhere: '',
    meaning: 'A defect of the service; the connection is closed.',
    remedy: 'Report it with the `request_id` of the answer.',
  },
];

const SCRIPT = `
'use strict';
const keyField = document.getElementById('key');
const examples = [...document.querySelectorAll('pre code')].map((code) => {
  return { code, text: code.textContent.replaceAll('http://127.0.0.1:8080', location.origin) };
});
const fill = () => {
  const key = keyField.value.trim();
  // Keys are letters, digits, hyphens and underscores: others would end the quotes that they stand in.
  const shown = /^[\\w.-]+$/.test(key) ? key : 'YOUR_KEY';
  for (const { code, text } of examples) code.textContent = text.replaceAll('YOUR_KEY', shown);
};
keyField.addEventListener('input', fill);
fill();
for (const form of document.forms) {
  form.hidden = false;
  let sent;
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    const output = form.querySelector('output');
    if (form.id === 'with-key') return;
    const query = new URLSearchParams();
    let path = form.dataset.path;
    let body;
    for (const field of form.elements) {
      if (!field.name || field.value === '') continue;
      if (field.dataset.in === 'path') path = path.replace('{' + field.name + '}', encodeURIComponent(field.value));
      else if (field.dataset.in === 'body') body = field.value;
      else query.set(field.name, field.value);
    }
    // An answer that comes late must not stand below other fields.
    sent?.abort();
    const { signal } = sent = new AbortController();
    const headers = { 'X-API-Key': keyField.value.trim() };
    if (body !== undefined) headers['Content-Type'] = form.dataset.type;
    const search = query.toString();
    output.textContent = '…';
    try {
      const answer = await fetch(path + (search && '?' + search), { method: form.dataset.method, headers, body, signal });
      output.textContent = answer.status + ' ' + answer.statusText + '\\n' + (await answer.text());
    } catch (error) {
      if (!signal.aborted) output.textContent = String(error);
    }
  });
}
`;

/** A text whose `…` are code, and whose documents are links. */
const withCode = (text: string): string =>
  escapeHtml(text)
    .replace(/`([^`]*)`/g, '<code>$1</code>')
    .replace(/\bdocs\/([\w-]+)\.md\b/g, (_, name: string) => `<a href="/docs/${name}">docs/${name}.md</a>`);

/** @param rows cells of HTML */
function table(caption: string, heads: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return '';
  const headCells = heads.map((head) => `<th scope="col">${head}</th>`).join('');
  const body = rows.map(
    ([first, ...rest]) =>
      `<tr><th scope="row">${first}</th>${rest.map((cell) => `<td>${cell}</td>`).join('')}</tr>`,
  );
  return `<div class="wide" tabindex="0" role="region" aria-label="${caption}"><table><caption>${caption}</caption><thead><tr>${headCells}</tr></thead><tbody>${body.join('')}</tbody></table></div>`;
}

/**
 * The page, and the Content-Security-Policy that allows only its style and script.
 * @param documents that are pages below it
 */
export function apiPage(documents: readonly DocumentTitle[]): { html: string; policy: string } {
  const tags = [...new Set(OPERATIONS.map(({ tag }) => tag))];
  const sections = tags.map((tag) => {
    const operations = OPERATIONS.filter((each) => each.tag === tag);
    return `<h2>${tag}</h2>${operations.map(operationHtml).join('')}`;
  });
  const links = OPERATIONS.map(
    ({ id, method, path, summary }) =>
      `<li><a href="#${id}">${method.toUpperCase()} <code>${path}</code></a><br><span class="soft">${withCode(summary)}</span></li>`,
  );
  const words = STATUS_CATALOGUE.map(({ word, http, elsewhere, meaning, remedy }) => [
    `<code id="status-${word}">${word}</code>`,
    http.join(', '),
    elsewhere,
    withCode(meaning),
    withCode(remedy),
  ]);
  const errors = Object.entries(REASONS).map(([status, reason]) => [status, withCode(reason)]);
  const html = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>Hexcodes API</title><style>${STYLE}</style></head><body>
<header><h1>Hexcodes API <span class="soft">${VERSION}</span></h1>
<p>GPS positions in Viet Nam to short codes, and back. Every call needs a key, in the header <code>X-API-Key</code>. For programs:
<a href="/openapi.json">openapi.json</a> (OpenAPI 3.1), and for the stream <a href="/asyncapi.json">asyncapi.json</a> (AsyncAPI 3).</p>
<p><a href="/" id="back">← The map, where single codes need no key</a></p>
<form id="with-key" hidden><label>Your key, kept in this page only; the examples below take it <input id="key" type="password" autocomplete="off" spellcheck="false"></label></form>
${FRAME_HTML}</header>
<nav aria-label="Operations"><ul>${links.join('')}<li><a href="#stream">WebSocket <code>/v1/hexcodes/stream</code></a><br><span class="soft">The stream</span></li><li><a href="#errors">Errors</a><br><span class="soft">Each status, and what to do</span></li><li><a href="#documents">Documents</a><br><span class="soft">The contract, the operator's pages, the library, the formats</span></li></ul></nav>
<main data-frame>${sections.join('')}
${streamHtml()}
<h2 id="errors">Errors</h2><p>Every error has a <code>status</code> for programs, a <code>message</code> for people, and a <code>request_id</code> that stands in the log.</p>
${table('Status words', ['status', 'HTTP', 'elsewhere', 'what it means', 'what to do'], words)}${table('What an error means, and what to do', ['HTTP', 'what to do'], errors)}
<h2 id="documents">Documents</h2><ul>${documentLinks(documents)}</ul>
<h2>Bodies</h2>${Object.entries(BODIES).map(bodyHtml).join('')}</main>
<footer><p class="soft">Boundaries: © OpenStreetMap contributors, ODbL 1.0. Names of towns: © GeoNames, CC BY 4.0.</p></footer>
<script>${SCRIPT}</script><script>${FRAME_SCRIPT}</script></body></html>`;
  const policy = [
    "default-src 'none'",
    `style-src '${hashOf(STYLE)}'`,
    `script-src '${hashOf(SCRIPT)}' '${hashOf(FRAME_SCRIPT)}'`,
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
  return { html, policy };
}

/** The section about the stream; docs/stream.md has every byte of it. */
function streamHtml(): string {
  const codes = CLOSE_CODES.map(([code, why]) => [String(code), withCode(why)]);
  return `<h2 id="stream">The stream</h2><p>A WebSocket at <code>/v1/hexcodes/stream</code> for senders that never stop. Offer the subprotocol
<code>hexcodes.v1.json</code> or <code>hexcodes.v1.binary</code>, wait for the message <code>ready</code>, and have no more frames
unanswered than its window allows. Every frame has one answer, in the order of the frames:
${withCode('docs/stream.md')}.</p>
<pre><code>{"seq":1,"op":"encode","points":[[21.0288,105.8525]]}</code></pre>${table('What the server closes with', ['code', 'why, and what to do'], codes)}`;
}

function operationHtml(operation: Operation): string {
  const { id, method, path, summary, description, parameters, body, answers, errors, isKept } = operation;
  const rows = parameters.map(({ name, in: location, required, description: text, schema }) => [
    `<code>${name}</code>`,
    `${location}${required ? ', required' : ''}`,
    `${withCode(text)} <span class="soft">${escapeHtml(rangeOf(schema))}</span>`,
  ]);
  const bodyTypes = Object.entries(body?.types ?? {}).map(([type, name]) => [
    `<code>${type}</code>`,
    name === 'text' ? withCode('see docs/bulk.md') : linkTo(name),
  ]);
  const answerText = answers.map((name) => (name.includes('/') ? `<code>${name}</code>` : linkTo(name)));
  const statuses = [...COMMON_ERRORS, ...errors].sort((a, b) => a - b);
  const calls = callsOf(operation).map(
    ({ language, code }) =>
      `<details><summary>${language}</summary><pre><code>${escapeHtml(code)}</code></pre></details>`,
  );
  return `<section aria-labelledby="${id}"><h3 id="${id}"><span class="method">${method.toUpperCase()}</span> <code>${path}</code></h3>
<p>${withCode(summary)}.${description === undefined ? '' : ` ${withCode(description)}`}</p>
${table(`Parameters of ${id}`, ['name', 'where', 'what'], rows)}${table(`Body of ${id}`, ['media type', 'schema'], bodyTypes)}
<p>200: ${answerText.join(', ')}. <span class="soft">${isKept ? '304 for who has it (<code>ETag</code>). ' : ''}<a href="#errors">Errors</a>: ${statuses.join(', ')}.</span></p>
${calls.join('')}${answersHtml(operation)}${formHtml(operation)}</section>`;
}

/** Operations whose answer is recorded with few of its features and positions. */
const SHORTENED: readonly string[] = ['grid', 'adminUnit'];

/** Answers to the example, as the service gave them. */
function answersHtml({ id }: Operation): string {
  const answers = Object.entries(RECORDED_ANSWERS[id] ?? {}).map(([type, answer]) => {
    const text = typeof answer === 'string' ? answer : JSON.stringify(answer, null, 1);
    const note = SHORTENED.includes(id) ? ', shortened' : '';
    return `<details><summary>An answer, ${type}${note}</summary><pre><code>${escapeHtml(text)}</code></pre></details>`;
  });
  return answers.join('');
}

function formHtml(operation: Operation): string {
  const { id, method, path, parameters, body } = operation;
  const type = body === undefined ? '' : (Object.keys(body.types)[0] as string);
  const fields = parameters.map((parameter) => fieldHtml(id, parameter, body !== undefined));
  const text = exampleRequests(operation)[0]?.body?.trimEnd() ?? '';
  const bodyField =
    body === undefined
      ? ''
      : `<label>Body, ${type} <textarea name="body" data-in="body" rows="3" spellcheck="false">${escapeHtml(text)}</textarea></label>`;
  return `<details class="try"><summary>Try ${id}</summary><form hidden data-path="${path}" data-method="${method.toUpperCase()}" data-type="${type}">${fields.join('')}${bodyField}<button type="submit">Send</button><output aria-live="polite"></output></form></details>`;
}

function fieldHtml(id: string, { name, in: location, example }: Parameter, hasBody: boolean): string {
  const value = example === undefined || (hasBody && location === 'query') ? '' : escapeHtml(String(example));
  return `<label>${name} <input name="${name}" data-in="${location}" id="${id}-${name}" value="${value}" autocomplete="off" spellcheck="false"></label>`;
}

const linkTo = (name: string): string => `<a href="#schema-${name}">${name}</a>`;

/** The bounds of a parameter in a few words. */
function rangeOf(schema: object): string {
  const { minimum, maximum, default: standard, enum: values } = schema as Record<string, unknown>;
  return [
    minimum === undefined ? '' : `${minimum} to ${maximum}`,
    Array.isArray(values) ? values.join(', ') : '',
    standard === undefined ? '' : `default ${standard}`,
  ]
    .filter((part) => part !== '')
    .join('; ');
}

function bodyHtml([name, schema]: [string, object]): string {
  const text = JSON.stringify(schema, null, 1).replace(
    /\{\s*"\$ref": "#\/components\/schemas\/(\w+)"\s*\}/g,
    '$1',
  );
  return `<details id="schema-${name}"><summary>${name}</summary><pre><code>${escapeHtml(text)}</code></pre></details>`;
}
