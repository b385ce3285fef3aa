// The envelope of a batch: how many members it may have, that a body with more is given up there, and that arrays end
// where they do without the kernel.
import { expect, test } from 'vitest';
import { JsonEnvelope, MAX_MEMBERS } from '#dist/hexcodes/wire/rows/envelope.js';
import { openKernel, randomFrom } from '../../../support/open-world.js';

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

const kernels = [openKernel(), openKernel('kernel.debug')];

/** The member `points`, or the fault of the body. */
const pointsIn = (body: Buffer, kernel?: (typeof kernels)[number]): unknown => {
  try {
    return new JsonEnvelope(body, kernel).members('points');
  } catch (error) {
    return String(error);
  }
};

test('brackets, quotes, commas and backslashes in any order: the kernel ends an array where the walk does', () => {
  const random = randomFrom(20261123);
  const upTo = (n: number): number => Math.floor(random() * n);
  // Runs of one kind, so that strings and arrays reach over the 64 bytes that the kernel looks at.
  const pieces = ['[', ']', '{', '}', '"', ',', '\\', '\\"', ' ', '"a"', '0.5', 'é', '[1,2],', '{"x":[]},'];
  const seen = { ended: 0, refused: 0 };
  for (let round = 0; round < 20_000; round++) {
    let text = '';
    for (let left = upTo(12); left >= 0; left--)
      text += pieces[upTo(pieces.length)]!.repeat(1 + upTo(round % 3 === 0 ? 70 : 3));
    const body = Buffer.from(`{"points":[${text}${round % 2 === 0 ? ']}' : ''}`);
    const wanted = pointsIn(body);
    seen[typeof wanted === 'string' ? 'refused' : 'ended']++;
    for (const kernel of kernels) expect(pointsIn(body, kernel), body.toString()).toEqual(wanted);
  }
  expect(Math.min(seen.ended, seen.refused)).toBeGreaterThan(500);
});

test('arrays larger than the kernel takes at once, with strings, escapes and brackets at its bounds', () => {
  const random = randomFrom(20261124);
  for (let round = 0; round < 12; round++) {
    const elements = Array.from({ length: 9000 }, () =>
      JSON.stringify({ a: '\\"[{,'.repeat(Math.floor(random() * 12)), b: [1, [2, '"'], {}] }),
    );
    const whole = Buffer.from(`{"points":[${elements.join(', ')}]}`);
    const body = round < 8 ? whole : whole.subarray(0, Math.floor(whole.length * random()));
    const wanted = pointsIn(body);
    if (round < 8) expect(wanted).toMatchObject([{ count: 9000, isArray: true }]);
    for (const kernel of kernels) expect(pointsIn(body, kernel)).toEqual(wanted);
  }
});
