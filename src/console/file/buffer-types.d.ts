// Types for src/wire within the console, where node-buffer.ts replaces Node's Buffer.

declare module 'node:buffer' {
  export function isUtf8(bytes: Uint8Array): boolean;
}
declare const Buffer: typeof import('./node-buffer.js').Buffer;
