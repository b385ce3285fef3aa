// The one part of flechette that its index does not export: the end of an Arrow file, which must come after record
// batches that are long written. The dependency is pinned for it.

declare module '@uwdata/flechette/src/encode/builder.js' {
  export class Builder {
    constructor(sink: { write(bytes: Uint8Array): void; pad(byteCount: number): void });
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
