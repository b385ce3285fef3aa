// Types of dist/hexcodes/library/embedded.js, which build.mjs writes: the three binaries of the library in base 64.

export const KERNEL: string;
export const INDEX: string;
export const REACH: string;
