/** Bytes to text as the HTML standard has it: BOM, then the header's charset, then <meta>, then a guess. */
import { isUtf8 } from 'node:buffer';
import { TextDecoder } from 'node:util';
import { getEncoding } from 'encoding-sniffer';

export function decodeHtml(body: Buffer, contentType: string | undefined): string {
  const declared = charsetOf(contentType);
  const encoding = getEncoding(body, {
    ...(declared === null ? {} : { transportLayerEncodingLabel: declared }),
    // Undeclared text that is valid UTF-8 is UTF-8; anything else is read as browsers read the old web.
    defaultEncoding: isUtf8(body) ? 'utf-8' : 'windows-1252',
  });
  return decoderFor(encoding).decode(body);
}

export function isHtml(contentType: string | undefined): boolean {
  const essence = (contentType ?? '').split(';', 1)[0]?.trim().toLowerCase();
  return essence === 'text/html' || essence === 'application/xhtml+xml';
}

function charsetOf(contentType: string | undefined): string | null {
  return /;\s*charset\s*=\s*["']?([^\s;"']+)/i.exec(contentType ?? '')?.[1] ?? null;
}

/** A few encodings of the standard are names only (replacement, x-user-defined): their text is lost, their links are not. */
function decoderFor(encoding: string): TextDecoder {
  try {
    return new TextDecoder(encoding);
  } catch {
    return new TextDecoder('windows-1252');
  }
}
