// The envelope of a batch: how many members it may have, and that a body with more is given up there.
import { expect, test } from 'vitest';
import { JsonEnvelope, MAX_MEMBERS } from '#dist/hexcodes/wire/rows/envelope.js';

const bodyOf = (names: string[], rest = ''): Buffer =>
  Buffer.from(`{${names.map((name) => `"${name}":0`).join(',')}${rest}}`);

test('as many members as are allowed are read, of one name or of many', () => {
  const names = Array.from({ length: MAX_MEMBERS }, (_, i) => `m${i}`);
  expect(new JsonEnvelope(bodyOf(names)).members('m63')).toHaveLength(1);
  const same = new JsonEnvelope(bodyOf(names.map(() => 'same')));
  expect(same.members('same')).toHaveLength(MAX_MEMBERS);
  expect(same.members('same').map(({ start }) => start)).toEqual(names.map((_, i) => 8 + 9 * i));
});

test.each(['', 'distinct'])('one more is refused, and nothing behind it is read (%s)', (kind) => {
  const names = Array.from({ length: MAX_MEMBERS + 1 }, (_, i) => (kind === '' ? '' : `m${i}`));
  const message = `has more than ${MAX_MEMBERS} members`;
  expect(() => new JsonEnvelope(bodyOf(names))).toThrow(message);
  // The rest is no JSON, which would be the error if it were read.
  expect(() => new JsonEnvelope(bodyOf(names, ', no JSON at all'))).toThrow(message);
});
