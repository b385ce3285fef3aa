// Types of dist/server/routes/documents.js, which build.mjs writes: documents that describe the service.

/** The OpenAPI document, JSON. */
export const OPENAPI: string;
/** The AsyncAPI document of the stream, JSON. */
export const ASYNCAPI: string;
/** The page that shows it, HTML. */
export const API_PAGE: string;
/** The Content-Security-Policy of the page. */
export const API_PAGE_POLICY: string;
