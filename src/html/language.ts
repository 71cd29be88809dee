/** Which language a text is written in, by its letter groups; for pages that do not say, or say what their template said. */

/** In fewer letters every language looks like some other. */
const LEAST_LETTERS = 60;

/** More text makes it slower, not surer. */
const MOST_LENGTH = 1_000;

const LETTERS = /\p{L}+/gu;

/** Loaded with the first page that needs it: its tables take a third of a second and 30 MB. */
let detector: Promise<typeof import('eld/extrasmall')> | undefined;

/** ISO 639-1; null: too few letters, or a language that is not known well enough. */
export async function detectLanguage(text: string): Promise<string | null> {
  const sample = text.slice(0, MOST_LENGTH);
  if ((sample.match(LETTERS) ?? []).join('').length < LEAST_LETTERS) return null;
  detector ??= import('eld/extrasmall');
  const { eld } = await detector;
  const result = eld.detect(sample);
  return result.language !== '' && result.isReliable() ? result.language : null;
}
