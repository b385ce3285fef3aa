// The demand of a fleet on the service: messages, points, bytes and connections, on average and at its peak.

import { MAX_BATCH_ITEMS, MAX_FRAME_POINTS } from '../../hexcodes/wire/limits.js';
import type { WayKind } from '../generator/job.js';
import type { Results } from '../measure/results.js';

/** Frames of the stream, single HTTP requests, or JSON batches. */
export type FleetProfile = 'stream' | 'single' | 'batch';

export interface Fleet {
  readonly vehicles: number;
  readonly intervalMs: number;
  readonly pointsPerReport: number;
  /** Share of the vehicles that report at the same moment of every interval, 0 to 1. */
  readonly togetherShare: number;
  readonly profile: FleetProfile;
  /**
   * Gateways collect the points of many vehicles and send them after a time or a number of points; undefined: each
   * vehicle sends.
   */
  readonly flush: { readonly everyMs: number } | { readonly points: number } | undefined;
  readonly gateways: number;
  /** Peak ÷ mean over a day. */
  readonly peakFactor: number;
  /** Factor of all traffic. */
  readonly growth: number;
  /** Points that come as CSV within a window of every night. */
  readonly nightly: { readonly points: number; readonly windowMs: number } | undefined;
}

/** Traffic of one kind. */
export interface Stream {
  readonly kind: WayKind;
  readonly pointsPerMessage: number;
  readonly messagesPerS: number;
}

export interface Demand {
  readonly connections: number;
  readonly meanPointsPerS: number;
  readonly peakPointsPerS: number;
  /** Points of a mean day, nights included. */
  readonly pointsPerDay: number;
  /** At the peak of the day. */
  readonly peak: readonly Stream[];
  /** On average, where messages come together, as their share is then larger than at the peak; undefined: none do. */
  readonly mean: readonly Stream[] | undefined;
  /** At night: the fleet on average and what comes in bulk; undefined without any. */
  readonly night: readonly Stream[] | undefined;
  /** Messages that come at the same moment, and how often; 0: none. */
  readonly together: number;
  readonly togetherEveryMs: number;
  /** More points were to be sent together than the service takes in one message, so they come in several. */
  readonly isCut: boolean;
  /** How long a gateway keeps the first point of a message; 0: no gateway does. */
  readonly mostFlushMs: number;
}

/** The most points of one message. */
const MAX_POINTS: Readonly<Record<WayKind, number>> = {
  stream: MAX_FRAME_POINTS,
  batch: MAX_BATCH_ITEMS,
  single: 1,
  csv: 1e9,
};
const DAY_S = 86_400;
/** Rows of one body at night: larger bodies are assumed to cost in proportion. */
const BULK_ROWS = 10_000;

export function demandOf(fleet: Fleet): Demand {
  const { intervalMs, pointsPerReport, flush, gateways, profile } = fleet;
  const vehicles = fleet.vehicles * fleet.growth;
  const reportsPerS = (1000 * vehicles) / intervalMs;
  const meanPointsPerS = reportsPerS * pointsPerReport;
  const peakPointsPerS = meanPointsPerS * fleet.peakFactor;
  const sentAtOnce = (pointsPerS: number): number => {
    if (flush === undefined) return pointsPerReport;
    return Math.max(1, 'points' in flush ? flush.points : (pointsPerS * flush.everyMs) / 1000 / gateways);
  };
  const at = (pointsPerS: number): Stream => {
    const kind = kindOf(profile, sentAtOnce(pointsPerS));
    const pointsPerMessage = Math.min(MAX_POINTS[kind], sentAtOnce(pointsPerS));
    return { kind, pointsPerMessage, messagesPerS: pointsPerS / pointsPerMessage };
  };
  const peak = at(peakPointsPerS);
  // A gateway sends one message whatever comes together.
  const perReport = Math.ceil(pointsPerReport / peak.pointsPerMessage);
  const together = flush === undefined ? perReport * Math.round(fleet.togetherShare * vehicles) : 0;
  const nightly = fleet.nightly && (1000 * fleet.nightly.points * fleet.growth) / fleet.nightly.windowMs;
  return {
    connections: Math.round(flush === undefined ? vehicles : gateways),
    meanPointsPerS,
    peakPointsPerS,
    pointsPerDay: DAY_S * meanPointsPerS + (fleet.nightly?.points ?? 0) * fleet.growth,
    peak: [peak],
    mean: together > 0 && fleet.peakFactor > 1 ? [at(meanPointsPerS)] : undefined,
    night:
      nightly === undefined
        ? undefined
        : [
            at(meanPointsPerS),
            { kind: 'csv', pointsPerMessage: BULK_ROWS, messagesPerS: nightly / BULK_ROWS },
          ],
    together,
    togetherEveryMs: intervalMs,
    isCut: peak.pointsPerMessage < sentAtOnce(peakPointsPerS),
    mostFlushMs:
      flush === undefined
        ? 0
        : 'points' in flush
          ? (1000 * flush.points * gateways) / meanPointsPerS
          : flush.everyMs,
  };
}

