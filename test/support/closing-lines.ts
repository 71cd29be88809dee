/** The last line is for machines and has one form; the skipped tests are reported before it. */
export function closingLines({
  passed,
  failed,
  skipped,
}: {
  passed: number;
  failed: number;
  skipped: number;
}): string {
  return `${skipped > 0 ? `${skipped} skipped\n` : ''}${passed} passed, ${failed} failed\n`;
}
