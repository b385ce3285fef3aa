// The warning about a system that lets one peer keep the transport reading.
import { expect, test } from 'vitest';
import { receiveBufferWarning } from '#dist/server/transport/system-limits.js';

test('the usual setting of Linux is warned of, with the value to set', () => {
  const warning = receiveBufferWarning(() => '4096\t131072\t6291456\n');
  expect(warning).toContain('6291456 bytes');
  expect(warning).toContain('"4096 131072 400000"');
});

test('exactly the buffer can still be filled', () => {
  expect(receiveBufferWarning(() => '4096 131072 524288')).toBeDefined();
  expect(receiveBufferWarning(() => '4096 131072 524287')).toBeUndefined();
});

test('nothing is said where it is set, and where there is no such setting', () => {
  expect(receiveBufferWarning(() => '4096\t131072\t400000\n')).toBeUndefined();
  expect(receiveBufferWarning(() => 'odd')).toBeUndefined();
  expect(
    receiveBufferWarning(() => {
      throw new Error('ENOENT');
    }),
  ).toBeUndefined();
});
