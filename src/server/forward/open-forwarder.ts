// Opens the forwarder of a service, to the sink of its settings.
import { join, parse } from 'node:path';
import { contentOf } from '../../config/bus.js';
import type { ServeConfig } from '../../config/config.js';
import { Fault } from '../../config/setting.js';
import { type SinkAddress, TRACCAR } from '../../config/sink.js';
import type { DeliveryLog } from './delivery.js';
import { Forwarder } from './forwarder.js';
import { FileSink } from './sinks/file-sink.js';
import type { Sink } from './sinks/sink.js';
import { HttpSink, NatsSink } from './sinks/sink.js';

/**
 * Rejects with a message for people.
 * @param processNumber of several processes, from 1: each has a file of its own
 * @returns undefined where positions go nowhere
 */
export async function openForwarder(
  config: ServeConfig,
  log: DeliveryLog,
  processNumber?: number,
): Promise<Forwarder | undefined> {
  const { traccarSink, traccarBatchMs, traccarBacklogBytes, dataDir } = config;
  if (traccarSink === undefined) return undefined;
  return Forwarder.open({
    sink: await sinkOf(traccarSink, config, processNumber),
    folder: join(dataDir, 'traccar'),
    mostBytes: traccarBacklogBytes,
    batchMs: traccarBatchMs,
    log,
  });
}

async function sinkOf(
  address: SinkAddress,
  config: ServeConfig,
  processNumber: number | undefined,
): Promise<Sink> {
  switch (address.kind) {
    case 'http':
      return new HttpSink(address.url, config.traccarSinkHeader);
    case 'file': {
      const { dir, name, ext } = parse(address.path);
      const path = processNumber === undefined ? address.path : join(dir, `${name}.${processNumber}${ext}`);
      return new FileSink({ path, format: address.format, fullBytes: config.traccarFileBytes });
    }
    case 'postgres': {
      const { PostgresSink } = await import('./sinks/postgres-sink.js');
      return new PostgresSink(address, config.traccarPostgresPassword);
    }
    case 'nats': {
      const settings = {
        natsUrl: [address.server],
        natsUser: config.traccarNatsUser,
        natsPassword: config.traccarNatsPassword,
        natsToken: config.traccarNatsToken,
        natsNkey: contentOfFile(config, 'traccarNatsNkeyFile'),
        natsCreds: contentOfFile(config, 'traccarNatsCredsFile'),
        natsTlsCa: contentOfFile(config, 'traccarNatsTlsCaFile'),
        natsTlsCert: contentOfFile(config, 'traccarNatsTlsCertFile'),
        natsTlsKey: contentOfFile(config, 'traccarNatsTlsKeyFile'),
      };
      return new NatsSink(`${address.server}/${address.subject}`, async () => {
        const { openBus } = await import('../../bus/open-bus.js');
        const bus = await openBus(settings, { isPatient: false, say: () => {} });
        return bus.publisher(address.subject);
      });
    }
  }
}

type FileName = Extract<keyof typeof TRACCAR, `${string}File`>;

/** Content of the file that a setting names. */
function contentOfFile(config: ServeConfig, name: FileName): string | undefined {
  try {
    return contentOf(config[name]);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    throw new Error(`${TRACCAR[name].variable} ${error.message}`);
  }
}
