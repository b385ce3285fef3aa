// Types of judges: the part of duckdb-wasm that tests use, as its own types describe the browser, and which-polygon.

declare module '@duckdb/duckdb-wasm/dist/duckdb-node-blocking.cjs' {
  interface Bundle {
    mainModule: string;
    mainWorker: string;
  }
  interface Row {
    toJSON(): Record<string, unknown>;
  }
  interface Connection {
    query(sql: string): { toArray(): Row[] };
    insertArrowFromIPCStream(bytes: Uint8Array, options: { name: string; create: boolean }): void;
  }
  interface Database {
    instantiate(): Promise<unknown>;
    connect(): Connection;
  }
  export const NODE_RUNTIME: unknown;
  export class VoidLogger {}
  export function createDuckDB(
    bundles: { mvp: Bundle; eh: Bundle },
    logger: VoidLogger,
    runtime: unknown,
  ): Promise<Database>;
}

declare module 'which-polygon' {
  export default function whichPolygon<P>(collection: unknown): (lngLat: [number, number]) => P | null;
}
