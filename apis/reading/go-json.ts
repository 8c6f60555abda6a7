// JSON as Go's encoding/json writes it, and a parser with its error messages, which kube-apiserver returns.

/** Maximum nesting, as in Go. */
const MAX_DEPTH = 10_000;
const ESCAPED = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const LITERALS: Readonly<Record<string, string>> = { t: 'true', f: 'false', n: 'null' };

/** Escapes the characters of a JSON text that Go escapes, because they are special in HTML and JavaScript. */
export function goEscaped(json: string): string {
  return json.replace(
    /[<>&\u2028\u2029]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

class JSONError extends Error {}

type Expected = 'value' | 'first-value' | 'key' | 'first-key' | 'colon' | 'more' | 'nothing';

/** Returns the error message for invalid JSON, or undefined for valid JSON. */
export function jsonError(bytes: Buffer): string | undefined {
  // As in Go, each byte is a character, and the end of the text counts as a space.
  const scan = new Scan(`${bytes.toString('latin1')} `);
  try {
    while (scan.next());
    return scan.complete ? undefined : 'unexpected end of JSON input';
  } catch (error) {
    if (error instanceof JSONError) return error.message;
    throw error;
  }
}

class Scan {
  readonly #text: string;
  #at = 0;
  #expected: Expected = 'value';
  /** The closing brackets of open objects and arrays. */
  readonly #ends: ('}' | ']')[] = [];

  constructor(text: string) {
    this.#text = text;
  }

  get complete(): boolean {
    return this.#expected === 'nothing';
  }

  /** Scans the next token. Returns false at the end. */
  next(): boolean {
    this.#take(/[ \t\r\n]*/y);
    const char = this.#text[this.#at];
    if (char === undefined) return false;
    switch (this.#expected) {
      case 'nothing':
        throw this.#error('after top-level value');
      case 'first-value':
        if (char === ']') return this.#close();
        return this.#value(char);
      case 'value':
        return this.#value(char);
      case 'first-key':
        if (char === '}') return this.#close();
        return this.#key(char);
      case 'key':
        return this.#key(char);
      case 'colon':
        return this.#punctuation(char, { ':': 'value' }, 'after object key');
      default:
        if (char === this.#ends.at(-1)) return this.#close();
        return this.#ends.at(-1) === '}'
          ? this.#punctuation(char, { ',': 'key' }, 'after object key:value pair')
          : this.#punctuation(char, { ',': 'value' }, 'after array element');
    }
  }

  #punctuation(char: string, then: Readonly<Record<string, Expected>>, where: string): true {
    const expected = then[char];
    if (expected === undefined) throw this.#error(where);
    this.#at++;
    this.#expected = expected;
    return true;
  }

  #key(char: string): boolean {
    if (char !== '"') throw this.#error('looking for beginning of object key string');
    if (!this.#string()) return false;
    this.#expected = 'colon';
    return true;
  }

  #value(char: string): boolean {
    if (char === '{') return this.#open('}', 'first-key');
    if (char === '[') return this.#open(']', 'first-value');
    const literal = LITERALS[char];
    if (char === '"') {
      if (!this.#string()) return false;
    } else if (literal !== undefined) this.#literal(literal);
    else if (/[-\d]/.test(char)) this.#number();
    else throw this.#error('looking for beginning of value');
    this.#ended();
    return true;
  }

  #open(end: '}' | ']', expected: Expected): true {
    if (this.#ends.length === MAX_DEPTH) throw this.#error('exceeded max depth');
    this.#ends.push(end);
    this.#at++;
    this.#expected = expected;
    return true;
  }

  #close(): true {
    this.#ends.pop();
    this.#at++;
    this.#ended();
    return true;
  }

  #ended(): void {
    this.#expected = this.#ends.length === 0 ? 'nothing' : 'more';
  }

  /** Returns false if the text ends within the string. */
  #string(): boolean {
    this.#at++;
    for (;;) {
      this.#take(/[ !#-[\]-\u00ff]*/y);
      const char = this.#text[this.#at];
      if (char === undefined) return false;
      if (char === '"') {
        this.#at++;
        return true;
      }
      if (char !== '\\') throw this.#error('in string literal');
      if (!this.#take(ESCAPED)) throw this.#escapeError();
    }
  }

  #escapeError(): JSONError {
    this.#at++;
    if (this.#text[this.#at] !== 'u') return this.#error('in string escape code');
    this.#take(/u[0-9a-fA-F]*/y);
    return this.#error('in \\u hexadecimal character escape');
  }

  #literal(word: string): void {
    for (const char of word) {
      if (this.#text[this.#at] !== char) throw this.#error(`in literal ${word} (expecting '${char}')`);
      this.#at++;
    }
  }

  #number(): void {
    this.#take(/-?/y);
    if (!this.#take(/0|[1-9]\d*/y)) throw this.#error('in numeric literal');
    if (this.#take(/\./y) && !this.#take(/\d+/y)) throw this.#error('after decimal point in numeric literal');
    if (this.#take(/[eE][-+]?/y) && !this.#take(/\d+/y)) throw this.#error('in exponent of numeric literal');
  }

  #take(pattern: RegExp): boolean {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text);
    if (found) this.#at += found[0].length;
    return found !== null;
  }

  /** The error for the next character. */
  #error(where: string): JSONError {
    return new JSONError(`invalid character ${quotedByte(this.#text.charCodeAt(this.#at))} ${where}`);
  }
}

const NAMED: ReadonlyMap<number, string> = new Map(
  Object.entries({ 7: 'a', 8: 'b', 9: 't', 10: 'n', 11: 'v', 12: 'f', 13: 'r', 39: "'", 92: '\\' }).map(
    ([code, name]) => [Number(code), `\\${name}`],
  ),
);

/** Quotes a character like Go's strconv.QuoteRune. */
function quotedByte(code: number): string {
  const hex = (digits: number): string => code.toString(16).padStart(digits, '0');
  const printable = code >= 0x20 && code !== 0x7f && !(code >= 0x80 && code <= 0xa0) && code !== 0xad;
  const escape = code < 0x80 ? `\\x${hex(2)}` : `\\u${hex(4)}`;
  return `'${NAMED.get(code) ?? (printable ? String.fromCharCode(code) : escape)}'`;
}
