// Types of the part of flechette that its index does not export: the footer of an Arrow file, written when the record
// batches are already on the disk. The dependency is pinned to one version for it.

declare module '@uwdata/flechette/src/encode/builder.js' {
  export class Builder {
    constructor(sink: { write(bytes: Uint8Array): void; pad(byteCount: number): void });
    addInt32(value: number): void;
    /** @returns where it is; 0 without items, so that the member is left out */
    addVector(items: readonly unknown[], ...rest: unknown[]): number;
    offset(): number;
  }
}

declare module '@uwdata/flechette/src/encode/footer.js' {
  import type { Schema } from '@uwdata/flechette';
  import type { Builder } from '@uwdata/flechette/src/encode/builder.js';
  export interface Block {
    offset: number;
    metadataLength: number;
    bodyLength: number;
  }
  export function writeFooter(
    builder: Builder,
    schema: Schema,
    dictionaries: Block[],
    records: Block[],
    metadata: null,
  ): void;
}
