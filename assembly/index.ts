// The ABI of the kernel.
export { CAPACITY, RECORD_BYTES, INPUT, OUTPUT, TEXT_IN, TEXT_IN_BYTES, TEXT_OUT, TEXT_OUT_BYTES, REACH, REACH_BYTES, RESOLUTIONS, INDEX } from "./memory";
export { locateBatch, regionOf, unitOf, useIndex } from "./region/locate";
