// Where conversions put their answers, piece by piece: into an array that is handed over at the end (ByteSink), or into
// the kernel's own memory, from which the bytes go on without being moved again (KernelSink).

export interface AnswerSink {
  add(bytes: Uint8Array): void;
  addText(text: string): void;
  /** Room for so many bytes, to be written by the caller, who then says how many there are. */
  reserve(sizeBytes: number): Uint8Array<ArrayBuffer>;
  /** Adds the first bytes of what was reserved. */
  commit(sizeBytes: number): void;
  /** Where in TEXT_OUT the kernel may write text. */
  readonly textOffset: number;
  /** Adds what the kernel wrote at `textOffset`. */
  addWritten(text: Uint8Array): void;
  /** Makes `textOffset` 0; false if it is. */
  makeTextRoom(): boolean;
}
