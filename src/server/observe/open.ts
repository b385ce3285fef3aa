// Makes the observer of a service from its settings.
import type { ServeConfig } from '../../config/config.js';
import { ClientAddresses } from '../client-address.js';
import { CountedLine } from '../counted-line.js';
import type { Logger } from '../log.js';
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
