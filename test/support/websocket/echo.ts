// A server that echoes every WebSocket message, on the transport of the service with the service's options. Only tests
// have it.
import { type BareUws, openBareUws } from '../bare-uws.js';

/** Largest message, as the stream's route has it. */
/** Four times the bytes that a frame of the stream may have. */
export const ECHO_LIMIT_BYTES = 4 * 1_310_736;

export function openEcho(): Promise<BareUws> {
  return openBareUws((app, uws) => {
    app.ws('/echo', {
      maxPayloadLength: ECHO_LIMIT_BYTES,
      maxBackpressure: 64 * 1024 * 1024,
      idleTimeout: 960,
      maxLifetime: 0,
      closeOnBackpressureLimit: true,
      sendPingsAutomatically: true,
      compression: uws.DISABLED,
      upgrade: (res, req, context) => {
        // Without an object uWS ends the process.
        res.upgrade({}, req.getHeader('sec-websocket-key'), '', '', context);
      },
      open: () => {},
      drain: () => {},
      close: () => {},
      message: (ws, message, isBinary) => void ws.send(message, isBinary),
    });
  });
}
