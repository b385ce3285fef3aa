// Why something cannot be done with keys.

export interface SettingFault {
  /** As JSON names it: `expires`, `limits.points_per_second`. */
  readonly setting: string;
  /** The end of a sentence: `must be …`. */
  readonly message: string;
}

/** The message is a sentence for people. */
export class KeyFault extends Error {
  constructor(
    /** 'conflict': with what the store holds. */
    readonly kind: 'unknown' | 'revoked' | 'conflict' | 'invalid',
    message: string,
    /** All faults of an 'invalid' request. */
    readonly faults: readonly SettingFault[] = [],
  ) {
    super(message);
  }
}
