// The system below the transport: its native builds, its receive buffer, and its open files.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { connectionsWithin, filesBeside, receiveBufferWarning } from '#dist/server/transport/limits.js';

// The builds of uWebSockets.js that ship are the ones that were tested: their native code has the recorded digests,
// and the lockfile holds both packages to theirs.
describe('builds', () => {
  /** sha256 of the binaries for Linux, by their place below node_modules. */
  const BINARIES: Record<string, string> = {
    'uWebSockets.js/uws_linux_x64_115.node':
      '5b126ee00bf754b02e97e4c27090365a8562c5820c93f93918ac2212d4503e91',
    'uWebSockets.js/uws_linux_x64_127.node':
      '4b55b1f2cb7a7913febbb65a89496412b96af77e838552980092ba6b33723aac',
    'uWebSockets.js/uws_linux_x64_137.node':
      '98128405dba2fb608448e921a979530f70c946a2cc9889c15f2fa70c2d00ab05',
    'uWebSockets.js/uws_linux_arm64_115.node':
      '6bdbc8ff976b4371af1906175e9025804bacc38a414969f4f02314e6b99f206c',
    'uWebSockets.js/uws_linux_arm64_127.node':
      '82b79bd18d1e3563de336156005bd01b7f39fc387b65173d69a29da4ee79f895',
    'uWebSockets.js/uws_linux_arm64_137.node':
      '88618b30ddf6b2b62310db89f40a701616676352aac5e0f6184dd8ef876199ce',
    'uws-pack/dist/bin/uws_linux_x64_115.node':
      '6f8d96d761a64beddb060f1f7f0e617dd293ed127ec1d57507aa561a0083171e',
    'uws-pack/dist/bin/uws_linux_x64_127.node':
      '8cabc918bbf9a07323e54f89a33882491080b2eb35df0607f473ccdb1f3c31af',
    'uws-pack/dist/bin/uws_linux_arm64_115.node':
      'c0e29fc143b46b584f3debec7910014ec228198fc1f17aaeacd1de7991bd3769',
    'uws-pack/dist/bin/uws_linux_arm64_127.node':
      'd4c4f8b2c28c5f6544b49e36d91b0beee238a5b90a07904a947f77061c8b814d',
  };

  const PACKAGES: Record<string, { name: string; version: string }> = {
    'uWebSockets.js': { name: '@btc-vision/uwebsockets.js', version: '20.57.0' },
    'uws-pack': { name: 'uws-pack', version: '20.0.8' },
  };

  interface Lock {
    packages: Record<
      string,
      { name?: string; version: string; integrity?: string; hasInstallScript?: boolean }
    >;
  }
  const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as Lock;

  test.each(Object.entries(BINARIES))('%s is the binary that was tested', (path, digest) => {
    const bytes = readFileSync(`node_modules/${path}`);
    expect(createHash('sha256').update(bytes).digest('hex')).toBe(digest);
  });

  test.each(Object.entries(PACKAGES))(
    'the lockfile holds %s to its version and integrity',
    (place, { name, version }) => {
      const entry = lock.packages[`node_modules/${place}`];
      expect(entry?.name ?? place).toBe(name);
      expect(entry?.version).toBe(version);
      expect(entry?.integrity).toMatch(/^sha512-/);
      expect(entry?.hasInstallScript).toBeUndefined();
    },
  );
});

// The warning about a system that lets one peer keep the transport reading.
describe('the receive buffer', () => {
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
});

test.each([
  [50_000, 1_048_576, 998_512],
  [50_000, 1024, 64],
  [500, 1024, 460],
  [50_000, 192, 64],
  [50_000, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY],
])('%s connections of %s files leave %s files to answers on disk', (wanted, limit, files) => {
  expect(filesBeside(wanted, limit)).toBe(files);
});

test('connections are as many as there are file descriptors for', () => {
  expect(connectionsWithin(50_000, 1_048_576)).toEqual({ maxConnections: 50_000, warning: undefined });
  expect(connectionsWithin(50_000, Number.POSITIVE_INFINITY)).toEqual({
    maxConnections: 50_000,
    warning: undefined,
  });
  expect(connectionsWithin(50_000, 1024)).toMatchObject({
    maxConnections: 896,
    warning: expect.stringContaining('at most 896 connections instead of 50000'),
  });
  expect(connectionsWithin(20, 150)).toEqual({ maxConnections: 20, warning: undefined });
  expect(() => connectionsWithin(50_000, 150)).toThrow('the process may have 150 open files');
});
