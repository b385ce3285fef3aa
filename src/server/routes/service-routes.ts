// All routes of the service.
import { Hexcodes } from '../../hexcodes/library/hexcodes.js';
import { Bulk } from '../bulk/route.js';
import { addGrid } from '../grid/route.js';
import type { StopSteps } from '../life/stopping.js';
import type { Parts } from '../parts.js';
import { Router } from '../router.js';
import { Streams } from '../stream/route.js';
import { addTraccar } from '../traccar/route.js';
import { addBatch } from './batch.js';
import { type BoundaryData, boundaryData } from './boundary-data.js';
import { addCodeInfo } from './code-info.js';
import { addConsole, basemapOf } from './console.js';
import { addDescription } from './description.js';
import { addMeta } from './meta.js';
import { addReverse } from './reverse.js';
import { addSingle } from './single.js';
import { addUsage } from './usage.js';

export interface ServiceRoutes {
  readonly boundaries: BoundaryData;
  readonly streams: Streams;
  readonly bulk: Bulk;
}

export function addServiceRoutes(parts: Parts, steps: StopSteps): ServiceRoutes {
  const {
    config,
    files,
    logger,
    tuning,
    kernel,
    observer,
    pool,
    budget,
    adapter,
    keys,
    metering,
    forwarder,
  } = parts;
  const router = new Router(adapter, keys.ring, observer.clients, metering?.admit);
  addSingle(router, kernel, config.logPositions);
  addBatch(router, kernel, pool, tuning.batchTurnMs);
  const boundaries = boundaryData(files, kernel.formerProvinces);
  addMeta(router, boundaries, adapter.build);
  if (metering !== undefined) addUsage(router, metering);
  const hexcodes = new Hexcodes(kernel);
  addCodeInfo(router, hexcodes, boundaries.tag);
  addGrid(router, hexcodes, boundaries.tag);
  addTraccar(router, kernel, forwarder, config.logPositions);
  addReverse(router, hexcodes, boundaries.meta.notice, config.logPositions);
  addDescription(router);
  addConsole(router, files, basemapOf(config));
  const streams = new Streams(router, kernel, pool, keys.ring, budget, observer, tuning.stream);
  streams.open(adapter);
  const spool = { requestBytes: config.spoolRequestBytes, totalBytes: config.spoolBytes };
  const bulk = new Bulk(kernel, pool, config.dataDir, spool, logger, tuning.bulk);
  bulk.open(router);
  steps.drain.push(() => streams.stop());
  steps.release.push(() => bulk.close());
  router.addNotFound();
  return { boundaries, streams, bulk };
}
