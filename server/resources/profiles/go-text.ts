// Texts of JSON values as Go prints them in the cells of Tables.
import { goEscaped } from '../../../apis/reading/go-json.ts';
import { isRecord } from '../../../apis/reading/unknown-value.ts';
import { isExactNumber, type JSONPathWalk } from './json-path-walk.ts';

/** Deeper values are not printed, so that no object overflows the stack. */
const MAX_DEPTH = 64;

/**
 * Returns the text that `%v` of Go prints, and the JSON of Go for lists and objects. Returns undefined if it is longer
 * than `limit`, or can differ from Go. `walk`: counts the members of objects.
 */
export function goText(value: unknown, limit: number, walk: JSONPathWalk): string | undefined {
  if (value === null) return '<no value>';
  if (typeof value === 'object') return new GoJSON(limit, walk).of(value);
  if (typeof value === 'string') return value.length <= limit ? value : undefined;
  if (typeof value === 'boolean') return String(value);
  return typeof value === 'number' && isExactNumber(value) ? goNumber(value) : undefined;
}

/** Formats a number as `%v` does: an integer in digits, another number with an exponent if it is large or small. */
function goNumber(value: number): string {
  const [digits = '', exponent = ''] = value.toExponential().split('e');
  if (Number.isSafeInteger(value) || (Number(exponent) >= -4 && Number(exponent) < 6)) return String(value);
  return `${digits}e${exponent[0] ?? ''}${exponent.slice(1).padStart(2, '0')}`;
}

class GoJSON {
  readonly #limit: number;
  readonly #walk: JSONPathWalk;
  #text = '';
  #isComplete = true;

  constructor(limit: number, walk: JSONPathWalk) {
    this.#limit = limit;
    this.#walk = walk;
  }

  of(value: unknown): string | undefined {
    this.#write(value, 0);
    return this.#isComplete ? this.#text : undefined;
  }

  #write(value: unknown, depth: number): void {
    if (depth > MAX_DEPTH) this.#isComplete = false;
    if (!this.#isComplete) return;
    if (Array.isArray(value)) this.#list(value, depth);
    else if (isRecord(value)) this.#object(value, depth);
    else this.#scalar(value);
  }

  #list(values: readonly unknown[], depth: number): void {
    this.#add('[');
    for (const [i, value] of values.entries()) {
      if (i > 0) this.#add(',');
      this.#write(value, depth + 1);
      if (!this.#isComplete) return;
    }
    this.#add(']');
  }

  #object(value: Readonly<Record<string, unknown>>, depth: number): void {
    const names = Object.keys(value);
    // The shortest member is `"":0`.
    if (!this.#walk.visit(names.length) || names.length * 4 > this.#limit) {
      this.#isComplete = false;
      return;
    }
    this.#add('{');
    for (const [i, name] of names.sort(inUTF8).entries()) {
      if (i > 0) this.#add(',');
      this.#scalar(name);
      this.#add(':');
      this.#write(value[name], depth + 1);
      if (!this.#isComplete) return;
    }
    this.#add('}');
  }

  #scalar(value: unknown): void {
    const isTooLong = typeof value === 'string' && value.length > this.#limit;
    if (isTooLong || (typeof value === 'number' && !isExactNumber(value))) this.#isComplete = false;
    else this.#add(goEscaped(JSON.stringify(value)));
  }

  #add(text: string): void {
    this.#text += text;
    if (this.#text.length > this.#limit) this.#isComplete = false;
  }
}

/** The order of Go. It differs from that of JavaScript outside of the Basic Multilingual Plane. */
function inUTF8(left: string, right: string): number {
  return Buffer.compare(Buffer.from(left), Buffer.from(right));
}
