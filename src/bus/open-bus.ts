// Opens the bus that an address names.
import type { Bus, BusSettings, Waiting } from './bus.js';

/**
 * @param from address of a bus, `kafka://host:9092` or `nats://host:4222`; the NATS servers of the settings without one
 * @throws EngineFault where it cannot be reached, and refuses to be waited for
 */
export async function openBus(settings: BusSettings, waiting: Waiting, from?: string): Promise<Bus> {
  if (from !== undefined && isKafka(from)) {
    const { KafkaBus } = await import('./kafka/kafka-bus.js');
    return KafkaBus.open(from, settings, waiting);
  }
  const { NatsBus } = await import('./nats/nats-bus.js');
  return NatsBus.open(from === undefined ? settings : { ...settings, natsUrl: from.split(',') }, waiting);
}

/** Whether an address is one of Kafka. */
export const isKafka = (address: string): boolean => /^kafka(\+tls)?:/i.test(address);
