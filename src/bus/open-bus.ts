// The kinds of buses, chosen by the scheme of an address.
import type { Bus, BusSettings, Waiting } from './bus.js';

export interface BusKind {
  readonly scheme: RegExp;
  /** Subjects or topics of messages and of their answers, unless others are given. */
  readonly map: string;
  /** Whether streams have a size, beyond which they refuse messages. */
  readonly isBounded: boolean;
  /** @throws EngineFault where the bus cannot be reached, and refuses to be waited for */
  open(settings: BusSettings, waiting: Waiting, from?: string): Promise<Bus>;
}

/** Servers of the settings, which `--nats` or `--from` name. */
const NATS: BusKind = {
  scheme: /^(?:nats|tls):\/\//i,
  map: 'hexcodes.in.>=hexcodes.out.>',
  isBounded: true,
  open: async (settings, waiting) => (await import('./nats/nats-bus.js')).NatsBus.open(settings, waiting),
};

/** Topics have no wild words. */
const KAFKA: BusKind = {
  scheme: /^kafka(?:\+tls)?:/i,
  map: 'hexcodes.in=hexcodes.out',
  isBounded: false,
  open: async (settings, waiting, from) =>
    (await import('./kafka/kafka-bus.js')).KafkaBus.open(from!, settings, waiting),
};

export const BUSES = { NATS, KAFKA };

/** @param from its address; without a scheme it is one of NATS. @returns undefined for another scheme */
export function kindOfBus(from = ''): BusKind | undefined {
  return (
    Object.values(BUSES).find(({ scheme }) => scheme.test(from)) ?? (from.includes('://') ? undefined : NATS)
  );
}
