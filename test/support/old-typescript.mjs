// Loads TypeScript 5.2 in programs that need the compiler's old interface, which version 7 has not:
// `node --import` of this file.
import { register } from 'node:module';

const HOOK = `export const resolve = (name, context, next) =>
  next(name === 'typescript' ? 'typescript-5.2' : name, context);`;
register(`data:text/javascript,${encodeURIComponent(HOOK)}`, import.meta.url);
