// The settings that the service gives its page: the names of the files that belong to it, and the operator's basemap.
// src/server/routes/console.ts writes it.

interface Shipped {
  readonly version: string;
  /** Paths of files by their part: bundle-console.mjs names the parts. */
  readonly files: Readonly<
    Record<
      | 'kernel'
      | 'index'
      | 'reach'
      | 'land'
      | 'rivers'
      | 'fileWorker'
      | 'mapWorker'
      | 'mapLibraryWorker'
      | 'mapStyle',
      string
    >
  >;
  readonly basemap: { readonly url: string; readonly attribution: string } | null;
}

const meta = document.querySelector<HTMLMetaElement>('meta[name="hexcodes"]');

export const shipped = JSON.parse(meta?.content ?? '') as Shipped;

/** Between attempts at a file, where a network fails for a moment. */
const PAUSES_MS = [500, 2000];

/** The bytes of a file. @throws TypeError where the service cannot be reached */
export async function bytesOf(part: keyof Shipped['files']): Promise<Uint8Array<ArrayBuffer>> {
  const path = shipped.files[part];
  for (const waitMs of [...PAUSES_MS, undefined]) {
    try {
      const answer = await fetch(path);
      if (!answer.ok) throw new TypeError(`${path}: ${answer.status}`);
      return new Uint8Array(await answer.arrayBuffer());
    } catch (error) {
      if (waitMs === undefined) throw error;
      await new Promise((resolve) => setTimeout(resolve, waitMs));
    }
  }
  throw new TypeError(path);
}
