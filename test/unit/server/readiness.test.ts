// The page of /readyz.
import { expect, test } from 'vitest';
import { Readiness } from '#dist/server/life/readiness.js';

test('not ready until requests are accepted, and why; warnings do not change that', () => {
  const readiness = new Readiness();
  let fault: string | undefined = 'the key store is not there';
  readiness.addWarning(() => fault);
  readiness.addWarning(() => undefined);
  expect(readiness.page).toEqual({
    status: 503,
    text: 'not ready\nreason: the service is starting\nwarning: the key store is not there\n',
  });
  readiness.accept();
  expect(readiness.page).toEqual({ status: 200, text: 'ready\nwarning: the key store is not there\n' });
  fault = undefined;
  expect(readiness.page).toEqual({ status: 200, text: 'ready\n' });
  readiness.refuse('the service is stopping');
  expect(readiness.page).toEqual({ status: 503, text: 'not ready\nreason: the service is stopping\n' });
});
