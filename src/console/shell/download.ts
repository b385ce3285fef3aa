// Gives the visitor a file.

/** The browser reads the file after the click; it is let go of when that is surely done. */
const KEPT_MS = 60_000;

export function download(file: Blob, name: string): void {
  const url = URL.createObjectURL(file);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), KEPT_MS);
}
