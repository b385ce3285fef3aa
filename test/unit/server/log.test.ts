// Secrets that a line of the log must not have.
import { expect, test } from 'vitest';
import { openLog } from '#dist/server/log.js';

function linesOf(work: (logger: ReturnType<typeof openLog>['logger']) => void): Record<string, unknown>[] {
  const lines: string[] = [];
  const { logger } = openLog('info', { write: (line) => lines.push(line) });
  work(logger);
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

test('secrets are not written, of a line or of an object in it, and the object of the caller keeps them', () => {
  const fields = {
    key_id: 'a',
    apikey: 'x',
    request: { query: 'key=x', method: 'GET' },
    list: [1, 2],
    none: null,
  };
  const [line] = linesOf((logger) => logger.info(fields, 'said'));
  expect(line).toMatchObject({
    ...{ key_id: 'a', apikey: '[redacted]', list: [1, 2], none: null, msg: 'said' },
    request: { query: '[redacted]', method: 'GET' },
  });
  expect(fields).toMatchObject({ apikey: 'x', request: { query: 'key=x' } });
});

test('of an error as well, with its message and its stack', () => {
  const error = Object.assign(new Error('broken'), { headers: { 'x-api-key': 'x' }, code: 'EIO' });
  const [given, alone] = linesOf((logger) => {
    logger.error({ err: error }, 'failed');
    logger.error(error);
  });
  for (const line of [given, alone])
    expect(line).toMatchObject({
      err: { type: 'Error', message: 'broken', code: 'EIO', headers: '[redacted]' },
    });
  expect((given!.err as { stack: string }).stack).toContain('log.test');
});

test('keys of our form are masked wherever they stand', () => {
  const [line] = linesOf((logger) =>
    logger.info({ client: 'hxk_0123456789abcdef' }, 'from hxk_0123456789abcdef'),
  );
  expect(line).toMatchObject({ client: 'hxk_…', msg: 'from hxk_…' });
});
