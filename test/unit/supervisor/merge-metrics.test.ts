// One page of metrics of several processes.
import { expect, test } from 'vitest';
import { mergeMetrics } from '#dist/server/supervisor/admin.js';

test('samples of a metric stand together, each with its process; comments stand once', () => {
  const page = (value: number): string =>
    `# HELP a_total All.\n# TYPE a_total counter\na_total ${value}\na_total{x="{1}"} 2\n\n` +
    '# HELP b_seconds Times.\n# TYPE b_seconds histogram\nb_seconds_bucket{le="+Inf"} 3\nb_seconds_sum 4.5e-7\nb_seconds_count{} 3\n';
  expect(
    mergeMetrics([
      { number: 1, text: page(1) },
      { number: 2, text: page(9) },
      { number: 3, text: '' },
    ]),
  ).toBe(`# HELP a_total All.
# TYPE a_total counter
a_total{process="1"} 1
a_total{process="1",x="{1}"} 2
a_total{process="2"} 9
a_total{process="2",x="{1}"} 2

# HELP b_seconds Times.
# TYPE b_seconds histogram
b_seconds_bucket{process="1",le="+Inf"} 3
b_seconds_sum{process="1"} 4.5e-7
b_seconds_count{process="1"} 3
b_seconds_bucket{process="2",le="+Inf"} 3
b_seconds_sum{process="2"} 4.5e-7
b_seconds_count{process="2"} 3
`);
});

test('a metric whose name begins with that of another is one of its own', () => {
  const text = '# TYPE a counter\na 1\n# TYPE a_b gauge\na_b 2\n';
  expect(mergeMetrics([{ number: 1, text }])).toBe(
    '# TYPE a counter\na{process="1"} 1\n\n# TYPE a_b gauge\na_b{process="1"} 2\n',
  );
});
