// What handlers read of a request besides its body.
import type { KeyMeter } from '../limits/key-meter.js';
import { Guarded } from './guarded.js';
import type { HeaderFields } from './headers.js';
import type { UwsRequest, UwsResponse } from './uws.js';

/** Of path and query together; more is answered 414. */
export const TARGET_LIMIT_BYTES = 8192;

export abstract class RequestHead extends Guarded implements HeaderFields {
  bodySizeBytes = 0;
  requestId = '';
  hasGivenId = false;
  contentType = '';
  accept = '';
  apiKey: string | undefined = undefined;
  apiKeyConflict = false;
  /** Of the key; undefined before it is known, and where nothing is counted. */
  meter: KeyMeter | undefined = undefined;
  /** What usage counts the request as: a place in OPERATIONS. */
  operation = 0;

  #req: UwsRequest | undefined;

  constructor(
    protected readonly res: UwsResponse,
    req: UwsRequest,
    readonly method: string,
    /** The pattern of the route. Logs name it instead of the path, which may contain a key. */
    readonly pattern: string,
    readonly path: string,
    /** The query as it was sent, without "?"; '' if there is none. */
    readonly rawQuery: string,
  ) {
    super();
    this.#req = req;
  }

  /** Path and query. */
  get targetBytes(): number {
    return this.path.length + (this.rawQuery === '' ? 0 : 1 + this.rawQuery.length);
  }

  /** The first value of a header, '' if absent. Like all of the request, readable until the handler returns (README U8). */
  header(lowerCaseName: string): string {
    return this.#request().getHeader(lowerCaseName);
  }

  /** All values of a header, in the order they were sent. */
  headerValues(lowerCaseName: string): string[] {
    const values: string[] = [];
    this.#request().forEach((name, value) => {
      if (name === lowerCaseName) values.push(value);
    });
    return values;
  }

  /** The address of the peer, in four or sixteen bytes. To be read before the handler returns. */
  get peerAddress(): Uint8Array {
    return new Uint8Array(this.res.getRemoteAddress());
  }

  /** All X-Forwarded-For headers, joined by commas; '' if there is none. */
  get forwardedFor(): string {
    return this.headerValues('x-forwarded-for').join(',');
  }

  /** The path segment at the pattern's `:name` number `index`, percent-encoded as it was sent. */
  parameter(index: number): string {
    return this.#request().getParameter(index) ?? '';
  }

  /** The handler has not returned yet. */
  protected get isReadable(): boolean {
    return this.#req !== undefined;
  }

  /** The handler has returned. */
  protected endReading(): void {
    this.#req = undefined;
  }

  #request(): UwsRequest {
    if (this.#req === undefined) throw new Error('the request can be read in the first tick only');
    return this.#req;
  }
}
