// Why an address cannot be listened on, in words. Those that a test can bring about are in test/e2e/cli/serve.test.ts.
import { expect, test } from 'vitest';
import { listenSentence, refuseSameAddress, tryAddress } from '#dist/server/listen-fault.js';

test.each([
  [
    'EACCES',
    '127.0.0.1',
    '127.0.0.1:80 for the service: not permitted: ports below 1024 need a privilege (--port',
  ],
  ['EAFNOSUPPORT', '::1', '[::1]:80 for the service: this machine has no addresses of this kind (--host'],
  ['EOTHER', '::1', '[::1]:80 for the service: as the system says (--port'],
])('%s', (code, host, words) => {
  const error = Object.assign(new Error('as the system says'), { code });
  expect(listenSentence({ host, port: 80, use: 'the service' }, error)).toContain(
    `cannot listen on ${words}`,
  );
});

test('the admin port that Prometheus has is said with its remedy', () => {
  const error = Object.assign(new Error('in use'), { code: 'EADDRINUSE' });
  const of = (port: number): string =>
    listenSentence({ host: '127.0.0.1', port, use: 'the admin port' }, error);
  expect(of(9090)).toBe(
    'cannot listen on 127.0.0.1:9090 for the admin port: the port is in use (Prometheus itself listens on 9090: --admin-port 9091, or another)',
  );
  expect(of(9191)).toContain('(--admin-port names another)');
});

test('one address: the same port, and hosts that overlap', () => {
  const at = (host: string, port = 8080) => ({ host, port });
  for (const [one, admin] of [
    [at('127.0.0.1'), at('127.0.0.1')],
    [at('0.0.0.0'), at('127.0.0.1')],
    [at('127.0.0.1'), at('::')],
  ] as const) {
    expect(() => refuseSameAddress(one, admin)).toThrow('need two ports, and both are 8080');
  }
  refuseSameAddress(at('127.0.0.1'), at('127.0.0.2'));
  refuseSameAddress(at('127.0.0.1'), at('127.0.0.1', 9090));
  refuseSameAddress(at('127.0.0.1', 0), at('127.0.0.1', 0));
});

test('an address that is free has no fault', async () => {
  expect(await tryAddress({ host: '127.0.0.1', port: 0, use: 'the service' })).toBeUndefined();
});
