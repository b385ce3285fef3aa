// What build.mjs writes into dist/library/web-data.js: the three binaries of the library in base 64.

export const KERNEL: string;
export const INDEX: string;
export const REACH: string;
