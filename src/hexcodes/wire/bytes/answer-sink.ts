// Where conversions write their answers, piece by piece: ByteSink collects them as one array, KernelSink passes them on
// from the kernel's own memory, without another copy.

export interface AnswerSink {
  /** Bytes added so far, without those that are passed on already. */
  readonly sizeBytes: number;
  add(bytes: Uint8Array): void;
  addText(text: string): void;
  /** Free bytes, at least `sizeBytes`, for the caller to write to; `commit` then adds the first of them. */
  reserve(sizeBytes: number): Uint8Array<ArrayBuffer>;
  /** Adds the first bytes of the last `reserve`. */
  commit(sizeBytes: number): void;
  /** Where in TEXT_OUT the kernel may write text. */
  readonly textOffset: number;
  /** Adds text that the kernel wrote at `textOffset`. */
  addWritten(text: Uint8Array): void;
  /** Frees all of TEXT_OUT for the kernel's text, so that `textOffset` is 0; false where it is free already. */
  freeTextOut(): boolean;
}
