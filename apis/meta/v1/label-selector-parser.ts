// Parser of label selectors such as `a=b,c!=d,e in (f,g)`. Error messages have the wording of apimachinery.
import { parseInt64 } from '../../reading/go-number.ts';
import { goQuoted } from '../../reading/go-quote.ts';
import { messageOf } from '../../reading/thrown-value.ts';
import { labelKeyErrors, labelValueErrors } from './label-names.ts';

/**
 * Maximum number of requirements of a selector, because every requirement is evaluated for each object, and of all their values,
 * because parsing them blocks the event loop. kube-apiserver has no limit. No known selector has as many.
 */
export const MAX_REQUIREMENTS = 1000;

type LabelOperator = '=' | '==' | '!=' | 'in' | 'notin' | 'exists' | '!' | '>' | '<';

export interface LabelRequirement {
  readonly key: string;
  readonly operator: LabelOperator;
  /** Values, sorted and without duplicates. Empty for the operators `exists` and `!`. */
  readonly values: readonly string[];
}

interface Token {
  readonly kind: 'symbol' | 'word' | 'end';
  readonly text: string;
}

const END: Token = { kind: 'end', text: '' };
const BINARY: Readonly<Record<string, LabelOperator>> = {
  in: 'in',
  notin: 'notin',
  '=': '=',
  '==': '==',
  '!=': '!=',
  '>': '>',
  '<': '<',
};
/**
 * Maximum number of invalid values in an error, because the message of one can be a hundred times as long as the
 * value.
 */
const MAX_ERRORS = 20;
const EXPECTED_OPERATORS = 'in, notin, =, ==, !=, gt, lt';

/** A symbol or a word, after whitespace. Other kinds of whitespace are part of a word, which is then invalid. */
const TOKEN = /[ \t\r\n]*(?:(==|!=|[=!(),><])|([^=!(),>< \t\r\n]+))/y;

/** Reads tokens on demand, because the text after an error or after the last allowed requirement can be very long. */
class Parser {
  readonly #text: string;
  #at = 0;
  #values = 0;
  #next: Token | undefined;

  constructor(text: string) {
    this.#text = text;
  }

  requirements(): LabelRequirement[] {
    const found: LabelRequirement[] = [];
    for (;;) {
      if (found.length > MAX_REQUIREMENTS) return found;
      const token = this.#peek();
      if (token.kind === 'end') return found;
      if (!this.#startsRequirement()) {
        throw new Error(`found '${token.text}', expected: !, identifier, or 'end of string'`);
      }
      found.push(this.#requirement());
      const next = this.#take();
      if (next.kind === 'end') return found;
      if (!isSymbol(next, ',')) throw new Error(`found '${next.text}', expected: ',' or 'end of string'`);
      if (!this.#startsRequirement()) {
        throw new Error(`found '${this.#peek().text}', expected: identifier after ','`);
      }
    }
  }

  #requirement(): LabelRequirement {
    try {
      const absent = isSymbol(this.#peek(), '!');
      if (absent) this.#take();
      const key = this.#word('identifier');
      const errors = labelKeyErrors(key);
      if (errors.length > 0) throw invalid('<nil>', key, errors);
      if (this.#peek().kind === 'end' || isSymbol(this.#peek(), ',')) {
        return { key, operator: absent ? '!' : 'exists', values: [] };
      }
      if (absent) return { key, operator: '!', values: [] };
      const operator = this.#operator();
      const values = operator === 'in' || operator === 'notin' ? this.#list() : [this.#exactValue()];
      return checked({ key, operator, values: [...new Set(values)].sort() });
    } catch (error) {
      throw new Error(`unable to parse requirement: ${messageOf(error)}`, { cause: error });
    }
  }

  #operator(): LabelOperator {
    const token = this.#take();
    const operator = Object.hasOwn(BINARY, token.text) ? BINARY[token.text] : undefined;
    if (operator === undefined) throw new Error(`found '${token.text}', expected: ${EXPECTED_OPERATORS}`);
    return operator;
  }

  /** Parses a list such as `(a,b)`. An empty element is the empty string, also in `()`. */
  #list(): string[] {
    const open = this.#take();
    if (!isSymbol(open, '(')) throw new Error(`found '${open.text}' expected: '('`);
    const values: string[] = [];
    let wanted = true;
    for (;;) {
      // Each value follows a symbol.
      if (++this.#values > 2 * MAX_REQUIREMENTS)
        throw new Error(`it has more than ${MAX_REQUIREMENTS} values`);
      const token = this.#take();
      if (token.kind === 'word' && wanted) {
        values.push(token.text);
        wanted = false;
      } else if (isSymbol(token, ',')) {
        if (wanted) values.push('');
        wanted = true;
      } else if (isSymbol(token, ')')) {
        if (wanted) values.push('');
        return values;
      } else {
        throw new Error(
          `found '${token.text}', expected: ${wanted ? `',',${values.length === 0 ? " ')'" : ''} or identifier` : "',' or ')'"}`,
        );
      }
    }
  }

  #exactValue(): string {
    const token = this.#peek();
    return token.kind === 'end' || isSymbol(token, ',') ? '' : this.#word('identifier');
  }

  #word(expected: string): string {
    const token = this.#take();
    if (token.kind !== 'word') throw new Error(`found '${token.text}', expected: ${expected}`);
    return token.text;
  }

  #startsRequirement(): boolean {
    return this.#peek().kind === 'word' || isSymbol(this.#peek(), '!');
  }

  #peek(): Token {
    return (this.#next ??= this.#read());
  }

  #take(): Token {
    const token = this.#peek();
    this.#next = undefined;
    return token;
  }

  #read(): Token {
    TOKEN.lastIndex = this.#at;
    const match = TOKEN.exec(this.#text);
    if (!match) return END;
    this.#at = TOKEN.lastIndex;
    const [, symbol, word = ''] = match;
    return symbol === undefined ? { kind: 'word', text: word } : { kind: 'symbol', text: symbol };
  }
}

function isSymbol(token: Token, text: string): boolean {
  return token.kind === 'symbol' && token.text === text;
}

function invalid(field: string, value: string, errors: readonly string[]): Error {
  return new Error(`${field}: Invalid value: ${goQuoted(value)}: ${errors.join('; ')}`);
}

function checked(requirement: LabelRequirement): LabelRequirement {
  const { key, operator, values } = requirement;
  const errors: string[] = [];
  for (const [index, value] of values.entries()) {
    if (errors.length >= MAX_ERRORS) break;
    if (operator === '>' || operator === '<') {
      try {
        parseInt64(value);
      } catch {
        const why = "for 'Gt', 'Lt' operators, the value must be an integer";
        errors.push(invalid(`values[${index}]`, value, [why]).message);
      }
    }
    const valueErrors = labelValueErrors(value);
    if (valueErrors.length > 0) {
      errors.push(invalid(`values[${index}][${key}]`, value, valueErrors).message);
    }
  }
  if (errors.length === 0) return requirement;
  throw new Error(errors.length === 1 ? errors[0] : `[${errors.join(', ')}]`);
}

/**
 * Returns the requirements, sorted by key. If there are too many, returns MAX_REQUIREMENTS + 1 requirements and does
 * not parse the rest. Throws a plain Error for an invalid selector.
 */
export function parseLabelSelectorText(text: string): LabelRequirement[] {
  return new Parser(text).requirements().sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
}
