// The interface of uWebSockets.js as far as we use it, declared here because its own types are wrong (README U2).

export interface UwsResponse {
  writeStatus(status: string): UwsResponse;
  writeHeader(name: string, value: string): UwsResponse;
  /** False on backpressure: uWS holds what the socket did not take. */
  write(bytes: string | Uint8Array): boolean;
  end(body?: string | Uint8Array, closeConnection?: boolean): UwsResponse;
  endWithoutBody(reportedSizeBytes?: number, closeConnection?: boolean): UwsResponse;
  /**
   * [all of `bytes` taken, whole answer complete]. After backpressure, goes on at `getWriteOffset()` from onWritable.
   */
  tryEnd(bytes: string | Uint8Array, totalSizeBytes: number): [boolean, boolean];
  /** Bytes of the body that `tryEnd` has taken so far. */
  getWriteOffset(): number;
  close(): UwsResponse;
  pause(): void;
  resume(): void;
  onWritable(handler: (offsetBytes: number) => boolean): UwsResponse;
  onAborted(handler: () => void): UwsResponse;
  onData(handler: (chunk: ArrayBuffer, isLast: boolean) => void): UwsResponse;
  cork(work: () => void): UwsResponse;
  /** Four bytes or sixteen. Like all of the response, not to be asked for once `onAborted` is called. */
  getRemoteAddress(): ArrayBuffer;
  upgrade<T>(userData: T, key: string, protocol: string, extensions: string, context: UpgradeContext): void;
}

export interface UwsRequest {
  getHeader(lowerCaseName: string): string;
  getParameter(index: number): string | undefined;
  getUrl(): string;
  getMethod(): string;
  /** Undefined if the target has no query. With a name: not used, see README U15. */
  getQuery(name?: string): string | undefined;
  forEach(visit: (lowerCaseName: string, value: string) => void): void;
}

/** Opaque: the upgrade callback receives it and hands it to `upgrade`. */
export type UpgradeContext = object;
export type ListenSocket = object;

export interface UwsWebSocket<T> {
  /** 1: the socket has taken everything; 0: uWS holds a part; 2: dropped, as uWS holds too much already. */
  send(message: string | ArrayBufferView | ArrayBuffer, isBinary: boolean, compress?: boolean): 0 | 1 | 2;
  getBufferedAmount(): number;
  getUserData(): T;
  cork(work: () => void): UwsWebSocket<T>;
  ping(): 0 | 1 | 2;
  end(code?: number, reason?: string): void;
  close(): void;
}

export interface UwsBehaviour<T> {
  maxPayloadLength: number;
  idleTimeout: number;
  maxLifetime: number;
  maxBackpressure: number;
  closeOnBackpressureLimit: boolean;
  sendPingsAutomatically: boolean;
  compression: number;
  upgrade(res: UwsResponse, req: UwsRequest, context: UpgradeContext): void;
  open(ws: UwsWebSocket<T>): void;
  /** The message is detached when the callback returns (README U9). */
  message(ws: UwsWebSocket<T>, message: ArrayBuffer, isBinary: boolean): void;
  drain(ws: UwsWebSocket<T>): void;
  ping?(ws: UwsWebSocket<T>, message: ArrayBuffer): void;
  pong?(ws: UwsWebSocket<T>, message: ArrayBuffer): void;
  close(ws: UwsWebSocket<T>, code: number, reason: ArrayBuffer): void;
}

type Handler = (res: UwsResponse, req: UwsRequest) => void;
export type UwsMethod = 'get' | 'post' | 'head' | 'options' | 'put' | 'del' | 'patch' | 'any';

export type UwsApp = Record<UwsMethod, (pattern: string, handler: Handler) => UwsApp> & {
  ws<T>(pattern: string, behaviour: UwsBehaviour<T>): UwsApp;
  /** Called with 1 for a connection that opens, and -1 for one that closes. */
  filter(counted: (res: UwsResponse, change: number) => void): UwsApp;
  listen(host: string, port: number, options: number, done: (socket: ListenSocket | false) => void): UwsApp;
  close(): UwsApp;
};

export interface Uws {
  App(): UwsApp;
  us_listen_socket_close(socket: ListenSocket): void;
  us_socket_local_port(socket: ListenSocket): number;
  readonly LIBUS_LISTEN_EXCLUSIVE_PORT: number;
  readonly DISABLED: number;
}

let isPausePrimed = false;

/**
 * To be called with the first request of the process, before anything is written to it: makes sure that a socket which
 * is paused later is read again after `resume` (README U27).
 */
export function primePause(res: UwsResponse): void {
  if (isPausePrimed) return;
  isPausePrimed = true;
  res.pause();
  res.resume();
}
