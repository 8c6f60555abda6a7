// Compiler for the JSON paths of CustomResourceDefinitions, with the grammar of kube-apiserver. Paths are written by
// tenants, so only steps with bounded work are supported: fields, indexes, slices and filters with one comparison.
// Source: util/jsonpath/parser.go in client-go of Kubernetes.

export type Step =
  | { readonly kind: 'field'; readonly name: string }
  | Slice
  | { readonly kind: 'filter'; readonly path: JSONPath; readonly comparison: Comparison | undefined };

export interface Slice {
  readonly kind: 'slice';
  readonly start: number;
  /** Undefined for the end of the list. */
  readonly end: number | undefined;
  /** True if the end follows from an index. The end of `[-1]` is then the end of the list. */
  readonly isIndex: boolean;
  readonly stride: number;
}

export interface Comparison {
  readonly operator: string;
  readonly type: LiteralType;
  readonly value: string | number | boolean;
}

/** The types that kube-apiserver distinguishes. It compares no integer with a floating-point number. */
export type LiteralType = 'string' | 'integer' | 'float' | 'boolean';

export type JSONPath = readonly Step[];

/** A path that kube-apiserver accepts. */
interface CompiledPath {
  readonly steps: JSONPath;
  /** Why this server cannot compute the path; undefined if it can. */
  readonly unsupported: string | undefined;
}

/** kube-apiserver cannot parse the path, or it is so unusual that this is not certain. */
export class JSONPathError extends Error {}

/** Longer than any real path, so that the work of the compiler is small. */
export const MAX_LENGTH = 1024;
/** Maximum number of digits of an integer that is exact. */
const INDEX = /^(-?\d{0,15})(?::(-?\d{0,15}))?(?::(-?\d{0,15}))?$/;
const FIELD = /(?:\\[^]|[^\\ \t\r\n.,[\]$@{}])*/y;
const IDENTIFIER = /[A-Za-z_][^ \t\r\n.,[\]$@{}]*/y;
const FILTER = /^([^!<>=]+)([!<>=]+)(.+)$/s;
const EQUALITY: ReadonlySet<string> = new Set(['==', '!=']);
const ORDER: ReadonlySet<string> = new Set(['<', '<=', '>', '>=']);

/** Compiles a path such as `.status.conditions[?(@.type=="Ready")].status`. Throws JSONPathError. */
export function compileJSONPath(path: string): CompiledPath {
  if (path.length > MAX_LENGTH) throw new JSONPathError(`it has more than ${MAX_LENGTH} characters`);
  return new Compiler(path).compile();
}

class Compiler {
  readonly #text: string;
  #at = 0;
  readonly #steps: Step[] = [];
  #unsupported: string | undefined;
  #isAfterDescent = false;

  constructor(text: string) {
    this.#text = text;
  }

  compile(): CompiledPath {
    while (this.#at < this.#text.length) this.#next();
    return { steps: this.#steps, unsupported: this.#unsupported };
  }

  #next(): void {
    if (this.#text.startsWith('[?(', this.#at)) return this.#filter();
    if (this.#text.startsWith('..', this.#at)) return this.#descent();
    const char = this.#text[this.#at] ?? '';
    if (char === '[') return this.#brackets();
    // kube-apiserver skips these, also the `$`, which is not the root.
    const isSkipped = [' ', '@', '$'].includes(char);
    if (char === '.' || isSkipped) this.#at++;
    if (char === '.') return this.#field();
    if (!isSkipped) this.#identifier();
  }

  #field(): void {
    const name = this.#take(FIELD);
    if (name === '*') this.#refuse('the order of the fields that `*` selects is random in kube-apiserver');
    this.#push({ kind: 'field', name: name.replaceAll('\\', '') });
  }

  #descent(): void {
    if (this.#isAfterDescent) throw this.#error();
    this.#at += 2;
    this.#refuse('the order of the fields that `..` selects is random in kube-apiserver');
    if (/^[A-Za-z0-9_]/.test(this.#text.slice(this.#at, this.#at + 1))) this.#field();
    else this.#isAfterDescent = true;
  }

  /** A word, such as `b` in `.a b`. Quoted texts, numbers and all other characters have no use in a column. */
  #identifier(): void {
    const word = this.#take(IDENTIFIER);
    if (word === '') throw this.#error();
    this.#refuse(`the word ${JSON.stringify(word)} is not part of a field`);
  }

  #brackets(): void {
    const end = this.#text.indexOf(']', this.#at);
    const content = this.#text.slice(this.#at + 1, end);
    if (end < 0 || content.includes('\n')) throw this.#error();
    const parts = content.split(',');
    if (parts.length > 1) {
      for (const part of parts) this.#nested(`[${part.replace(/^ +| +$/g, '')}]`);
      this.#refuse('a list of indexes or names in brackets is not supported');
      this.#at = end + 1;
      return;
    }
    const name = /^'([^']*)'$/.exec(content)?.[1];
    // kube-apiserver splits the name at its dots, unless they are escaped.
    if (name !== undefined) for (const step of this.#nested(`.${name}`)) this.#push(step);
    else this.#push(this.#slice(content === '*' ? ':' : content));
    this.#at = end + 1;
  }

  #slice(content: string): Slice {
    const [match, start = '', end, stride = ''] = INDEX.exec(content) ?? [];
    if (match === undefined || [start, end, stride].includes('-')) throw this.#error();
    const isIndex = end === undefined;
    return {
      kind: 'slice',
      start: Number(start),
      end: isIndex ? Number(start) + 1 : end === '' ? undefined : Number(end),
      isIndex,
      stride: stride === '' ? 1 : Number(stride),
    };
  }

