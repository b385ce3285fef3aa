// The settings that the service gives its page: the names of the files that belong to it, and the operator's basemap.
// src/server/routes/console-page.ts writes it.

interface Shipped {
  readonly version: string;
  /** False: the page is a plain file, and there is no API. */
  readonly hasService: boolean;
  /** Links have the code in their path, `/HN-6GHP4-83RFR`, so that chats show a preview. */
  readonly hasPathLinks: boolean;
  /** Addresses of files by their part: bundle-console.mjs names the parts. */
  readonly files: Readonly<
    Record<
      | 'kernel'
      | 'index'
      | 'reach'
      | 'land'
      | 'rivers'
      | 'fileWorker'
      | 'fleetWorker'
      | 'zoneWorker'
      | 'countWorker'
      | 'mapWorker'
      | 'mapLibraryWorker'
      | 'mapStyle'
      | 'laterStyle',
      string
    >
  >;
  readonly basemap: {
    readonly url: string;
    readonly attribution: string;
    /** Contents of the service's own archive; null: the map is another host's. */
    readonly archive: ShippedArchive | null;
  } | null;
}

export interface ShippedArchive {
  readonly isVector: boolean;
  readonly minZoom: number;
  readonly maxZoom: number;
  /** West, south, east and north, degrees. */
  readonly bounds: [number, number, number, number];
}

const meta = document.querySelector<HTMLMetaElement>('meta[name="hexcodes"]');

const given = JSON.parse(meta?.content ?? '') as Shipped;

export const shipped: Shipped = {
  ...given,
  // Workers would read paths as beside themselves.
  files: Object.fromEntries(
    Object.entries(given.files).map(([part, path]) => [part, new URL(path, document.baseURI).href]),
  ) as Shipped['files'],
};
