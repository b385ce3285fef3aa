// Requests by route and status, and answers of 500 in a count of their own, which is there before the first of them.
import { expect, test } from 'vitest';
import { RequestCounts } from '#dist/server/metrics/request-counts.js';

test('only 500 is a defect', () => {
  const counts = new RequestCounts();
  const head = { pattern: '/x', method: 'GET' };
  const request = { head, isComplete: true, startedMs: 0, bytesIn: 0, bytesOut: 0 };
  expect(counts.defects).toBe(0);
  for (const status of [200, 404, 499, 501, 503, 0]) counts.add({ ...request, status }, 1);
  expect(counts.defects).toBe(0);
  for (const pattern of ['/x', '/y']) counts.add({ ...request, head: { ...head, pattern }, status: 500 }, 1);
  expect(counts.defects).toBe(2);
});