  #filter(): void {
    const start = this.#at + '[?('.length;
    const end = this.#filterEnd(start);
    if (!this.#text.startsWith(')]', end)) throw this.#error();
    const condition = this.#text.slice(start, end);
    const [, left = condition, operator, right = ''] = FILTER.exec(condition) ?? [];
    const path = this.#nested(left);
    const comparison = operator === undefined ? undefined : this.#comparison(operator, right);
    this.#push({ kind: 'filter', path, comparison });
    this.#at = end + ')]'.length;
  }

  /** Returns the offset of the closing parenthesis: one outside of the first quoted text. */
  #filterEnd(start: number): number {
    let quote = '';
    let isClosed = false;
    for (let i = start; i < this.#text.length; i++) {
      const char = this.#text[i] ?? '';
      if (char === '\n') break;
      if (char === ')' && (quote === '' || isClosed)) return i;
      if (char !== '"' && char !== "'") continue;
      if (quote === '') quote = char;
      else if (char === quote && this.#text[i - 1] !== '\\') isClosed = true;
    }
    throw this.#error();
  }

  #comparison(operator: string, right: string): Comparison | undefined {
    const literal = literalOf(right.replace(/^ +| +$/g, ''));
    if (!literal) {
      this.#nested(right);
      this.#refuse(`a filter can only compare with a quoted text, a number or a boolean`);
      return undefined;
    }
    const isNumber = literal.type === 'integer' || literal.type === 'float';
    if (!EQUALITY.has(operator) && !(isNumber && ORDER.has(operator))) {
      this.#refuse(`the operator ${operator} is not supported for this value`);
    }
    return { operator, ...literal };
  }

  #nested(path: string): JSONPath {
    const { steps, unsupported } = new Compiler(path).compile();
    if (unsupported !== undefined) this.#refuse(unsupported);
    return steps;
  }

  #push(step: Step): void {
    this.#steps.push(step);
    this.#isAfterDescent = false;
  }

  #refuse(reason: string): void {
    this.#unsupported ??= reason;
  }

  #take(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0] ?? '';
    this.#at += found.length;
    return found;
  }

  #error(): JSONPathError {
    const rest = this.#text.slice(this.#at, this.#at + 20);
    return new JSONPathError(`it is not valid at ${JSON.stringify(rest)}`);
  }
}

function literalOf(text: string): Omit<Comparison, 'operator'> | undefined {
  const quoted = /^(["'])((?:(?!\1)[^\\])*)\1$/s.exec(text)?.[2];
  if (quoted !== undefined) return { type: 'string', value: quoted };
  if (/^[+-]?\d{1,15}$/.test(text)) return { type: 'integer', value: Number(text) };
  if (/^[+-]?\d{1,15}\.\d{0,15}$/.test(text)) return { type: 'float', value: Number(text) };
  return text === 'true' || text === 'false' ? { type: 'boolean', value: text === 'true' } : undefined;
}
