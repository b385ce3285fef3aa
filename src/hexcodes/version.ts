// The version of the package, as package.json says; a test holds the two together.
export const VERSION = '0.3.0';
