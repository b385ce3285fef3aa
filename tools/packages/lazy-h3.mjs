// h3-js for bundles of programs: a file of its own, loaded by the first call of one of its functions. It is 443 KB, and
// takes 18 ms of a start that may never need it.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { rolldown } from 'rolldown';

const ID = '\0lazy-h3';
const FILE = 'shared/h3-js.cjs';
const require = createRequire(import.meta.url);

/**
 * A plugin of rolldown that puts lazy functions instead of h3-js.
 * @param {(file: string) => string} pathText the text of a module's code that names a file of the package
 */
export function lazyH3(pathText) {
  const h3 = require('h3-js');
  const exported = Object.entries(h3).map(([name, value]) =>
    typeof value === 'function'
      ? `export const ${name} = (...given) => loaded().${name}(...given);`
      : `export const ${name} = ${JSON.stringify(value)};`,
  );
  const code = [
    `import { createRequire } from 'node:module';`,
    'let h3;',
    `const loaded = () => (h3 ??= createRequire(import.meta.url)(${pathText(FILE)}));`,
    ...exported,
  ];
  return {
    name: 'lazy-h3',
    resolveId: (id) => (id === 'h3-js' ? ID : null),
    load: (id) => (id === ID ? { code: code.join('\n'), moduleSideEffects: false } : null),
  };
}

/** Writes the file that the lazy functions load. */
export async function writeH3(out, notice) {
  const bundle = await rolldown({ input: require.resolve('h3-js'), platform: 'node' });
  await bundle.write({ file: join(out, FILE), format: 'cjs', postBanner: notice });
  await bundle.close();
}
