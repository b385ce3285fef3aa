// An allocator that overwrites freed blocks and holds them back (freed-memory.c), for processes whose native code is on
// trial: a use after free ends such a process at once, where it would mostly go unnoticed.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';

const SOURCE = resolve('test/support/freed-memory.c');
const FOLDER = resolve('build/freed-memory');

/** Environment of such a process; undefined where there is no C compiler, or no glibc. */
export const freedMemory: Readonly<Record<string, string>> | undefined = (() => {
  const library = join(FOLDER, 'freed-memory.so');
  try {
    if (!existsSync(library) || statSync(library).mtimeMs < statSync(SOURCE).mtimeMs) {
      mkdirSync(FOLDER, { recursive: true });
      const own = join(FOLDER, `${process.pid}.so`);
      execFileSync('cc', ['-shared', '-fPIC', '-O2', '-o', own, SOURCE], { stdio: 'pipe' });
      renameSync(own, library);
    }
    const env = { LD_PRELOAD: library };
    execFileSync(process.execPath, ['-e', ''], { env, stdio: 'pipe' });
    return env;
  } catch {
    return undefined;
  }
})();
