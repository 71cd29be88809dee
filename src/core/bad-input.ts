/** What somebody typed is wrong: the message is one sentence for that person, and no retry will mend it. */
export class BadInput extends Error {
  override readonly name = 'BadInput';
}
