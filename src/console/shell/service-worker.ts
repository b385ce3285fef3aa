// The service worker: caches all files of one version of the page, and answers with them. The page itself is
// requested first, so that a new version is visible at once; if the network hangs, fails or redirects, the cached
// page answers. Files have a hash in their names, so a cached one is right.

/** Written before this script by src/server/routes/console-page.ts. */
declare const SHELL: { readonly version: string; readonly paths: readonly string[] };

/** The types of service workers, which lib.dom does not have. */
interface ExtendableEvent extends Event {
  waitUntil(work: Promise<unknown>): void;
}
interface FetchEvent extends ExtendableEvent {
  readonly request: Request;
  respondWith(answer: Promise<Response>): void;
}
interface Worker {
  readonly clients: { claim(): Promise<void> };
  addEventListener(name: 'install' | 'activate', listener: (event: ExtendableEvent) => void): void;
  addEventListener(name: 'fetch', listener: (event: FetchEvent) => void): void;
}
const worker = self as unknown as Worker;

const PREFIX = 'hexcodes-console-';
const CACHE = PREFIX + SHELL.version;
/** Longest wait for the network. */
const MAX_WAIT_MS = 2000;
/** A mark in every version of the page, and in no page of a captive portal. */
const OWN_MARK = '<meta name="hexcodes"';
/** The API page of a service and what it loads, cached when visited: they are larger than the map. */
const DOCS = ['/docs', '/docs/viewer.js', '/docs/icon.svg', '/openapi.json'];
/** The folder of the page, which is where this script is. */
const ROOT = new URL('./', location.href).pathname;
/** A link with the code in its path: a cached page opens it by itself, and the service does not learn of it. */
const CODE_PATH = /^\/[a-z]{2,3}-[0-9a-z-]{3,20}$/i;

worker.addEventListener('install', (event) => {
  event.waitUntil(caches.open(CACHE).then((cache) => cache.addAll([...SHELL.paths])));
});

// Runs when no tab has the previous version any more, so nothing that is removed is still needed.
worker.addEventListener('activate', (event) => {
  const removeOld = async (): Promise<void> => {
    const names = await caches.keys();
    const old = names.filter((name) => name.startsWith(PREFIX) && name !== CACHE);
    await Promise.all(old.map((name) => caches.delete(name)));
    await worker.clients.claim();
  };
  event.waitUntil(removeOld());
});

worker.addEventListener('fetch', (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (request.method !== 'GET' || origin !== location.origin) return;
  if (request.mode === 'navigate' && ROOT === '/' && CODE_PATH.test(pathname))
    event.respondWith(Promise.resolve(Response.redirect(`/#${pathname.slice(1)}`)));
  else if (pathname === ROOT) event.respondWith(fresh(request));
  else if (ROOT === '/' && DOCS.includes(pathname)) event.respondWith(visited(request, pathname));
  else if (pathname.startsWith(`${ROOT}assets/`)) event.respondWith(kept(request));
});

async function fresh(request: Request): Promise<Response> {
  const asked = fetch(request);
  const kept = await caches.match(ROOT, { cacheName: CACHE, ignoreVary: true });
  if (kept === undefined) return asked;
  const late = new Promise<undefined>((resolve) => setTimeout(resolve, MAX_WAIT_MS));
  return (await Promise.race([asked.then(ours).catch(() => undefined), late])) ?? kept.clone();
}

/** The answer if it is the page: a captive portal answers with a redirection or with a page of its own. */
async function ours(answer: Response): Promise<Response | undefined> {
  if (answer.status !== 200 || answer.redirected) return undefined;
  return (await answer.clone().text()).includes(OWN_MARK) ? answer : undefined;
}

async function visited(request: Request, path: string): Promise<Response> {
  const cache = await caches.open(CACHE);
  const answer = await fetch(request).catch(() => undefined);
  // A full disk refuses the copy.
  if (answer?.status === 200 && !answer.redirected)
    await cache.put(path, answer.clone()).catch(() => undefined);
  return answer ?? (await cache.match(path, { ignoreVary: true })) ?? Response.error();
}

async function kept(request: Request): Promise<Response> {
  return (await caches.match(request, { cacheName: CACHE, ignoreVary: true })) ?? fetch(request);
}
