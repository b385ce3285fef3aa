// Work that lasts, as a stream, a bulk body or a batch: whether its key would still let it in. A change of the key is
// judged as if the request came now, from where it came.
import { boundFault } from './key-bounds.js';
import type { KeyInfo, Scope } from './key-record.js';
import type { KeyRing } from './key-ring.js';

/** Where a request came from. */
export interface WorkSource {
  /** Its Origin header, '' if there was none. */
  readonly origin: string;
  /** Address of the client, in canonical form; '' if it is not known. */
  readonly address: string;
}

export interface KeyFault {
  readonly status: 401 | 403;
  readonly message: string;
}

const NO_LONGER_VALID: KeyFault = { status: 401, message: 'the key is no longer valid' };

export class OpenWork {
  /** As it was found to let the work go on. */
  #judged: KeyInfo;

  /** @param key as it let the request in */
  constructor(
    private readonly ring: KeyRing,
    private readonly key: KeyInfo,
    private readonly scope: Scope | undefined,
    private readonly source: WorkSource,
  ) {
    this.#judged = key;
  }

  /** Why the work must end; undefined if it may go on. Costs little unless the key has changed. */
  get fault(): KeyFault | undefined {
    const now = this.ring.current(this.key, this.scope);
    if (now === undefined) return NO_LONGER_VALID;
    if (now === this.#judged) return undefined;
    const message = now.isBound ? boundFault(now, this.source.origin, this.source.address) : undefined;
    if (message !== undefined) return { status: 403, message };
    this.#judged = now;
    return undefined;
  }
}
