// UUIDs as text of 36 characters and as 16 bytes (RFC 9562).

export function uuidText(bytes: Uint8Array): string {
  const hex = Buffer.from(bytes).toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

export function uuidBytes(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text.replaceAll('-', ''), 'hex'));
}
