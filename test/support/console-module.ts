// A module of the console as it is written: the page ships as a bundle, of which no part can be imported by itself.
import { resolve } from 'node:path';

/** @param path below src/console, with its ending. Needs vitest, which reads TypeScript. */
export async function consoleModule<Module>(path: string): Promise<Module> {
  return (await import(/* @vite-ignore */ resolve('src/console', path))) as Module;
}
