// The name of a sink at a URL, which is in the log and in /readyz.
import { expect, test } from 'vitest';
import { HttpSink } from '#dist/server/forward/sinks/http-sink.js';

test.each([
  ['https://hooks.example.com/services/T0/SECRET', 'https://hooks.example.com'],
  ['http://10.0.0.7:8080/in?token=SECRET', 'http://10.0.0.7:8080'],
])('%s is named without path and query', (url, name) => {
  expect(new HttpSink(url, undefined).name).toBe(name);
});
