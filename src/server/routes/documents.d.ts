// Types of dist/server/routes/documents.js, which build.mjs writes: documents that describe the service.

/** The OpenAPI document, JSON. */
export const OPENAPI: string;
/** The AsyncAPI document of the stream, JSON. */
export const ASYNCAPI: string;
