// The transport reports here: answers, refusals, faults and connections that it closes. They are counted and logged,
// and answered where nobody else does.
import { CountedLine } from '../counted-line.js';
import { endOverError } from '../error-policy.js';
import { type Logger, withholdKey } from '../log.js';
import { fail, failUnavailable } from '../router.js';
import type { AdapterHooks } from '../transport/adapter.js';
import type { Observer } from './observer.js';

/** @param isCounted false: requests are neither counted nor logged, for benches that measure what that costs */
export function hooksFor(logger: Logger, observer: Observer, isCounted = true): AdapterHooks {
  const floods = new CountedLine(
    logger,
    'connections',
    'refused or closed: too many requests or frames in one turn of the event loop',
  );
  const crowds = new CountedLine(logger, 'connections', 'closed at once: too many connections are open');
  const evictions = new CountedLine(
    logger,
    'connections',
    'closed to make way: connections that have shown no valid key',
  );
  return {
    answered: (x, status) => {
      x.entry?.end(status);
      if (x.hasGivenId) withholdKey(x);
      if (isCounted) observer.beforeAnswer(x);
    },
    over: isCounted ? (x) => observer.over(x) : () => {},
    refused: (x, status, message, close) => fail(x, status, message, { close }),
    expired: (x) => {
      if (x.isBodyAwaited) fail(x, 408, 'the body took too long', { close: true });
      else failUnavailable(x, 'the answer took too long', true);
    },
    thrown: (x, error) => endOverError(logger, x, error),
    flooded: () => {
      observer.refusedConnections.flood++;
      floods.add();
    },
    crowded: () => {
      observer.refusedConnections.crowd++;
      crowds.add();
    },
    evicted: (reason) => {
      if (reason === 'idle') return;
      observer.refusedConnections[reason]++;
      evictions.add({ reason });
    },
    cut: (x, reason) => {
      withholdKey(x);
      logger.warn({ request_id: x.requestId, route: x.pattern, reason }, 'an upload was cut off');
      x.abort();
    },
    socketThrown: (error) => logger.error({ err: error }, 'a WebSocket handler threw'),
  };
}
