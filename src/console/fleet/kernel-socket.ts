// The other end of the stream where there is no service, as in the demo: the kernel of the worker answers the frames.
import type { SocketEvents, StreamSocket } from '../../hexcodes/client/stream/socket.js';
import { answerFrame } from '../../hexcodes/wire/frames/answer-frame.js';
import { MAX_FRAME_BYTES, MAX_FRAME_POINTS } from '../../hexcodes/wire/limits.js';
import { type KernelPaths, kernelOf } from '../shell/worker-kernel.js';

/** As the service says of itself. */
const READY = JSON.stringify({
  type: 'ready',
  format: 1,
  max_frame_bytes: MAX_FRAME_BYTES,
  max_points: MAX_FRAME_POINTS,
  window: 16,
  window_bytes: 4 * 2 ** 20,
});

export async function openKernelSocket(paths: KernelPaths, events: SocketEvents): Promise<StreamSocket> {
  const kernel = await kernelOf(paths);
  let isOpen = true;
  // Events follow the call, as of a socket.
  setTimeout(() => events.text(READY));
  const end = (): void => {
    isOpen = false;
  };
  return {
    send: (frame) => void setTimeout(() => isOpen && events.binary(answerFrame(kernel, frame))),
    close: end,
    drop: end,
  };
}
