// GET /livez answers 200 as long as the event loop runs, GET /readyz only while requests are accepted, and says why
// not.
import { type AdminRoute, textAnswer } from '../admin-port.js';
import type { Readiness } from '../life/readiness.js';

export function healthRoutes(readiness: Readiness): AdminRoute[] {
  return [
    { method: 'GET', path: '/livez', handle: () => textAnswer(200, 'alive') },
    {
      method: 'GET',
      path: '/readyz',
      handle: () => {
        const { status, text } = readiness.page;
        return textAnswer(status, ...text.trimEnd().split('\n'));
      },
    },
  ];
}
