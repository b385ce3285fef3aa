// Plans as JSON.
import { expect, test } from 'vitest';
import { planJson } from '#dist/cli/commands/plan.js';

test('a figure without bound is a text, and null stays what was not measured', () => {
  const plan = { p99Us: { low: 1.5, high: Number.POSITIVE_INFINITY }, memory: null };
  expect(planJson(plan)).toBe('{"p99Us":{"low":1.5,"high":"Infinity"},"memory":null}\n');
});
