// The largest receive buffer that the system gives a connection. uWS reads up to 512 KiB at a time and reads the same
// socket again while the peer fills that (README U28), so a smaller maximum makes sure that every peer gets its turn.
import { readFileSync } from 'node:fs';

const UWS_RECEIVE_BUFFER_BYTES = 512 * 1024;
const SETTING = '/proc/sys/net/ipv4/tcp_rmem';

/** The value that docs/http.md recommends. */
const RECOMMENDED = '4096 131072 400000';

/**
 * @param read gives the setting's text: least, default and greatest size in bytes
 * @returns a sentence for the log where a peer can fill the buffer; undefined where none can, or where the system has
 *   no such setting
 */
export function receiveBufferWarning(
  read = (): string => readFileSync(SETTING, 'latin1'),
): string | undefined {
  let greatestBytes: number;
  try {
    greatestBytes = Number(read().trim().split(/\s+/)[2]);
  } catch {
    return undefined;
  }
  if (!(greatestBytes >= UWS_RECEIVE_BUFFER_BYTES)) return undefined;
  return `net.ipv4.tcp_rmem lets a peer fill the receive buffer of the transport (${greatestBytes} bytes), so a fast one can keep others waiting; set it to "${RECOMMENDED}" (docs/http.md)`;
}
