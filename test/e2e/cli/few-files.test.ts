// A process that may open few files: a sentence, and fewer connections, but no stack trace.
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { connectionsWithin } from '#dist/server/transport/system-limits.js';

test.each([20, 32, 40, 80, 150])(
  'ulimit -n %i: serve says in one sentence what is missing',
  async (files) => {
    const dataDir = mkdtempSync(join(tmpdir(), 'hexcodes-files-'));
    onTestFinished(() => rmSync(dataDir, { recursive: true }));
    const command = `ulimit -n ${files}; exec ${process.execPath} dist/cli/main.js serve --port 0 --admin-port 0 --data-dir ${dataDir}`;
    const [code, text] = await new Promise<[unknown, string]>((resolve) => {
      execFile('sh', ['-c', command], { timeout: 20_000 }, (error, _, said) => resolve([error?.code, said]));
    });
    expect(text).toMatch(/^hexcodes: [^\n]*open (enough )?files[^\n]*raise the limit[^\n]*\n$/);
    expect(code).toBe(1);
  },
);

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
