// Messages between the service and the thread that holds its admin port.

/** Given to the thread when it starts. */
export interface PortStart {
  readonly host: string;
  readonly port: number;
  /** That the port is asked by, beside those that nobody else can have. */
  readonly names: readonly string[];
  /** Shared memory of a Pulse; undefined: the service answers every path. */
  readonly pulse: SharedArrayBuffer | undefined;
  /** Paths of pages that are the same for whoever asks: those who ask at the same time get one rendering. */
  readonly shared: readonly string[];
  /** Memory of the thread's heartbeat. */
  readonly heart: SharedArrayBuffer;
}

/** One call, with a body of at most MAX_CALL_BYTES. */
export interface AdminCall {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, readonly string[] | undefined>>;
  /** As Node writes it; '' if the connection is gone. */
  readonly peerAddress: string;
  /** Undefined if it has more bytes. */
  readonly body: Uint8Array | undefined;
}

/** More than any route takes. */
export const MAX_CALL_BYTES = 64 * 1024;

/** Calls of the thread that the service has not answered; further ones wait in the thread. */
export const MAX_SERVICE_CALLS = 4;

/** Bytes of answers in the thread that their readers have not taken; a call that finds more is answered 503. */
export const MAX_UNREAD_BYTES = 32 * 1024 * 1024;

export interface AdminAnswer {
  readonly status: number;
  readonly type: string;
  readonly body: string | Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
}

export type FromThread =
  | { readonly kind: 'listening'; readonly port: number }
  | { readonly kind: 'cannot listen'; readonly code: string | undefined; readonly message: string }
  | { readonly kind: 'call'; readonly id: number; readonly call: AdminCall };

export type ToThread =
  | { readonly kind: 'answer'; readonly id: number; readonly answer: AdminAnswer }
  | { readonly kind: 'close' };
