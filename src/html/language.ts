/** Detects the language of a text, because pages often declare none, or that of their template. */

/** With fewer letters every language resembles another. */
const MIN_LETTERS = 60;

/** More text makes detection slower, not more reliable. */
const MAX_SAMPLE_LENGTH = 1_000;

const LETTERS = /\p{L}+/gu;

/** Loaded once, by a worker before it begins: its tables take a third of a second, in which nothing else is done, and 30 MB. */
let detector: Promise<typeof import('eld/extrasmall')> | undefined;

export async function loadDetector(): Promise<void> {
  detector ??= import('eld/extrasmall');
  await detector;
}

/** An ISO 639-1 code, or null if there are too few letters or the result is not reliable. */
export async function detectLanguage(text: string): Promise<string | null> {
  const sample = text.slice(0, MAX_SAMPLE_LENGTH);
  if ((sample.match(LETTERS) ?? []).join('').length < MIN_LETTERS) return null;
  detector ??= import('eld/extrasmall');
  const { eld } = await detector;
  const result = eld.detect(sample);
  return result.language !== '' && result.isReliable() ? result.language : null;
}
