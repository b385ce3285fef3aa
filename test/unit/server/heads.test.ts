// The context of a trace in the head of a request.
import { describe, expect, test } from 'vitest';
import { readTraceparent, readTracestate } from '#dist/server/observe/request-log.js';

// W3C Trace Context, read as the standard says; the cases are those of its sections 3.2 and 3.3.
describe('the context of a trace', () => {
  const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
  const PARENT = '00f067aa0ba902b7';

  test.each([
    [`00-${TRACE}-${PARENT}-01`, true],
    [`00-${TRACE}-${PARENT}-00`, false],
    [`00-${TRACE}-${PARENT}-03`, true],
    [`cc-${TRACE}-${PARENT}-01`, true],
    [`cc-${TRACE}-${PARENT}-01-what-the-future-will-be-like`, true],
  ])('%s is read', (text, isSampled) => {
    expect(readTraceparent(text)).toEqual({ traceId: TRACE, parentId: PARENT, isSampled });
  });

  test.each([
    '',
    `00-${TRACE}-${PARENT}`,
    `00-${TRACE}-${PARENT}-1`,
    `00-${TRACE}-${PARENT}-01-`,
    `00-${TRACE}-${PARENT}-01-more`,
    `cc-${TRACE}-${PARENT}-01.what`,
    `ff-${TRACE}-${PARENT}-01`,
    `0-${TRACE}-${PARENT}-01`,
    `00-${TRACE.toUpperCase()}-${PARENT}-01`,
    `00-${'0'.repeat(32)}-${PARENT}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    `00-${TRACE.slice(1)}-${PARENT}-01`,
    `00-${TRACE}-${PARENT}-0g`,
    ` 00-${TRACE}-${PARENT}-01`,
    `00-${TRACE}-${PARENT}-01,00-${TRACE}-${PARENT}-01`,
  ])('%j counts as absent', (text) => {
    expect(readTraceparent(text)).toBeUndefined();
  });

  test.each([
    ['', ''],
    ['foo=1', 'foo=1'],
    ['foo=1,bar=2', 'foo=1,bar=2'],
    [' foo=1 ,\t bar=2,', 'foo=1,bar=2'],
    ['fw529a3039@dt=Ff AxoJM', 'fw529a3039@dt=Ff AxoJM'],
    ['foo@=1', ''],
    ['Foo=1', ''],
    ['foo =1', ''],
    ['foo=1,foo=2', ''],
    ['foo', ''],
    ['foo=bar=baz', ''],
    [`foo=${'x'.repeat(256)}`, `foo=${'x'.repeat(256)}`],
    [`foo=${'x'.repeat(257)}`, ''],
    [
      Array.from({ length: 32 }, (_, i) => `a${i}=1`).join(','),
      Array.from({ length: 32 }, (_, i) => `a${i}=1`).join(','),
    ],
    [Array.from({ length: 33 }, (_, i) => `a${i}=1`).join(','), ''],
    [`a=${'x'.repeat(250)},b=${'x'.repeat(250)},c=${'x'.repeat(10)}`, ''],
  ])('the tracestate %j is read as %j', (text, read) => {
    expect(readTracestate(text)).toBe(read);
  });
});
