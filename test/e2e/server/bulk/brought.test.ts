// Files as people have them, sent to /bulk: columns by name or number, tabs, and forms as browsers and curl send them.
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { csvBody, dueAnswer } from '../../../support/bulk-bodies.js';
import { openKernel } from '../../../support/open-world.js';
import { startServer, type TestServer } from '../../../support/server.js';

const TSV = 'text/tab-separated-values';
/** In the boundaries of the tests. */
const CODE = 'QNH-6GHP4-83RF9';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

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

test('decode of a chosen column', async () => {
  for (const column of ['m%C3%A3', '2', 'M%C3%A3'])
    expect((await post(`decode/bulk?column=${column}`, 'text/csv', `id,mã\n1,${CODE}\n`)).text).toMatch(
      /\n1,QNH-6GHP4-83RF9,21\.028\d+,105\.852\d+,13,OK\n/,
    );
});

test.each([
  ['lat=north', 'There is no column "north"; the header row has "Ngang", "Doc", "y"'],
  ['lat=4&lng=1', 'There is no column "4"; the header row has "Ngang", "Doc", "y"'],
  ['lat=0&lng=1', 'There is no column "0"; the header row has "Ngang", "Doc", "y"'],
  ['lat=Doc&lng=2', 'lat and lng are the same column: "Doc"'],
  ['lat=&lng=2', 'lat must be the name or number of a column'],
  ['lat=1&lat=2', 'lat is given more than once with different values'],
])('?%s is refused', async (query, message) => {
  expect(await post(`encode/bulk?${query}`, 'text/csv', COLUMNS)).toMatchObject({ status: 400, message });
});

test('bodies without columns refuse the choice of one', async () => {
  expect((await post('encode/bulk?lat=a', 'application/x-ndjson', '{}\n')).message).toBe(
    'lat names a column, which only text/csv and text/tab-separated-values have',
  );
});

test('names that no parameter has are in a hint, also of a batch', async () => {
  const hint = async (path: string, type = 'text/csv', body = COLUMNS): Promise<string | null> =>
    (await post(path, type, body)).headers.get('Hexcodes-Hint');
  expect(await hint('encode/bulk?lat=Doc&lng=1&res=9')).toBe('res is not a parameter; perhaps resolution');
  expect(await hint('encode/bulk?lat=Doc&lng=1&column=2&code=x')).toBe(
    'column is not a parameter, code is not a parameter',
  );
  expect(await hint('encode/bulk?lat=Doc&lng=1&apikey=')).toBeNull();
  expect(await hint('encode/batch?resolution=9', 'application/json', '{"points":[]}')).toBe(
    'resolution is not read from the query of a batch',
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
  expect((await post('encode/bulk?delimiter=comma', TSV, 'lat\tlng\n')).message).toBe(
    'delimiter must be tab, or absent, beside text/tab-separated-values',
  );
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
  expect(refused.message).toBe('lat names a column, which only text/csv and text/tab-separated-values have');
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
  [400, 'names no boundary', whole, 'multipart/form-data'],
  [400, 'has no line --c', whole, 'multipart/form-data; boundary=c'],
  [400, 'in its first 16384 bytes', 'x'.repeat(20_000), FORM],
  [400, 'ends without the line --b--: it was cut off or damaged', whole.slice(0, -8), FORM],
  [400, 'ends without the line --b--', whole.slice(0, 20), FORM],
  [400, 'goes on: it is damaged', whole.replace('--b--', '--bx'), FORM],
  [400, 'more than one part', whole.replace('--b--\r\n', whole), FORM],
  [400, 'bytes follow the end', whole + 'x'.repeat(20_000), FORM],
  [400, 'the part "resolution" is no file: parameters are read from the query', field + whole, FORM],
  [400, 'has no file', '--b--\r\n', FORM],
  [400, 'longer than 4096 bytes', whole.replace('x.csv', 'x'.repeat(5000)), FORM],
  [415, 'named by its Content-Type or extension', whole.replace('x.csv', 'x.xlsx'), FORM],
  [
    415,
    'without Content-Transfer-Encoding',
    whole.replace('\r\n\r\n', '\r\nContent-Transfer-Encoding: base64\r\n\r\n'),
    FORM,
  ],
])('%i: %s', async (status, message, body, type) => {
  const answer = await post('encode/bulk', type, body);
  expect(answer).toMatchObject({ status, message: expect.stringContaining(message) as string });
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
  expect(held).toMatchObject({
    status: 400,
    message: expect.stringContaining('cut off or damaged') as string,
  });
});
