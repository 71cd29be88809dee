/** What a server sent, cut to a length that a sentence, a row and a workflow's history can bear. */
export function clip(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1)}…`;
}
