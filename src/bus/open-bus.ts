// The kinds of buses, chosen by the scheme of an address.
import type { Bus, BusSettings, Waiting } from './bus.js';
import type { NatsBus } from './nats/nats-bus.js';

export interface BusKind<B extends Bus = Bus> {
  readonly scheme: RegExp;
  /** Default subjects or topics of messages and of their answers. */
  readonly map: string;
  /** Whether streams have a maximum size, beyond which they reject messages. */
  readonly isBounded: boolean;
  /** @throws EngineFault where the bus cannot be reached and must not be waited for */
  open(settings: BusSettings, waiting: Waiting, from?: string): Promise<B>;
}

/** Servers named by the settings, `--nats` or `--from`. */
const NATS: BusKind<NatsBus> = {
  scheme: /^(?:nats|tls):\/\//i,
  map: 'hexcodes.in.>=hexcodes.out.>',
  isBounded: true,
  open: async (settings, waiting) => (await import('./nats/nats-bus.js')).NatsBus.open(settings, waiting),
};

/** Topics have no wildcards. */
const KAFKA: BusKind = {
  scheme: /^kafka(?:\+tls)?:/i,
  map: 'hexcodes.in=hexcodes.out',
  isBounded: false,
  open: async (settings, waiting, from) =>
    (await import('./kafka/kafka-bus.js')).KafkaBus.open(from!, settings, waiting),
};

export const BUSES = { NATS, KAFKA };

/**
 * @param from the address; NATS if it has no scheme
 * @returns undefined for an unknown scheme
 */
export function kindOfBus(from = ''): BusKind | undefined {
  return (
    Object.values(BUSES).find(({ scheme }) => scheme.test(from)) ?? (from.includes('://') ? undefined : NATS)
  );
}
