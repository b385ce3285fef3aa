// The kernel with nothing around it: what the containment tests ask, without the library's loader.
import { readFileSync } from 'node:fs';

export interface BareKernel {
  readonly memory: WebAssembly.Memory;
  readonly CAPACITY: WebAssembly.Global;
  readonly INPUT: WebAssembly.Global;
  readonly OUTPUT: WebAssembly.Global;
  readonly INDEX: WebAssembly.Global;
  useIndex(sizeBytes: number): number;
  unitOf(latDeg: number, lngDeg: number): number;
  regionOf(latDeg: number, lngDeg: number): number;
  locateBatch(count: number): void;
}

export type Build = 'kernel' | 'kernel.debug';

const compiled = new Map<Build, WebAssembly.Module>();

export function bareKernel(build: Build = 'kernel'): BareKernel {
  let module = compiled.get(build);
  if (module === undefined) {
    module = new WebAssembly.Module(readFileSync(`dist/${build}.wasm`));
    compiled.set(build, module);
  }
  return new WebAssembly.Instance(module).exports as unknown as BareKernel;
}

/** Copies an index in and takes it into use; the kernel's answer. */
export function putIndex(kernel: BareKernel, file: Uint8Array): number {
  const index = kernel.INDEX.value as number;
  const missing = index + file.length - kernel.memory.buffer.byteLength;
  if (missing > 0) kernel.memory.grow(Math.ceil(missing / 65536));
  new Uint8Array(kernel.memory.buffer).set(file, index);
  return kernel.useIndex(file.length);
}

/** Unit at whole micro-degrees, 63 outside. */
export function unitAtMicro(kernel: BareKernel, x: number, y: number): number {
  const unit = kernel.unitOf(y / 1e6, x / 1e6);
  return unit === 255 ? 63 : unit;
}
