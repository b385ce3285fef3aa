// The transport reports here: answers, refusals, faults and connections that it closes. They are counted and logged,
// and answered where nobody else does.

import type { ServeConfig } from '../../config/config.js';
import { ClientAddresses } from '../client-address.js';
import { endOverError } from '../error-policy.js';
import { RequestNotes } from '../exchange.js';
import { CountedLine, type Logger, withholdKey } from '../log.js';
import { fail, failUnavailable } from '../router.js';
import type { AdapterHooks } from '../transport/adapter.js';
import { Observer } from './observer.js';
import { openTracer } from './otlp.js';

export async function openObserver(config: ServeConfig, logger: Logger): Promise<Observer> {
  const clients = new ClientAddresses(config.trustedProxies);
  const { otlpEndpoint: endpoint, traceRatio: ratio } = config;
  const line = new CountedLine(logger, 'exports', 'traces could not be handed to the collector');
  const failed = (reason: string): void => line.add({ reason });
  return new Observer({
    logger,
    clients,
    linesPerSecond: config.logRequestsPerSecond,
    tracer: endpoint === undefined ? undefined : await openTracer({ endpoint, ratio, clients, failed }),
  });
}

/** @param isCounted false: requests are neither counted nor logged, for benches that measure what that costs */
export function hooksFor(logger: Logger, observer: Observer, isCounted = true): AdapterHooks<RequestNotes> {
  const floods = new CountedLine(
    logger,
    'connections',
    'refused or closed: too many requests or frames in one turn of the event loop',
  );
  const crowds = new CountedLine(
    logger,
    'connections',
    'closed at once: too many connections are open, of all or of one network',
  );
  return {
    notes: () => new RequestNotes(),
    answered: (x, status) => {
      x.notes.entry?.end(status);
      if (x.head.hasGivenId) withholdKey(x);
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
    crowded: (reason) => {
      observer.refusedConnections[reason]++;
      crowds.add({ reason });
    },
    cut: (x, reason) => {
      withholdKey(x);
      logger.warn({ request_id: x.head.requestId, route: x.head.pattern, reason }, 'an upload was cut off');
      x.abort(reason);
    },
    socketThrown: (error) => logger.error({ err: error }, 'a WebSocket handler threw'),
  };
}
