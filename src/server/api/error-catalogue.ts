// The meaning of each status word, and its remedy, for the page /docs. docs/http.md and docs/stream.md say the same.

/** A word of the member `status`, in an answer, an item, a row or a frame of the stream. */
export interface StatusEntry {
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
      'The text is no hexcode: mistyped, cut off, or something else. 200 of a decode, 404 of `/v1/hexcodes/{code}`.',
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
