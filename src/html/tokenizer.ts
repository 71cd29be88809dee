/**
 * parse5's tokenizer, with a longer step: it takes characters one by one through a machine of eighty states, most of which
 * do the same to all but a few of them. Here a state takes all it would treat alike at once. Everything else is left to parse5.
 */
import { Token, type TokenHandler, Tokenizer, type TokenizerOptions } from 'parse5';
import type { Bounds } from './bounds.ts';

/** States that stop at the same characters, as bits of STOPS. */
const TEXT = 1;
const RAW_TEXT = 2;
const SPACE = 4;
const WORD = 8;
const NAME = 16;
const DOUBLE_QUOTED = 32;
const SINGLE_QUOTED = 64;
const UNQUOTED = 128;

const ASCII = 128;

/** Of one tag. From there on a set says which there are: compared one with another, as parse5 does, 50,000 took 4 s. */
const FEW_ATTRIBUTES = 32;

/** By character: which states do something else there. NUL is replaced, and CR is read as LF. */
const STOPS = new Uint8Array(ASCII);
stop('\0\r', 255);
stop('<', TEXT | RAW_TEXT | WORD);
stop('&', TEXT | WORD | DOUBLE_QUOTED | SINGLE_QUOTED | UNQUOTED);
stop(' \n\t\f', WORD | NAME | UNQUOTED);
stop('>', NAME | UNQUOTED);
stop('/=ABCDEFGHIJKLMNOPQRSTUVWXYZ', NAME);
stop('"', DOUBLE_QUOTED);
stop("'", SINGLE_QUOTED);
for (let unit = 0; unit < ASCII; unit += 1) if (!isSpace(unit)) STOPS[unit] = (STOPS[unit] ?? 0) | SPACE;

export class RunTokenizer extends Tokenizer {
  /** Words may be taken together with the white space after them. */
  private mixes = true;
  /** Of the attributes of `crowded`, the last tag with more than a few. */
  private names = new Set<string>();
  private crowded: Token.TagToken | null = null;

  constructor(
    options: TokenizerOptions,
    handler: TokenHandler,
    private readonly bounds: Bounds,
  ) {
    super(options, handler);
  }

  protected override _stateData(cp: number): void {
    if (!this.takeText(cp, TEXT)) super._stateData(cp);
  }

  protected override _stateRcdata(cp: number): void {
    if (!this.takeText(cp, TEXT)) super._stateRcdata(cp);
  }

  protected override _stateRawtext(cp: number): void {
    if (!this.takeText(cp, RAW_TEXT)) super._stateRawtext(cp);
  }

  protected override _stateScriptData(cp: number): void {
    if (!this.takeText(cp, RAW_TEXT)) super._stateScriptData(cp);
  }

  protected override _stateTagName(cp: number): void {
    const token = this.currentToken;
    const name = isTag(token) ? this.take(cp, NAME) : '';
    if (name === '' || !isTag(token)) super._stateTagName(cp);
    else token.tagName += name;
  }

  protected override _stateAttributeName(cp: number): void {
    const name = this.take(cp, NAME);
    if (name === '') super._stateAttributeName(cp);
    else this.currentAttr.name += name;
  }

  protected override _stateAttributeValueDoubleQuoted(cp: number): void {
    const value = this.take(cp, DOUBLE_QUOTED);
    if (value === '') super._stateAttributeValueDoubleQuoted(cp);
    else this.currentAttr.value += value;
  }

  protected override _stateAttributeValueSingleQuoted(cp: number): void {
    const value = this.take(cp, SINGLE_QUOTED);
    if (value === '') super._stateAttributeValueSingleQuoted(cp);
    else this.currentAttr.value += value;
  }

  protected override _stateAttributeValueUnquoted(cp: number): void {
    const value = this.take(cp, UNQUOTED);
    if (value === '') super._stateAttributeValueUnquoted(cp);
    else this.currentAttr.value += value;
  }

  protected override _leaveAttrName(): void {
    const token = this.currentToken;
    if (!isTag(token) || token.attrs.length < FEW_ATTRIBUTES) {
      super._leaveAttrName();
      return;
    }
    if (this.crowded !== token) {
      this.crowded = token;
      this.names = new Set(token.attrs.map(({ name }) => name));
    }
    const { name } = this.currentAttr;
    if (this.names.has(name)) return;
    this.names.add(name);
    token.attrs.push(this.currentAttr);
    // They are parts only when their tag has ended, and must not be too many before.
    this.bounds.expect(token.attrs.length);
  }

  protected override emitCurrentTagToken(): void {
    super.emitCurrentTagToken();
    const name = this.lastStartTagName;
    // Within these words are dropped, and white space is not.
    if (name === 'frameset' || name === 'col' || name === 'colgroup') this.mixes = false;
  }

  private takeText(cp: number, state: number): boolean {
    const goesOn = this.mixes && this.currentCharacterToken?.type === Token.TokenType.CHARACTER;
    const space = !goesOn && isSpace(cp);
    const text = this.take(cp, space ? SPACE : this.mixes ? state : WORD);
    if (text === '') return false;
    const type = space ? Token.TokenType.WHITESPACE_CHARACTER : Token.TokenType.CHARACTER;
    this._appendCharToCurrentCharacterToken(type, text);
    return true;
  }

  /** The characters from this one on that none of the states stops at, as if each had been consumed. */
  private take(cp: number, state: number): string {
    const { preprocessor } = this;
    const { html, pos } = preprocessor;
    // They differ at the end, at CR, and for a character of two units: all left to parse5.
    if (html.charCodeAt(pos) !== cp || stopsAt(cp, state)) return '';
    let end = pos + 1;
    while (end < html.length && !stopsAt(html.charCodeAt(end), state)) end += 1;
    preprocessor.pos = end - 1;
    return html.slice(pos, end);
  }
}

function stopsAt(unit: number, state: number): boolean {
  return unit < ASCII ? ((STOPS[unit] ?? 0) & state) !== 0 : state === SPACE;
}

function isTag(token: Token.Token | null): token is Token.TagToken {
  return token?.type === Token.TokenType.START_TAG || token?.type === Token.TokenType.END_TAG;
}

function isSpace(unit: number): boolean {
  return unit === 0x20 || unit === 0x0a || unit === 0x09 || unit === 0x0c;
}

function stop(characters: string, states: number): void {
  for (const character of characters) {
    const unit = character.charCodeAt(0);
    STOPS[unit] = (STOPS[unit] ?? 0) | states;
  }
}
