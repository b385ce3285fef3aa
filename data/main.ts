// `npm run data`: builds the boundary index from data/sources/; with flags, from boundaries that a user brings.
