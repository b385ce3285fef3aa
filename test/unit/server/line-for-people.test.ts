// Log lines on a terminal.
import { expect, test } from 'vitest';
import { lineForPeople } from '#dist/server/line-for-people.js';

const line = (fields: object): string =>
  `${JSON.stringify({ level: 30, time: '2025-07-01T10:20:30.123Z', service: 'hexcodes', version: '1', ...fields })}\n`;

test.each([
  [
    'a request',
    { method: 'GET', route: '/v1/x', http_status: 200, duration_ms: 0.4, client: 'a', msg: 'answered' },
    '10:20:30  GET /v1/x 200 in 0.4 ms client="a"\n',
  ],
  ['a warning', { level: 40, msg: 'full', left: 3 }, '10:20:30  WARN  full left=3\n'],
  ['what a terminal would obey', { msg: 'a\u001b[2Jb' }, '10:20:30  a·[2Jb\n'],
])('%s', (_, fields, expected) => {
  expect(lineForPeople(line(fields))).toBe(expected);
});

test('what is no JSON stays', () => {
  expect(lineForPeople('x\n')).toBe('x\n');
});
