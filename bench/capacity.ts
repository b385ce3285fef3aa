// `npm run bench -- capacity [options]`: the same program as `hexcodes bench`, on this checkout.
import { spawn } from 'node:child_process';
import { once } from 'node:events';

export default async function benchCapacity(args: string[]): Promise<void> {
  const child = spawn(process.execPath, ['dist/cli/main.js', 'bench', ...args], { stdio: 'inherit' });
  const [code] = (await once(child, 'exit')) as [number | null];
  process.exitCode = code ?? 1;
}
