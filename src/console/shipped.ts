// The settings that the service gives its page: the names of the files that belong to it, and the operator's basemap.
// src/server/console/ fill-page.ts writes it.

interface Shipped {
  readonly version: string;
  /** Paths of files by their part: bundle-console.mjs names the parts. */
  readonly files: Readonly<
    Record<
      'kernel' | 'index' | 'reach' | 'land' | 'fileWorker' | 'mapWorker' | 'mapLibraryWorker' | 'mapStyle',
      string
    >
  >;
  readonly basemap: { readonly url: string; readonly attribution: string } | null;
}

const meta = document.querySelector<HTMLMetaElement>('meta[name="hexcodes"]');

export const shipped = JSON.parse(meta?.content ?? '') as Shipped;

/** The bytes of a file. @throws TypeError where the service cannot be reached */
export async function bytesOf(part: keyof Shipped['files']): Promise<Uint8Array<ArrayBuffer>> {
  const answer = await fetch(shipped.files[part]);
  if (!answer.ok) throw new TypeError(`${shipped.files[part]}: ${answer.status}`);
  return new Uint8Array(await answer.arrayBuffer());
}
