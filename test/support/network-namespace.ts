// Runs a program in a network namespace of its own, with the receive buffers of its sockets as they are wanted.
import { spawnSync } from 'node:child_process';

/** Maximum below 512 KiB: no peer can fill the buffer of uWS, so every socket gets its turn. */
export const SMALL_RMEM = '4096 131072 400000';

/** Whether this process may make namespaces: as root, on Linux. */
export function canHaveNamespaces(): boolean {
  return spawnSync('unshare', ['-n', 'true'], { stdio: 'ignore' }).status === 0;
}

/**
 * @param net `small`: net.ipv4.tcp_rmem is SMALL_RMEM; `system`: as the system makes it
 * @param command program and arguments, which get the input and outputs of this process
 * @returns exit status of the program
 */
export function runInNamespace(net: string, command: readonly string[]): number | null {
  const rmem = net === 'small' ? `echo '${SMALL_RMEM}' > /proc/sys/net/ipv4/tcp_rmem && ` : '';
  const script = `ip link set lo up && ${rmem}exec "$@"`;
  return spawnSync('unshare', ['-n', 'sh', '-c', script, 'sh', ...command], { stdio: 'inherit' }).status;
}
