// Bytes that the system has not brought to the peers of this process yet. A socket that is closed with bytes of its
// peer unread resets the connection, and what had not arrived is lost; so a stop looks here before it closes what is
// left.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

const LISTENING = '0A';

/** Unsent bytes of all connected TCP sockets of this process; 0 where the system does not tell (not Linux). */
export function unsentBytes(): number {
  try {
    const own = socketsOf('/proc/self/fd');
    return sumOf('/proc/self/net/tcp', own) + sumOf('/proc/self/net/tcp6', own);
  } catch {
    return 0;
  }
}

/** The inodes of all open sockets. */
function socketsOf(folder: string): ReadonlySet<string> {
  const inodes = new Set<string>();
  for (const fd of readdirSync(folder)) {
    try {
      const inode = /^socket:\[(\d+)\]$/.exec(readlinkSync(`${folder}/${fd}`))?.[1];
      if (inode !== undefined) inodes.add(inode);
    } catch {
      // Closed since the folder was read, as that of the folder itself.
    }
  }
  return inodes;
}

/** Columns: number, local, remote, state, tx:rx, timer, retransmits, user, timeout, inode (proc(5)). */
function sumOf(table: string, inodes: ReadonlySet<string>): number {
  let sum = 0;
  for (const line of readFileSync(table, 'latin1').split('\n').slice(1)) {
    const columns = line.trim().split(/\s+/);
    if (columns[3] === LISTENING || !inodes.has(columns[9] ?? '')) continue;
    sum += Number.parseInt(columns[4] ?? '0', 16);
  }
  return sum;
}
