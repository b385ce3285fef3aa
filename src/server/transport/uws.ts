// uWebSockets.js as it is: its own types leave out what exists at run time only (LIBUS_LISTEN_EXCLUSIVE_PORT, DISABLED),
// promise what does not exist (ListenOptions) and hide that getQuery() is undefined without a query.

export interface UwsResponse {
  writeStatus(status: string): UwsResponse;
  writeHeader(name: string, value: string): UwsResponse;
  write(bytes: string | Uint8Array): boolean;
  end(body?: string | Uint8Array, closeConnection?: boolean): UwsResponse;
  endWithoutBody(reportedSizeBytes?: number, closeConnection?: boolean): UwsResponse;
  /** [no back-pressure, whole answer sent]; to go on after back-pressure see onWritable. */
  tryEnd(bytes: Uint8Array, totalSizeBytes: number): [boolean, boolean];
  /** Bytes of the answer that `tryEnd` has handed over so far. */
  getWriteOffset(): number;
  close(): UwsResponse;
  pause(): void;
  resume(): void;
  onWritable(handler: (offsetBytes: number) => boolean): UwsResponse;
  onAborted(handler: () => void): UwsResponse;
  onData(handler: (chunk: ArrayBuffer, isLast: boolean) => void): UwsResponse;
  cork(work: () => void): UwsResponse;
  getRemoteAddressAsText(): ArrayBuffer;
  upgrade<T>(userData: T, key: string, protocol: string, extensions: string, context: UpgradeContext): void;
}

export interface UwsRequest {
  getHeader(lowerCaseName: string): string;
  getParameter(index: number): string | undefined;
  getUrl(): string;
  getMethod(): string;
  getQuery(): string | undefined;
  forEach(visit: (lowerCaseName: string, value: string) => void): void;
}

/** Opaque; handed from the upgrade callback back to `upgrade`. */
export type UpgradeContext = object;
export type ListenSocket = object;

export interface UwsWebSocket<T> {
  /** 1 sent, 0 buffered, 2 dropped. */
  send(message: string | ArrayBufferView | ArrayBuffer, isBinary: boolean, compress?: boolean): 0 | 1 | 2;
  getBufferedAmount(): number;
  getUserData(): T;
  getRemoteAddressAsText(): ArrayBuffer;
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
  /** The message is neutered after the callback. */
  message(ws: UwsWebSocket<T>, message: ArrayBuffer, isBinary: boolean): void;
  drain(ws: UwsWebSocket<T>): void;
  close(ws: UwsWebSocket<T>, code: number, reason: ArrayBuffer): void;
}

type Handler = (res: UwsResponse, req: UwsRequest) => void;
export type UwsMethod = 'get' | 'post' | 'head' | 'options' | 'put' | 'del' | 'patch' | 'any';

export type UwsApp = Record<UwsMethod, (pattern: string, handler: Handler) => UwsApp> & {
  ws<T>(pattern: string, behaviour: UwsBehaviour<T>): UwsApp;
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

let isReadingPrimed = false;

/**
 * To be called with the first request of the process, before anything is written. `pause` keeps what the socket was
 * watched for, but not with the socket: in one place for all that have bytes waiting to be sent and one for all that have
 * none. `resume` takes it from there, and where no socket has kept anything yet it finds "nothing": the socket would never
 * be read again. The first socket of the process waits to be read and has nothing to send, so it fills the second place;
 * the first is filled when a socket that has bytes waiting is paused, as every one is before it is resumed.
 */
export function primeReading(res: UwsResponse): void {
  if (isReadingPrimed) return;
  isReadingPrimed = true;
  res.pause();
  res.resume();
}