/** A single request has one point; with more it is a batch. */
export function kindOf(profile: FleetProfile, pointsPerMessage: number): WayKind {
  return profile === 'single' && pointsPerMessage !== 1 ? 'batch' : profile;
}

// Packets and bytes that messages take on the wire, besides their payload: headers of each packet, acknowledgements,
// and records of TLS. Sizes from IEEE 802.3, RFC 791, RFC 9293 with timestamps (RFC 7323) and RFC 8446.

/** Headers of Ethernet, IPv4 and TCP with timestamps, as counters of an interface see a packet. */
const PACKET_HEAD_BYTES = 14 + 20 + 32;
/** Preamble, checksum and gap, which take time on a link besides that. */
const LINK_GAP_BYTES = 24;
/** Payload of a full packet: 1,500 bytes of Ethernet less the headers. */
export const MAX_PAYLOAD_BYTES = 1448;
/** Header, type and tag of a record of TLS 1.3, and the most that one holds. */
const RECORD_BYTES = 22;
const MAX_RECORD_BYTES = 16_384;

/** One direction. */
export interface Direction {
  readonly packetsPerS: number;
  /** Headers of packets included, as an interface counts them. */
  readonly bytesPerS: number;
}

export interface Wire {
  /** From the clients, and to them. */
  readonly received: Direction;
  readonly sent: Direction;
}

const NOTHING: Direction = { packetsPerS: 0, bytesPerS: 0 };

/**
 * A message and its answer. The answer acknowledges the message, and of each two full packets before it one is
 * acknowledged alone; the answer is acknowledged alone, as vehicles have nothing else to send by then.
 */
function wireOf(sentBytes: number, receivedBytes: number, isTls: boolean): Wire {
  const [message, answer] = [sentBytes, receivedBytes].map(
    (bytes) => bytes + (isTls ? RECORD_BYTES * Math.ceil(bytes / MAX_RECORD_BYTES) : 0),
  ) as [number, number];
  const packetsOf = (bytes: number): number => Math.max(1, Math.ceil(bytes / MAX_PAYLOAD_BYTES));
  const direction = (payload: number, acknowledged: number): Direction => {
    const packetsPerS = packetsOf(payload) + acknowledged;
    return { packetsPerS, bytesPerS: payload + PACKET_HEAD_BYTES * packetsPerS };
  };
  return {
    received: direction(message, Math.ceil(packetsOf(answer) / 2)),
    sent: direction(answer, Math.floor((packetsOf(message) - 1) / 2)),
  };
}

/** Bytes of a frame for each point beyond the first: a position, and its code or fault with it. */
const POINT_BYTES = { sent: 16, received: 20 };
/** Bytes of an HTTP request or answer without its points, with some that a proxy adds. */
const HEAD_BYTES = 300;

/** Payload of one message and of its answer, from the profile that was measured. */
function payloadOf(
  { kind, pointsPerMessage }: Pick<Stream, 'kind' | 'pointsPerMessage'>,
  { ways }: Results,
): { readonly sentBytes: number; readonly receivedBytes: number } {
  const way = ways.find(({ name }) => name === kind);
  if (way === undefined) return { sentBytes: 0, receivedBytes: 0 };
  const more = pointsPerMessage - way.pointsPerUnit;
  const bytesOf = (measured: number, point: number): number => {
    const perPoint =
      kind === 'stream' ? point : (measured - Math.min(HEAD_BYTES, measured / 2)) / way.pointsPerUnit;
    return measured + more * perPoint;
  };
  return {
    sentBytes: bytesOf(way.sentBytesPerUnit, POINT_BYTES.sent),
    receivedBytes: bytesOf(way.receivedBytesPerUnit, POINT_BYTES.received),
  };
}

