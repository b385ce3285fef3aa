// Files as people have them, sent to /bulk: columns by name or number, tabs, forms as browsers and curl send them; and
// requests and bodies that are refused.

import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { csvBody, dueAnswer, MEDIA, RawBulkPeer, requestHead } from '../../../support/bulk-bodies.js';
import { openKernel, pointsOf } from '../../../support/open-world.js';
import { encodeFrame } from '../../../support/raw-stream.js';
import { parseAnswers, sendRaw } from '../../../support/server.js';
import { sharedServer } from '../../../support/shared.js';

const server = sharedServer();

describe('brought', () => {
  const TSV = 'text/tab-separated-values';

  /** In the boundaries of the tests. */
  const CODE = 'QNH-6GHP4-83RF9';

  async function post(
    path: string,
    type: string,
    body: BodyInit | Uint8Array,
    more: object = {},
  ): Promise<Answer> {
    const headers = { 'X-API-Key': server.key, ...(type === '' ? {} : { 'Content-Type': type }), ...more };
    const answer = await fetch(`${server.base}/v1/hexcodes/${path}`, {
      ...{ method: 'POST', headers, body: body as BodyInit },
    });
    const text = await answer.text();
    const message = answer.ok ? '' : (JSON.parse(text) as { message: string }).message;
    return { status: answer.status, headers: answer.headers, text, message };
  }

  interface Answer {
    readonly status: number;
    readonly headers: Headers;
    readonly text: string;
    readonly message: string;
  }

  const COLUMNS = 'Ngang,Doc,y\n105.8525,21.0288,1\n';

  test.each([
    ['names', 'lat=Doc&lng=Ngang'],
    ['names in another case, with blanks', 'lat=%20doc&lng=ngang%20'],
    ['numbers', 'lat=2&lng=1'],
  ])('encode of columns chosen by %s', async (_, query) => {
    expect((await post(`encode/bulk?${query}`, 'text/csv', COLUMNS)).text).toBe(
      `Ngang,Doc,y,hexcodes,resolution,admin_code,status\n105.8525,21.0288,1,${CODE},13,QNH,OK\n`,
    );
  });

  test('one of two columns may be chosen, a name goes before a number, and before the usual names', async () => {
    const body = '2,lng,lat\n21.0288,105.8525,1\n';
    expect((await post('encode/bulk?lat=2', 'text/csv', body)).text).toContain(CODE);
  });

  test.each([',lat', 'lat,'])(
    'a header of 16,000 columns is answered with the first 20 of them (%s)',
    async (names) => {
      const { status, message } = await post('encode/bulk', 'text/csv', `${names.repeat(16_000)}\n`);
      expect([status, message]).toEqual([400, expect.stringMatching(/(, "(lat)?"){19} and \d+ more$/)]);
    },
  );

  test('decode of a chosen column', async () => {
    for (const column of ['m%C3%A3', '2', 'M%C3%A3'])
      expect((await post(`decode/bulk?column=${column}`, 'text/csv', `id,mã\n1,${CODE}\n`)).text).toMatch(
        /\n1,QNH-6GHP4-83RF9,21\.028\d+,105\.852\d+,13,OK\n/,
      );
  });

  test('tabs: by their type, to and from the other formats', async () => {
    const body = 'hexcodes\tnote, long\nx\ta\n'.replace('\nx', `\n${CODE}`);
    const tabs = await post('decode/bulk', TSV, body);
    expect(tabs.text).toMatch(
      /^hexcodes\tnote, long\tlat\tlng\tresolution\tstatus\nQNH-6GHP4-83RF9\ta\t21\.02\d+\t105\.85\d+\t13\tOK\n$/,
    );
    expect(tabs.headers.get('content-type')).toBe(`${TSV}; charset=utf-8`);
    const point = '{"lat":21.0288,"lng":105.8525,"id":1}\n';
    const made = await post('encode/bulk', 'application/x-ndjson', point, { Accept: TSV });
    expect(made.text).toContain(`\n1\t21.0288\t105.8525\t${CODE}\t13\tQNH\tOK\n`);
    expect(made.headers.get('content-type')).toBe(`${TSV}; charset=utf-8`);
    expect((await post('decode/bulk', TSV, body, { Accept: 'application/x-ndjson' })).text).toContain(
      '"lat":21.02',
    );
  });

  test('tabs and commas are not made of each other', async () => {
    expect((await post('encode/bulk', TSV, 'lat\tlng\n', { Accept: 'text/csv' })).status).toBe(406);
    expect((await post('encode/bulk', 'text/csv', 'lat,lng\n', { Accept: TSV })).status).toBe(406);
    expect((await post('encode/bulk?delimiter=comma', TSV, 'lat\tlng\n')).status).toBe(400);
  });

  const POINT = 'lat,lng\n21.0288,105.8525\n';

  const ANSWER = `lat,lng,hexcodes,resolution,admin_code,status\n21.0288,105.8525,${CODE},13,QNH,OK\n`;

  const formOf = (body: string | Uint8Array, name: string, type = ''): FormData => {
    const form = new FormData();
    form.append('file', new File([body as BlobPart], name, { type }));
    return form;
  };

  test.each([
    ['its type', 'x', 'text/csv'],
    ['its extension, as curl sends it', 'x.csv', 'application/octet-stream'],
    ['its extension, as a browser beside Excel sends it', 'x.CSV', 'application/vnd.ms-excel'],
  ])('the format of a file in a form is that of %s', async (_, name, type) => {
    const answer = await post('encode/bulk', '', formOf(POINT, name, type));
    expect(answer.text).toBe(ANSWER);
    expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8');
  });

  test('other formats in a form', async () => {
    const tabs = POINT.replaceAll(',', '\t');
    expect((await post('encode/bulk', '', formOf(tabs, 'x.tsv'))).text).toBe(ANSWER.replaceAll(',', '\t'));
    const line = '{"lat":21.0288,"lng":105.8525}\n';
    expect((await post('encode/bulk', '', formOf(line, 'x.jsonl'))).text).toContain(`{"hexcodes":"${CODE}"`);
    const refused = await post('encode/bulk?lat=1', '', formOf(line, 'x.jsonl'));
    expect(refused.status).toBe(400);
  });

  test.each([{}, { 'Hexcodes-Answer': 'after-body' }])(
    'a large file in a form is answered as the same file alone, %j',
    async (headers) => {
      const body = csvBody(1, 40_000, '\r\n');
      const due = dueAnswer(openKernel(), 'encode', 'csv', body).toString();
      expect((await post('encode/bulk', '', formOf(body, 'x.csv'), headers)).text).toBe(due);
    },
  );

  const whole = `--b\r\nContent-Disposition: form-data; name="file"; filename="x.csv"\r\n\r\n${POINT}\r\n--b--\r\n`;

  const FORM = 'multipart/form-data; boundary=b';

  test('a form inside gzip', async () => {
    const answer = await post('encode/bulk', FORM, gzipSync(whole), { 'Content-Encoding': 'gzip' });
    expect(answer.text).toBe(ANSWER);
  });

  const field = '--b\r\nContent-Disposition: form-data; name="resolution"\r\n\r\n9\r\n';

  test.each([
    [400, whole, 'multipart/form-data'],
    [400, whole, 'multipart/form-data; boundary=c'],
    [400, whole.slice(0, -8), FORM],
    [400, whole.slice(0, 20), FORM],
    [400, whole.replace('--b--', '--bx'), FORM],
    [400, whole.replace('--b--\r\n', whole), FORM],
    [400, whole + 'x'.repeat(20_000), FORM],
    [400, field + whole, FORM],
    [400, '--b--\r\n', FORM],
    [400, whole.replace('x.csv', 'x'.repeat(5000)), FORM],
    [415, whole.replace('x.csv', 'x.xlsx'), FORM],
    [415, whole.replace('\r\n\r\n', '\r\nContent-Transfer-Encoding: base64\r\n\r\n'), FORM],
    ...[
      ...['=', '="b "', `=${'b'.repeat(71)}`, '="b\u00e4"'].map((text) => [400, text] as const),
      ...['="a b:c"', '=----WebKitFormBoundaryAb1', `=${'b'.repeat(70)}; x=y`].map(
        (text) => [200, text] as const,
      ),
    ].map(([status, text]): [number, string, string] => [
      status,
      whole.replaceAll('--b', `--${/^="?([^";]*)/.exec(text)![1]}`),
      `multipart/form-data; charset=utf-8; Boundary${text}`,
    ]),
  ])('%i: %j', async (status, body, type) => {
    expect((await post('encode/bulk', type, body)).status).toBe(status);
  });

  test('a part without a head is read, and is no file', async () => {
    const { status, message } = await post('encode/bulk', FORM, `--b\r\n\r\n${POINT}\r\n--b--`);
    expect([status, message]).toEqual([400, expect.stringContaining('is not a file')]);
  });

  /** Sends a form whose body comes in pieces that are cut anywhere. */
  async function postCut(body: string, cuts: readonly number[]) {
    const bounds = [...cuts.map((cut) => cut % (body.length + 1)).sort((a, b) => a - b), body.length];
    const pieces = bounds
      .map((end, i) => body.slice(bounds[i - 1] ?? 0, end))
      .filter((piece) => piece !== '');
    const head =
      `POST /v1/hexcodes/encode/bulk HTTP/1.1\r\nHost: a\r\nX-API-Key: ${server.key}\r\n` +
      'Content-Type: multipart/form-data; boundary=boundary\r\nHexcodes-Answer: after-body\r\n' +
      'Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n';
    const chunks = pieces.map((piece) => `${piece.length.toString(16)}\r\n${piece}\r\n`);
    return parseAnswers(await sendRaw(server.port, `${head}${chunks.join('')}0\r\n\r\n`))[0]!;
  }

  test('a file that is full of what looks like a boundary, cut anywhere, is answered as the file alone', async () => {
    const looks = fc
      .array(fc.constantFrom('\r\n', '\r', '\n', '-', '--', '\r\n-', '\r\n--', '\r\n--b', 'bou', 'a,b\n'), {
        maxLength: 30,
      })
      .map((pieces) => pieces.join(''));
    const heads = [
      'Content-Type: text/csv\r\nContent-Disposition: form-data; name=f; filename="a\\"b"',
      'Content-Disposition: form-data; name=f; filename="a\\"b.csv"',
    ];
    await fc.assert(
      fc.asyncProperty(
        fc.tuple(looks, looks),
        fc.array(fc.nat(), { maxLength: 20 }),
        fc.constantFrom('', 'preamble\r\n'),
        fc.constantFrom(...heads),
        async ([inside, behind], cuts, preamble, head) => {
          const file = `lat,lng,x\n21.0288,105.8525,"${inside}"\n${behind}`;
          const due = await post('encode/bulk', 'text/csv', file);
          const body = `${preamble}--boundary \r\n${head}\r\n\r\n${file}\r\n--boundary--\r\nepilogue`;
          const answer = await postCut(body, cuts);
          expect([answer.status, due.status]).toEqual([200, 200]);
          expect(answer.body).toBe(due.text);
        },
      ),
      { numRuns: 200 },
    );
  });

  test('a form that is cut off anywhere before its end is refused', async () => {
    const body = `--boundary\r\nContent-Type: text/csv\r\n\r\n${POINT}\r\n--boundary--`;
    expect((await postCut(body, [])).body).toBe(ANSWER);
    for (let size = 0; size < body.length; size++)
      expect([size, (await postCut(body.slice(0, size), [])).status]).toEqual([size, 400]);
  });

  test.each(['x\n', 'x\r\n', 'xy\n', ' x\r\n', '-\r\n'])(
    'a boundary that goes on by %j is refused',
    async (rest) => {
      const body = `--boundary${rest}Content-Type: text/csv\r\n\r\n${POINT}\r\n--boundary--`;
      for (const cuts of [[], [11], [12]]) {
        const { status, body: text } = await postCut(body, cuts);
        expect([status, text]).toEqual([400, expect.stringContaining('goes on: it is damaged')]);
      }
    },
  );

  test('a form whose first part does not begin is refused before the rest of it comes', async () => {
    const head = `POST /v1/hexcodes/encode/bulk HTTP/1.1\r\nHost: a\r\nX-API-Key: ${server.key}\r\nContent-Type: ${FORM}\r\nContent-Length: 100000000\r\n\r\n`;
    expect(await sendRaw(server.port, [head, 'x'.repeat(20_000)])).toMatch(/^HTTP\/1\.1 400 /);
  });

  test('a large file whose form is cut off never looks whole', async () => {
    const start = whole.slice(0, whole.indexOf(POINT));
    const body = Buffer.concat([Buffer.from(start), csvBody(1, 40_000)]);
    // 400 where nothing is sent yet when the end comes.
    const outcome = await post('encode/bulk', FORM, body).then(
      ({ status }) => status,
      () => 'cut off',
    );
    expect([400, 'cut off']).toContain(outcome);
    const held = await post('encode/bulk', FORM, body, { 'Hexcodes-Answer': 'after-body' });
    expect(held.status).toBe(400);
  });
});

