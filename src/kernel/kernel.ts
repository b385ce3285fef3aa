// Loads the AssemblyScript module and owns the views of its memory: the only user of WebAssembly.

/** The module's exports as assembly/index.ts declares them. */
export interface KernelExports {
  readonly memory: WebAssembly.Memory;
  readonly CAPACITY: WebAssembly.Global;
  readonly INPUT: WebAssembly.Global;
  readonly OUTPUT: WebAssembly.Global;
}
