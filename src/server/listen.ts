// The admin port and the port of the service, opened when all that answers on them is there.
import { healthRoutes } from './admin/health.js';
import type { AdminListener } from './admin/listener.js';
import { keyRoutesOf } from './admin/wire-keys.js';
import { openAdminPort } from './admin-port.js';
import { ClockWatch } from './life/clock-watch.js';
import { Pulse } from './life/pulse.js';
import { listenSentence, refuseSameAddress, tryAddress } from './listen-fault.js';
import type { Log } from './log.js';
import { versionLabels } from './observe/versions.js';
import { observe } from './observe/wire.js';
import type { OpenParts, Parts, Seat } from './parts.js';
import type { ServiceRoutes } from './routes/service-routes.js';

export interface Ports {
  readonly admin: AdminListener;
  /** Port of the service. */
  readonly port: number;
}

/**
 * Resolves when requests are accepted; rejects with a sentence that names each port that is taken.
 * @param open gets what is to be closed with the service
 */
export async function listen(
  { config, files, logger, budget, pool, adapter, keys, metering, forwarder, observer, readiness }: Parts,
  { boundaries, streams, bulk }: ServiceRoutes,
  open: OpenParts,
  log: Log,
  seat: Seat | undefined,
): Promise<Ports> {
  const observation = observe(observer, {
    info: versionLabels(files.kernel, boundaries, adapter.build),
    adapter,
    streams,
    bulk,
    budget,
    pool,
    keys,
    metering,
    forwarder,
    log,
    isReady: () => readiness.page.status === 200,
  });
  open.observation = observation;
  const clock = new ClockWatch(logger);
  open.steps.release.push(async () => clock.close());
  readiness.addWarning(() => keys.fault);
  readiness.addWarning(() => metering?.fault);
  readiness.addWarning(() => clock.warning);

  const address = { host: config.host, port: config.port, use: 'the service' } as const;
  const { adminHost, adminPort, adminNames } = config;
  refuseSameAddress(address, { host: adminHost, port: adminPort });
  const failed = (error: unknown): void => logger.error({ err: error }, 'a handler of the admin port threw');
  const keyRoutes = keyRoutesOf(keys, config.trustedProxies, logger, seat?.token);
  const routes = [...healthRoutes(readiness), ...observation.routes, ...keyRoutes];
  const pulse = new Pulse(readiness);
  open.steps.release.push(async () => pulse.close());
  const opening = openAdminPort(adminHost, adminPort, routes, failed, adminNames, pulse.shared);
  const admin = await opening.catch(async (error: Error) => {
    // A second server meets both faults: both are named.
    const fault = seat === undefined ? await tryAddress(address) : undefined;
    if (fault === undefined) throw error;
    throw new Error(`${listenSentence(address, fault)}\n${error.message}`);
  });
  open.admin = admin;
  const port = await adapter
    .listen(config.host, config.port, seat === undefined, seat?.ownPort)
    .catch(async () => {
      throw new Error(listenSentence(address, await tryAddress(address)));
    });
  readiness.accept();
  const { name, version } = adapter.build;
  const versions = { transport: name, transport_version: version };
  logger.info(
    { host: config.host, port, admin_port: admin.port, keys: keys.ring.size, ...versions },
    'listening',
  );
  return { admin, port };
}
