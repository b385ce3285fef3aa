// Registers the service worker, by which the page opens without a network after the first visit. Browsers have service
// workers on https and on this machine only.

export function openOffline(): void {
  if (!('serviceWorker' in navigator)) return;
  const register = (): void => {
    // Not while the page itself still loads. A browser that refuses leaves the page as it is.
    navigator.serviceWorker.register('/service-worker.js').catch(() => undefined);
  };
  if (document.readyState === 'complete') register();
  else addEventListener('load', register, { once: true });
}
