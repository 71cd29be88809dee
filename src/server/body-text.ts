/** The beginning of a stored body, as text and as nothing else. */
import type { ContentLocation } from '../core/content-location.ts';
import { decodeHtml } from '../html/encodings.ts';
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
      reason: `Not shown: ${contentType ?? 'unknown type'}.`,
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
  const body = Buffer.concat(chunks);
  const more = body.length > MAX_BYTES;
  const shown = more ? body.subarray(0, endOfCharacter(body, MAX_BYTES)) : body;
  return { kind: 'text', text: decodeHtml(shown, contentType ?? undefined).text, more };
}

/** At most `end`: half a character at the end of a text in UTF-8 would be taken for another encoding. */
function endOfCharacter(body: Buffer, end: number): number {
  let start = end;
  while (start > end - 4 && ((body[start] ?? 0) & 0xc0) === 0x80) start -= 1;
  return start;
}
