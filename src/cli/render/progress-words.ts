/** Numbers in the words of the progress display. */

/** `0.4 s`, `12 s`, `3 min`, `2 h 10 min`: as exact as a person wants it. */
export function inWords(seconds: number): string {
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  if (seconds < 120) return `${Math.round(seconds)} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 120) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.round(hours / 24)} days`;
}

/** `Fetched 12 · Failed 1`, the zeros left out. */
export function countsInWords(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([name, count]) => `${name} ${count.toLocaleString('en')}`)
    .join(' · ');
}
