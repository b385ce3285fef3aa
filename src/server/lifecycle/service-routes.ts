// All routes of the service.

import { loadH3 } from '../../hexcodes/geometry/load-h3.js';
import { Hexcodes } from '../../hexcodes/library/hexcodes.js';
import { Bulk } from '../bulk/route.js';
import { type BoundaryData, boundaryData } from '../http/freshness.js';
import { DataVersions } from '../http/negotiation.js';
import { Router } from '../http/router.js';
import { admission } from '../ledger/limit-answers.js';
import { basemapRoutes } from '../routes/basemap.js';
import { batchRoutes } from '../routes/batch.js';
import { codePage, consoleRoutes } from '../routes/console.js';
import { gridRoutes } from '../routes/grid.js';
import { lookupRoutes } from '../routes/lookups.js';
import { descriptionRoutes, metaRoutes } from '../routes/meta.js';
import { reverseRoutes } from '../routes/reverse.js';
import { singleRoutes } from '../routes/single.js';
import { usageRoutes } from '../routes/usage.js';
import { Streams } from '../stream/route.js';
import { traccarRoutes } from '../traccar/route.js';
import type { Parts } from './parts.js';
import type { StopSteps } from './stopping.js';

/** After the start, and before somebody asks for a cell's shape or neighbours. */
const H3_LOADED_AFTER_MS = 1000;

export interface ServiceRoutes {
  readonly router: Router;
  readonly boundaries: BoundaryData;
  readonly streams: Streams;
  readonly bulk: Bulk;
}

export function addServiceRoutes(parts: Parts, steps: StopSteps): ServiceRoutes {
  const { config, files, kernel, previous, observer, adapter, keys, metering } = parts;
  const router = new Router(adapter, keys.ring, observer.clients, metering && admission(metering.ledger));
  const boundaries = boundaryData(files, kernel.formerProvinces);
  const hexcodes = new Hexcodes(kernel);
  const before = previous && boundaryData(previous.files, previous.kernel.formerProvinces);
  const versions = new DataVersions([boundaries, before].flatMap((each) => (each ? [each.sha256] : [])));
  const deps = { ...parts, router, boundaries, before, hexcodes, logsPositions: config.logPositions };
  const streams = new Streams(deps);
  const bulk = new Bulk(deps);
  steps.drain.push(() => streams.stop());
  steps.release.push(() => bulk.close());
  const byVersion = previous === undefined ? [deps] : [deps, { ...deps, ...previous }];
  const current = [
    metaRoutes,
    usageRoutes,
    lookupRoutes,
    gridRoutes,
    traccarRoutes,
    reverseRoutes,
    descriptionRoutes,
    consoleRoutes,
    basemapRoutes,
    () => streams.routes,
  ].flatMap((routesOf) => routesOf(deps));
  const routes = [
    ...[singleRoutes, batchRoutes].flatMap((routesOf) => versions.chosen(byVersion.map(routesOf))),
    ...versions.chosen(bulk.routes),
    ...versions.current(current),
  ];
  for (const route of routes) router.add(route);
  router.addNotFound(codePage(deps));
  setTimeout(loadH3, H3_LOADED_AFTER_MS).unref();
  return { router, boundaries, streams, bulk };
}
