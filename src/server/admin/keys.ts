// /admin/v1/keys…: creates and changes keys over the admin port, for callers with a key of scope admin. The calls are
// answered in the keys' thread (keys/manage/key-changes.ts).

import { timingSafeEqual } from 'node:crypto';
import { keyInCredentials } from '../../config/mask.js';
import { canonicalAddress, Networks } from '../../config/networks.js';
import { isDeeper, repeatedMember } from '../../hexcodes/wire/params/json-grammar.js';
import type { ParameterFault } from '../../hexcodes/wire/params/parameters.js';
import { DIFFERS } from '../../hexcodes/wire/params/query.js';
import { codeOf } from '../http/answers.js';
import { clientAddress } from '../http/exchange.js';
import { boundFault } from '../keys/key-record.js';
import type { KeyRing } from '../keys/key-ring.js';
import type { ServerKeys } from '../keys/keys.js';
import type { KeyAnswer, KeyCall } from '../keys/manage/key-changes.js';
import type { Logger } from '../observe/log.js';
import type { AdminAnswer, AdminRequest, AdminRoute } from './port.js';

/** Header with the supervisor's token, by which a process knows its calls. */
export const SUPERVISOR_HEADER = 'x-hexcodes-supervisor';

/** @param token of the supervisor, the only caller that may name a client; undefined: there is no supervisor */
export function keyRoutesOf(
  keys: ServerKeys,
  trustedProxies: readonly string[],
  logger: Logger,
  token?: string,
): AdminRoute[] {
  const trusted = trustedProxies.length === 0 ? undefined : new Networks(trustedProxies);
  /** In canonical form; '' if it is not known. */
  const clientOf = (request: AdminRequest): string => {
    const peer = canonicalAddress(request.peerAddress) ?? '';
    const forwarded = request.header('x-forwarded-for') ?? '';
    if (token === undefined) return clientAddress(peer, forwarded, trusted, true);
    if (!isSame(request.header(SUPERVISOR_HEADER) ?? '', token)) return peer;
    return canonicalAddress(forwarded) ?? '';
  };
  const repeated = new RepeatedCalls();
  const route = (
    method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
    path: string,
    callOf: (id: string, body: unknown) => KeyCall,
  ): AdminRoute => ({
    method,
    path: PATH + path,
    handle: async (request) => {
      const by = callerOf(request, keys.ring, clientOf);
      if (typeof by !== 'string') return by;
      const body = method === 'GET' ? { json: undefined } : await readJson(request);
      if ('type' in body) return body;
      const asked = callOf(request.parameters.id as string, body.json);
      const run = async (): Promise<AdminAnswer> => {
        const answer = await keys.call(asked);
        if (answer.kind !== 'done') return failureOf(answer);
        if (!('id' in answer.value)) return pageOf(answer.value, request.query);
        if (method !== 'GET')
          logger.info({ key_id: by, op: asked.op, changed_key_id: answer.value.id }, 'a key was changed');
        return json(asked.op === 'create' ? 201 : 200, { status: 'OK', ...answer.value });
      };
      const once = request.header('idempotency-key');
      // Calls whose answer has the secret of a key: a repetition would make another secret and invalidate the first.
      if (once === undefined || (asked.op !== 'create' && asked.op !== 'rotate')) return run();
      if (once === '') return failure(400, 'INVALID_REQUEST', 'the header Idempotency-Key is empty');
      return repeated.answer(`${by} ${once}`, JSON.stringify([request.path, body.json]), run);
    },
  });
  return [
    route('GET', '', () => ({ op: 'list' })),
    route('POST', '', (_, settings) => ({ op: 'create', settings: settings ?? {} })),
    route('GET', '/:id', (id) => ({ op: 'show', id })),
    route('PATCH', '/:id', (id, settings) => ({ op: 'set', id, settings: settings ?? {} })),
    route('POST', '/:id/rotate', (id, body) => ({ op: 'rotate', id, body: body ?? {} })),
    route('DELETE', '/:id', (id) => ({ op: 'state', id, state: 'revoked' })),
    ...(['enable', 'disable', 'revoke'] as const).map((verb) =>
      route('POST', `/:id/${verb}`, (id) => ({ op: 'state', id, state: STATES[verb] })),
    ),
  ];
}

function isSame(given: string, token: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(token)];
  return a.length === b.length && timingSafeEqual(a, b);
}

const PATH = '/admin/v1/keys';
const MAX_BODY_BYTES = 16 * 1024;
/** Settings of a key have two levels. */
const MAX_LEVELS = 64;

const KEY_WANTED =
  'an API key of scope admin is needed, as header X-API-Key or Authorization: Bearer; the one given, if any, is not valid';

/** Statuses and words of the endpoints under /v1. */
const FAILURES: Readonly<Record<Exclude<KeyAnswer['kind'], 'done'>, readonly [number, string]>> = {
  unknown: [404, 'NOT_FOUND'],
  revoked: [409, 'CONFLICT'],
  conflict: [409, 'CONFLICT'],
  invalid: [400, 'INVALID_REQUEST'],
  unavailable: [503, 'UNAVAILABLE'],
};

const STATES = { enable: 'active', disable: 'disabled', revoke: 'revoked' } as const;

const MAX_PAGE = 1000;

