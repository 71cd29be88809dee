/** The beginning of a stored body, as text and as nothing else. */
import type { ContentLocation } from '../core/content-location.ts';
import { openContentStore } from '../worker/open-content-store.ts';

export type BodyText =
  | { kind: 'text'; text: string; more: boolean }
  /** Not a text, or not readable on this machine. */
  | { kind: 'unavailable'; reason: string };

const MAX_BYTES = 16 * 1024;

export async function readBodyText(
  contentStore: ContentLocation,
  { contentHash, contentType }: { contentHash: string; contentType: string | null },
): Promise<BodyText> {
  if (!/^text\/|[/+](xml|json)\b/i.test(contentType ?? ''))
    return {
      kind: 'unavailable',
      reason: `It is ${contentType ?? 'of an unknown type'}, which is not shown.`,
    };
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of openContentStore(contentStore).stream(contentHash)) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > MAX_BYTES) break;
    }
  } catch {
    return { kind: 'unavailable', reason: 'The content store of this machine does not have it.' };
  }
  const text = new TextDecoder().decode(Buffer.concat(chunks).subarray(0, MAX_BYTES));
  return { kind: 'text', text, more: bytes > MAX_BYTES };
}