describe('refusals', () => {
  const ENCODE = '/v1/hexcodes/encode/bulk';

  function post(
    path: string,
    headers: Record<string, string>,
    body: string | Uint8Array = '',
  ): Promise<Response> {
    const init = { method: 'POST', headers: { 'X-API-Key': server.key, ...headers }, body };
    return fetch(server.base + path, init as RequestInit);
  }

  test.each([
    [415, ENCODE, { 'Content-Type': 'application/json' }],
    [415, ENCODE, { 'Content-Type': 'text/csv; charset=latin1' }],
    [415, ENCODE, { 'Content-Type': 'text/csv', 'Content-Encoding': 'br' }],
    [406, ENCODE, { 'Content-Type': 'text/csv', Accept: 'application/json, text/csv;q=0' }],
    [400, `${ENCODE}?resolution=16`, { 'Content-Type': 'text/csv' }],
    [400, `${ENCODE}?resolution=1&resolution=2`, { 'Content-Type': 'text/csv' }],
    [400, `${ENCODE}?prefix=a%20b`, { 'Content-Type': 'text/csv' }],
    [400, ENCODE, { 'Content-Type': 'text/csv' }],
    [401, ENCODE, { 'Content-Type': 'text/csv', 'X-API-Key': 'nobody' }],
  ])('%i for %s %j', async (status, path, headers) => {
    const answer = await post(path, headers, 'p,q\n1,2\n');
    expect(answer.status).toBe(status);
    expect(Object.keys((await answer.json()) as object).slice(0, 3)).toEqual([
      'status',
      'message',
      'request_id',
    ]);
  });

  test('405 has an Allow header', async () => {
    const answer = await fetch(`${server.base}${ENCODE}?apikey=${server.key}`);
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST, OPTIONS']);
  });

  test.each([
    ['*/*', MEDIA.frames],
    ['text/*', MEDIA.csv],
    ['application/*;q=0.5, text/csv;q=0.4', MEDIA.frames],
    ['application/x-ndjson, */*;q=0.1', MEDIA.ndjson],
    [`${MEDIA.frames};q=.2, text/csv;q = 0.5`, MEDIA.csv],
  ])('frames with Accept %s are answered in %s', async (accept, type) => {
    const answer = await post(
      ENCODE,
      { 'Content-Type': MEDIA.frames, Accept: accept },
      encodeFrame(1, pointsOf(1, 2)),
    );
    expect(answer.headers.get('content-type')).toContain(type);
  });

  test('a CSV column with the name of an added one is 400, unless a prefix renames the added ones', async () => {
    const body = 'lat,lng,status\n21,105,seen\n';
    expect((await post(ENCODE, { 'Content-Type': MEDIA.csv }, body)).status).toBe(400);
    const renamed = await post(`${ENCODE}?prefix=hx_`, { 'Content-Type': MEDIA.csv }, body);
    expect((await renamed.text()).split('\n')[0]).toBe(
      'lat,lng,status,hx_hexcodes,hx_resolution,hx_admin_code,hx_status',
    );
  });

  test.each([
    ['bytes of Windows-1258', Buffer.from('name,lat,lng\nTr\xe2n,21,105\n', 'latin1')],
    ['a NUL', Buffer.from('lat,lng\n21,105\0\n')],
    ['short rows under a wide header', Buffer.from(`${'c,'.repeat(8000)}lat,lng\n${'1\n'.repeat(8000)}`)],
    ['the same, in the pool', Buffer.from(`${'c,'.repeat(8000)}lat,lng\n${'1\n'.repeat(100_000)}`)],
  ])('400 for CSV with %s', async (_, body) => {
    const answer = await post(ENCODE, { 'Content-Type': MEDIA.csv }, body);
    expect(answer.status).toBe(400);
  });

  test('rows of another length than the header, or with quotes of two rows, have as many fields', async () => {
    const body =
      'id,note,lat,lng\n1,a,21.03,105.85\n2,short,21.0\n3,long,21.03,105.85,extra\n4,"12\\"",21,105\n5,"x",21,105\n6,"open,21,105\n';
    const answer = await post(ENCODE, { 'Content-Type': MEDIA.csv }, body);
    const rows = parse(await answer.text(), { columns: true, relax_quotes: true }) as Record<
      string,
      string
    >[];
    expect(rows.map(({ id, status, note, lng }) => [id, status, note, lng])).toEqual([
      ['1', 'OK', 'a', '105.85'],
      ['2', 'INVALID_REQUEST', 'short', ''],
      ['3', 'INVALID_REQUEST', 'long', '105.85'],
      ['4', 'INVALID_REQUEST', expect.stringContaining('12'), '105'],
      ['6', 'INVALID_REQUEST', 'open,21,105\n', ''],
    ]);
  });

  test('gzip that is invalid, incomplete, or of an absurd ratio is 400', async () => {
    const headers = { 'Content-Type': MEDIA.ndjson, 'Content-Encoding': 'gzip' };
    expect((await post(ENCODE, headers, 'plain')).status).toBe(400);
    expect((await post(ENCODE, headers, gzipSync('').subarray(0, 12))).status).toBe(400);
    // Blank lines have no answers: 64 MiB of them exceed the ratio before anything is answered.
    const bomb = await post(ENCODE, headers, gzipSync(Buffer.alloc(64 * 2 ** 20, '\n')));
    expect(bomb.status).toBe(400);
    // The first MiB may have any ratio.
    expect((await post(ENCODE, headers, gzipSync(Buffer.alloc(2 ** 20 - 1, '\n')))).status).toBe(200);
  });

  test('bytes after the gzip data are not dropped in silence; further gzip members are read', async () => {
    const headers = { 'Content-Type': MEDIA.ndjson, 'Content-Encoding': 'gzip' };
    const member = gzipSync('{"lat":21.0288,"lng":105.8525}\n');
    const two = await post(ENCODE, headers, Buffer.concat([member, member]));
    expect([two.status, (await two.text()).trim().split('\n').length]).toEqual([200, 2]);
    for (const behind of [
      Buffer.concat([Buffer.from([0]), member]),
      Buffer.from([0, 1]),
      Buffer.from('{"lat":1}\n'),
    ]) {
      // The answer to the rows before may have begun; then it is cut off.
      const outcome = await post(ENCODE, headers, Buffer.concat([member, behind])).then(
        async (answer) => (answer.status === 200 ? await answer.text().catch(() => 'cut') : answer.status),
        () => 'cut',
      );
      expect([400, 'cut']).toContain(outcome);
    }
  });

  test('an error after the first answers closes the connection without the last chunk', async () => {
    const good = csvBody(9, 5000);
    const bad = Buffer.concat([Buffer.from('1,2,"'), Buffer.alloc(300_000, 'x')]);
    const peer = await RawBulkPeer.connect(server.port);
    const request = { path: ENCODE, key: server.key, format: 'csv' } as const;
    await peer.send(requestHead(request, good.length + bad.length));
    await peer.send(good);
    while (peer.sizeBytes === 0) await sleep(2);
    await peer.send(bad);
    await peer.done;
    expect([peer.status, peer.isWhole]).toEqual([200, false]);
    expect(server.log()).toContain('A row is longer than');
  });
});