/** The keys after `after`, at most `limit` of them; all without either. */
function pageOf(keys: readonly { readonly id: string }[], query: URLSearchParams): AdminAnswer {
  const after = query.get('after');
  const limit = query.get('limit');
  const details: object[] = [];
  for (const parameter of ['after', 'limit'])
    if (new Set(query.getAll(parameter)).size > 1) details.push({ parameter, message: DIFFERS });
  const begin = after === null ? 0 : keys.findIndex(({ id }) => id === after) + 1;
  if (after !== null && begin === 0) details.push({ parameter: 'after', message: 'is not an id of a key' });
  const count = limit === null ? keys.length : Number(limit);
  if (limit !== null && !(/^\d{1,4}$/.test(limit) && count >= 1 && count <= MAX_PAGE))
    details.push({ parameter: 'limit', message: `must be an integer from 1 to ${MAX_PAGE}` });
  if (details.length > 0) return failure(400, 'INVALID_REQUEST', 'the page cannot be read', details);
  const page = keys.slice(begin, begin + count);
  const next = begin + count < keys.length ? { next: page.at(-1)?.id } : {};
  return json(200, { status: 'OK', keys: page, ...next });
}

/** How long an answer is kept for a client that did not receive it; it holds the secret of a key. */
const REPEATABLE_MS = 600_000;
const MAX_REPEATABLE = 1000;

/** Calls with an Idempotency-Key: a repetition with the same body gets the first answer. */
class RepeatedCalls {
  readonly #calls = new Map<string, { body: string; answer: Promise<AdminAnswer>; endsMs: number }>();

  async answer(name: string, body: string, run: () => Promise<AdminAnswer>): Promise<AdminAnswer> {
    const nowMs = performance.now();
    for (const [each, { endsMs }] of this.#calls) {
      if (endsMs > nowMs && this.#calls.size < MAX_REPEATABLE) break;
      this.#calls.delete(each);
    }
    const known = this.#calls.get(name);
    if (known !== undefined)
      return known.body === body
        ? known.answer
        : failure(409, 'CONFLICT', 'another call had this Idempotency-Key in the last 10 minutes');
    const answer = run();
    this.#calls.set(name, { body, answer, endsMs: nowMs + REPEATABLE_MS });
    // A call that failed may be tried again.
    const { status } = await answer.catch(() => ({ status: 500 }));
    if (status >= 400) this.#calls.delete(name);
    return answer;
  }
}

/** The id of the caller's key, or the answer to a caller without permission. */
function callerOf(
  request: AdminRequest,
  ring: KeyRing,
  clientOf: (request: AdminRequest) => string,
): string | AdminAnswer {
  const bearer = keyInCredentials(request.header('authorization') ?? '');
  const given = request.header('x-api-key');
  if (bearer !== undefined && given !== undefined && bearer !== given)
    return failure(400, 'INVALID_REQUEST', 'two different keys are given');
  const verdict = ring.check(bearer ?? given ?? '');
  if (verdict.kind === 'denied') {
    return {
      ...failure(401, 'REQUEST_DENIED', KEY_WANTED),
      headers: { 'WWW-Authenticate': 'ApiKey realm="hexcodes", Bearer realm="hexcodes"' },
    };
  }
  if (verdict.kind === 'disabled') return failure(403, 'REQUEST_DENIED', 'this API key is disabled');
  const { key } = verdict;
  const fault = key.scopes.includes('admin')
    ? boundFault(key, request.header('origin') ?? '', clientOf(request))
    : 'this API key has no scope admin';
  return fault === undefined ? key.id : failure(403, 'REQUEST_DENIED', fault);
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** The body, undefined if it is empty; an answer if it is too long or not JSON. */
async function readJson(request: AdminRequest): Promise<{ json: unknown } | AdminAnswer> {
  const coding = request.header('content-encoding') ?? '';
  if (!['', 'identity'].includes(coding.trim().toLowerCase()))
    return failure(415, 'INVALID_REQUEST', 'the body must have no Content-Encoding');
  const body = await request.body(MAX_BODY_BYTES);
  if (body === undefined) return failure(413, 'INVALID_REQUEST', `the body exceeds ${MAX_BODY_BYTES} bytes`);
  if (body.length === 0) return { json: undefined };
  try {
    const text = utf8.decode(body);
    const value = { json: JSON.parse(text) as unknown };
    // Thousands of levels exhaust the stack on the way to the keys' thread.
    if (isDeeper(value.json, MAX_LEVELS))
      return failure(400, 'INVALID_REQUEST', `the body is nested in more than ${MAX_LEVELS} levels`);
    const parameter = repeatedMember(text);
    if (parameter === undefined) return value;
    const details = [{ parameter, message: DIFFERS }];
    return failure(400, 'INVALID_REQUEST', `${parameter} ${DIFFERS}`, details);
  } catch {
    // The message of the parser would quote the body.
    return failure(400, 'INVALID_REQUEST', 'the body is not JSON in UTF-8');
  }
}

function failureOf({ kind, message, faults }: Exclude<KeyAnswer, { kind: 'done' }>): AdminAnswer {
  const [status, word] = FAILURES[kind];
  const details = faults.map((fault) => ({ parameter: fault.setting, message: fault.message }));
  return failure(status, word, message, details);
}

function failure(
  status: number,
  word: string,
  message: string,
  details: readonly object[] = [],
): AdminAnswer {
  const faults = details as ParameterFault[];
  const code = status === 409 ? 'conflict' : codeOf(status, faults);
  const error = { code, message, param: faults[0]?.parameter ?? null };
  return json(status, { status: word, message, ...(details.length > 0 ? { details } : {}), error });
}

const json = (status: number, value: unknown): AdminAnswer => ({
  status,
  type: 'application/json',
  body: JSON.stringify(value),
});