/** All streams together. @param isTls between proxy and vehicles; between proxy and nodes there is none */
export function wireOfStreams(streams: readonly Stream[], results: Results, isTls: boolean): Wire {
  const sum = (a: Direction, b: Direction, factor: number): Direction => ({
    packetsPerS: a.packetsPerS + factor * b.packetsPerS,
    bytesPerS: a.bytesPerS + factor * b.bytesPerS,
  });
  return streams.reduce<Wire>(
    (all, stream) => {
      const { sentBytes, receivedBytes } = payloadOf(stream, results);
      const one = wireOf(sentBytes, receivedBytes, isTls);
      return {
        received: sum(all.received, one.received, stream.messagesPerS),
        sent: sum(all.sent, one.sent, stream.messagesPerS),
      };
    },
    { received: NOTHING, sent: NOTHING },
  );
}

/** Bits a second that a direction takes of a link. */
export const linkBitsOf = ({ packetsPerS, bytesPerS }: Direction): number =>
  8 * (bytesPerS + LINK_GAP_BYTES * packetsPerS);

// Needs of a proxy before the machines: CPU, memory, packets on both sides, and the ports of its address. Each
// connection of a vehicle is one more from the proxy to a node, and an address has one port for each of these.

/** Ports that Linux gives to outgoing connections to one address and port: 32768 to 60999 (ip_local_port_range). */
const PORTS_OF_ADDRESS = 28_232;
/**
 * HAProxy 2.6 with TLS as deploy/haproxy/haproxy.cfg has it: CPU of a frame of one position with its answer where the
 * proxy is awake, and of waking it; how long it stays awake; CPU of a connection with its handshake; memory of a
 * vehicle's connection, both sides. Measured by `npm run proof -- fleet` at 200 to 6,667 frames/s.
 */
const HAPROXY = { messageUs: 29, wakeUs: 100, awakeUs: 667, handshakeUs: 920, connectionBytes: 23_000 };

/** CPU of a frame: it wakes the proxy unless another came shortly before, and frames come as a Poisson process. */
function messageUsAt(messagesPerS: number): number {
  const { messageUs, wakeUs, awakeUs } = HAPROXY;
  return messageUs + wakeUs * Math.exp((-messagesPerS * awakeUs) / 1e6);
}

export interface ProxyPlan {
  readonly proxies: number;
  /** Connections of one proxy, to vehicles and to nodes. */
  readonly connections: number;
  /** Cores of one proxy at the peak. */
  readonly cores: number;
  readonly memoryBytes: number;
  /** Packets of one proxy, of both sides and directions. */
  readonly packetsPerS: number;
  /** Link of one proxy, in the busier direction: it carries both sides. */
  readonly linkBitsPerS: number;
  /** Connections of one proxy to one port of a node, while one machine is down. */
  readonly connectionsPerPort: number;
  /** The largest number for one address of the proxy. */
  readonly mostPerPort: number;
  /** Addresses of a proxy, or ports of each process, that these connections need. */
  readonly addresses: number;
  /** After a machine died: its vehicles come back, and the proxies' cores are busy with handshakes for this long. */
  readonly reconnectS: number;
}

/**
 * @param machines all of them, with those that may fail
 * @param ports of each machine: one, or one for each process with --own-ports
 * @param cores of a proxy
 */
export function proxyOf(
  demand: Demand,
  results: Results,
  { proxies, machines, ports, cores }: Record<'proxies' | 'machines' | 'ports' | 'cores', number>,
): ProxyPlan {
  const streams: readonly Stream[] = demand.peak;
  const share = <T extends number>(value: T): number => value / proxies;
  const [outside, inside] = [wireOfStreams(streams, results, true), wireOfStreams(streams, results, false)];
  const messagesPerS = streams.reduce((sum, stream) => sum + stream.messagesPerS, 0);
  const left = Math.max(1, machines - 1);
  const connectionsPerPort = Math.ceil(share(demand.connections) / (left * ports));
  return {
    proxies,
    connections: 2 * Math.ceil(share(demand.connections)),
    cores: (share(messagesPerS) * messageUsAt(share(messagesPerS))) / 1e6,
    memoryBytes: share(demand.connections) * HAPROXY.connectionBytes,
    packetsPerS: share(
      [outside, inside].reduce((sum, { received, sent }) => sum + received.packetsPerS + sent.packetsPerS, 0),
    ),
    linkBitsPerS: share(
      Math.max(
        linkBitsOf(outside.received) + linkBitsOf(inside.sent),
        linkBitsOf(outside.sent) + linkBitsOf(inside.received),
      ),
    ),
    connectionsPerPort,
    mostPerPort: PORTS_OF_ADDRESS,
    addresses: Math.ceil(connectionsPerPort / PORTS_OF_ADDRESS),
    reconnectS: (share(demand.connections / machines) * HAPROXY.handshakeUs) / 1e6 / cores,
  };
}
