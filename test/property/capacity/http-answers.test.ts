// HTTP answers are the same however their bytes are cut.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { HttpAnswers } from '#dist/capacity/peers/http-peer.js';

interface Answer {
  readonly status: number;
  readonly body: string;
  readonly isChunked: boolean;
}

const answer: fc.Arbitrary<Answer> = fc.record({
  status: fc.constantFrom(200, 200, 400, 503),
  body: fc.string({ maxLength: 40, unit: fc.constantFrom('a', '\r', '\n', '0', ':') }),
  isChunked: fc.boolean(),
});

function bytesOf({ status, body, isChunked }: Answer): string {
  const head = `HTTP/1.1 ${status} Word\r\nDate: now\r\n`;
  if (!isChunked) return `${head}content-length: ${body.length}\r\n\r\n${body}`;
  const chunks = (body.match(/[\s\S]{1,7}/g) ?? []).map(
    (part) => `${part.length.toString(16)}\r\n${part}\r\n`,
  );
  return `${head}Transfer-Encoding: chunked\r\n\r\n${chunks.join('')}0\r\n\r\n`;
}

test('any cut gives the same answers', () => {
  fc.assert(
    fc.property(fc.array(answer, { maxLength: 5 }), fc.array(fc.nat(300)), (answers, cuts) => {
      const read: [number, string | undefined][] = [];
      const reader = new HttpAnswers(
        () => true,
        (status, body) => read.push([status, body?.toString()]),
      );
      const bytes = Buffer.from(answers.map(bytesOf).join(''));
      const ends = [...new Set([...cuts, bytes.length])]
        .sort((a, b) => a - b)
        .filter((at) => at <= bytes.length);
      ends.reduce((from, to) => {
        reader.push(bytes.subarray(from, to));
        return to;
      }, 0);
      expect(read).toEqual(answers.map(({ status, body }) => [status, body]));
    }),
  );
});

test('bodies that nobody wants are not kept, but those of errors are', () => {
  const read: (string | null)[] = [];
  const reader = new HttpAnswers(
    () => false,
    (_, body) => read.push(body?.toString() ?? null),
  );
  for (const status of [200, 400])
    reader.push(Buffer.from(bytesOf({ status, body: 'abc', isChunked: false })));
  expect(read).toEqual([null, 'abc']);
});

test.each([
  'SSH-2.0\r\n\r\n',
  'HTTP/1.1 200 OK\r\n\r\n',
  'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
])('what is not an answer throws: %j', (text) => {
  const reader = new HttpAnswers(
    () => true,
    () => {},
  );
  expect(() => reader.push(Buffer.from(text))).toThrow();
});
