// Needs of a proxy before the machines: CPU, memory, packets on both sides, and the ports of its address. Each
// connection of a vehicle is one more from the proxy to a node, and an address has one port for each of these.
import type { Results } from '../measure/results.js';
import type { Demand, Stream } from './fleet.js';
import { linkBitsOf, wireOfStreams } from './wire.js';

/** Ports that Linux gives to outgoing connections to one address and port: 32768 to 60999 (ip_local_port_range). */
export const PORTS_OF_ADDRESS = 28_232;
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
  /** The most of them for one address of the proxy. */
  readonly mostPerPort: number;
  /** Addresses of a proxy, or ports of each process, that this takes. */
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
