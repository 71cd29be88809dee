/** Parsed rules in use, so that not every page parses its site's robots.txt again; the longest unused go first. */
import { parseRobots, type RobotsRules } from './rules.ts';

export interface StoredText {
  origin: string;
  token: string;
  /** Tells one version of the text from the next. */
  fetchedAt: number;
  text: string;
}

interface Kept extends StoredText {
  rules: RobotsRules;
}

export class ParsedRules {
  private readonly kept = new Map<string, Kept>();
  private characters = 0;

  /** Bounded by length, not by number: a hostile host may have many names, and 500 KiB of rules for each. */
  constructor(private readonly maxCharacters: number) {}

  get(stored: StoredText): RobotsRules {
    const { origin } = stored;
    const known = this.kept.get(origin);
    const isSame = known?.fetchedAt === stored.fetchedAt && known.token === stored.token;
    const rules = isSame ? known.rules : parseRobots(stored.text, stored);
    if (known) this.drop(known);
    this.kept.set(origin, { ...stored, rules });
    this.characters += stored.text.length;
    for (const oldest of this.kept.values()) {
      if (this.characters <= this.maxCharacters) break;
      this.drop(oldest);
    }
    return rules;
  }

  private drop({ origin, text }: Kept): void {
    this.kept.delete(origin);
    this.characters -= text.length;
  }
}
