// Answers of other servers over HTTP, which may be of any size: a few bytes that are packed can be gigabytes.

export class AnswerTooLong extends Error {}

/**
 * The text of an answer. The caller's signal bounds its time.
 * @throws AnswerTooLong for one that unpacks to more bytes
 */
export async function textWithin({ body }: Response, mostBytes: number): Promise<string> {
  const decoder = new TextDecoder();
  let sizeBytes = 0;
  let text = '';
  for await (const bytes of body ?? []) {
    sizeBytes += bytes.length;
    if (sizeBytes > mostBytes) throw new AnswerTooLong(`its answer has more than ${mostBytes} bytes`);
    text += decoder.decode(bytes, { stream: true });
  }
  return text + decoder.decode();
}
