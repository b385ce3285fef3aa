// The keys in use of several processes as one list.
import { expect, test } from 'vitest';
import { mergeActivity } from '#dist/server/supervisor/admin.js';

test('counts of a key are added up; a process without an answer has none', () => {
  const pages = [
    '{"keys":[{"id":"a","requests":1,"points":10},{"id":"b","requests":2,"points":0}]}',
    '',
    'not ready\n',
    '{"keys":[{"id":"b","requests":3,"points":7},{"id":"c","requests":1,"points":1}]}',
  ];
  expect(mergeActivity(pages)).toEqual({
    keys: [
      { id: 'a', requests: 1, points: 10 },
      { id: 'b', requests: 5, points: 7 },
      { id: 'c', requests: 1, points: 1 },
    ],
  });
});
