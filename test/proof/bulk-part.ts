// A part of `proof -- bulk`, and what each part is given.

export interface BulkProofOptions {
  readonly size: number | undefined;
  readonly seed: number;
}

/** Runs one proof and resolves to what it found, in one line; rejects where something is not as it must be. */
export type Part = (options: BulkProofOptions) => Promise<string>;
