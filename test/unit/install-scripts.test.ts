// Which packages may run a program when they are installed: none. npm 11 warns of each about which nothing is said.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

interface Locked {
  readonly hasInstallScript?: boolean;
  readonly optional?: boolean;
}

test.each(['.', 'test/judges'])('%s: each package with an install script is refused by name', (folder) => {
  const { packages } = JSON.parse(readFileSync(`${folder}/package-lock.json`, 'utf8')) as {
    packages: Readonly<Record<string, Locked>>;
  };
  const { allowScripts = {} } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8')) as {
    allowScripts?: Readonly<Record<string, boolean>>;
  };
  const withScript = Object.entries(packages)
    .filter(([path, { hasInstallScript }]) => hasInstallScript === true && path.startsWith('node_modules/'))
    .map(([path]) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length));
  expect(Object.keys(packages).length).toBeGreaterThan(100);
  const answered = withScript.filter((name) => allowScripts[name] === false);
  // fsevents is for macOS alone, and brings what it would build.
  expect(withScript.filter((name) => name !== 'fsevents')).toEqual(answered);
  expect([...new Set(answered)]).toEqual(Object.keys(allowScripts));
});
