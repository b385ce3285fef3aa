// Runs kill-run.ts as a process of its own, with the options in its argument, and prints the report as JSON;
// `inNamespace` starts it in a network namespace where that is allowed.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { canHaveNamespaces } from '../network-namespace.js';
import { type KillReport, type KillRunOptions, runKills } from './kill-run.js';

const OWN_PATH = fileURLToPath(import.meta.url);
const COMPILED = OWN_PATH.endsWith('.ts') ? 'build/test/support/engine/run-kills.js' : OWN_PATH;

/** The network is cut only where this process may make namespaces. */
export async function killsInNamespace(options: Omit<KillRunOptions, 'isCut'>): Promise<KillReport> {
  const isCut = canHaveNamespaces();
  const inner = [process.execPath, COMPILED, JSON.stringify({ ...options, isCut })];
  const script = 'ip link set lo up && exec "$@"';
  const [program = '', ...args] = isCut ? ['unshare', '-n', 'sh', '-c', script, 'sh', ...inner] : inner;
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  child.stdout.setEncoding('utf8');
  for await (const piece of child.stdout) text += piece;
  return JSON.parse(text) as KillReport;
}

if (process.argv[1] === OWN_PATH) {
  console.log(JSON.stringify(await runKills(JSON.parse(process.argv[2]!) as KillRunOptions)));
  process.exit(0);
}
