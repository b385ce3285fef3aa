// The supervisor: figures of all processes as one, and pauses before a restart.
import { describe, expect, test } from 'vitest';
import { mergeActivity, mergeMetrics } from '#dist/server/lifecycle/supervisor/admin.js';
import { RestartDelay } from '#dist/server/lifecycle/supervisor/supervisor.js';

// The keys in use of several processes as one list.
describe('activity', () => {
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
});

// One page of metrics of several processes.
describe('metrics', () => {
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
});

// When a process that died is started again.
describe('restarts', () => {
  test('at once the first time, then later each time, and at once again after a minute of life', () => {
    const delay = new RestartDelay();
    expect([1, 2, 3, 4, 5, 6, 7, 8].map(() => delay.nextMs(100))).toEqual([
      0, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000,
    ]);
    expect(delay.nextMs(60_000)).toBe(0);
    expect(delay.nextMs(59_999)).toBe(1000);
  });
});
