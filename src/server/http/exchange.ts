// A request of the service: the transport's exchange, with the notes of keys, limits and the log, and the address of
// its client.
import { canonicalAddress, Networks } from '../../config/networks.js';
import { type Kernel, OK } from '../../hexcodes/kernel/kernel.js';
import type { Entry } from '../ledger/ledger.js';
import type * as transport from '../transport/adapter.js';
import type { Exchange as TransportExchange } from '../transport/exchange.js';

const NO_POSITION = {};

export class RequestNotes {
  /** Entry in the ledger of the key; undefined before the key is known, and where nothing is counted. */
  entry: Entry | undefined = undefined;
  /** Header lines that help the client, as `\r\nHexcodes-Hint: …`. */
  hint = '';
  /** The operation of the request in usage: an index in OPERATIONS. */
  operation = 0;
  /** "\r\nHexcodes-Data: …" where the answer names its boundary data. */
  dataLine = '';
  /** Log fields with the position or code of a single call; {} unless they are to be logged. */
  position: Readonly<Record<string, string | number>> = NO_POSITION;
}

export type Exchange = TransportExchange<RequestNotes>;
export type Adapter = transport.Adapter<RequestNotes>;

// The address of the client: the peer's, or behind trusted proxies the one that they report in X-Forwarded-For. Each
// proxy appends the address of its caller, so the list is read from the right, as far as the proxies are trusted;
// anything the client wrote itself is to the left and is not believed.

/** Most entries of the list that are read. */
const MAX_HOPS = 32;

/**
 * @param peer in canonical form (networks.ts); '' if it is not known
 * @param forwardedFor all X-Forwarded-For headers, joined by commas; '' if there is none
 * @param trusted the proxies; undefined: none
 * @param isCertain returns '' where an entry is not an address, as of a proxy that hides its clients: a key that is
 * bound to the network of the proxies must not admit every client that comes through them
 * @returns the first address from the right that is not a trusted proxy, in canonical form; where an entry is not an
 * address, the proxy that has added it; where all are proxies, the first of the list
 */
export function clientAddress(
  peer: string,
  forwardedFor: string,
  trusted: Networks | undefined,
  isCertain = false,
): string {
  if (trusted === undefined || forwardedFor === '' || peer === '' || !trusted.has(peer)) return peer;
  let client = peer;
  for (const entry of forwardedFor.split(',').slice(-MAX_HOPS).reverse()) {
    const before = canonicalAddress(withoutPort(entry.trim()));
    if (before === undefined) return isCertain ? '' : client;
    client = before;
    if (!trusted.has(client)) break;
  }
  return client;
}

/** Some proxies add the port: `192.0.2.1:1234`, `[2001:db8::1]:1234`. */
function withoutPort(text: string): string {
  const bracketed = /^\[([^\]]*)\](?::\d{1,5})?$/.exec(text);
  if (bracketed !== null) return bracketed[1] as string;
  const dotted = /^(\d{1,3}(?:\.\d{1,3}){3}):\d{1,5}$/.exec(text);
  return dotted === null ? text : (dotted[1] as string);
}

/** The canonical text of a socket's address in four or sixteen bytes; '' for any other length. */
export function addressText(bytes: Uint8Array): string {
  if (bytes.length === 4) return bytes.join('.');
  if (bytes.length !== 16) return '';
  const groups = Array.from({ length: 8 }, (_, i) => ((bytes[2 * i]! << 8) | bytes[2 * i + 1]!).toString(16));
  return canonicalAddress(groups.join(':')) as string;
}

interface AddressedRequest {
  readonly peerAddress: Uint8Array;
  readonly head: { readonly forwardedFor: string };
}

/** Finds the clients of requests. */
export class ClientAddresses {
  readonly #trusted: Networks | undefined;

  /** @param trusted addresses of proxies, and networks of them */
  constructor(trusted: readonly string[]) {
    this.#trusted = trusted.length === 0 ? undefined : new Networks(trusted);
  }

  /** Whether an address, in four or sixteen bytes, is that of a trusted proxy. */
  isProxy(address: Uint8Array): boolean {
    return this.#trusted?.has(addressText(address)) === true;
  }

  /** The client's address in canonical form. */
  of(request: AddressedRequest): string {
    return clientAddress(addressText(request.peerAddress), request.head.forwardedFor, this.#trusted);
  }

  /** The address of the client; '' where a trusted proxy does not report it. */
  certain(request: AddressedRequest): string {
    return clientAddress(addressText(request.peerAddress), request.head.forwardedFor, this.#trusted, true);
  }
}

// One position to a code by the kernel of this thread.

/**
 * Converts and counts an admitted position; its code is then the kernel's `textAt(0)`.
 * @param logsPositions whether the log has the position
 * @returns false where no province is
 */
export function encodeOne(
  x: Exchange,
  kernel: Kernel,
  latDeg: number,
  lngDeg: number,
  resolution: number,
  logsPositions: boolean,
): boolean {
  const isOk = kernel.exports.encodeOne(latDeg, lngDeg, resolution) === OK;
  x.notes.entry?.done(isOk ? 1 : 0, isOk ? 0 : 1);
  if (logsPositions) x.notes.position = { lat_deg: latDeg, lng_deg: lngDeg, resolution };
  return isOk;
}
