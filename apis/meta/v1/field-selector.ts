// Parser of field selectors such as `metadata.name=x,spec.unschedulable!=true`. Each resource defines the supported
// fields.
import { MAX_REQUIREMENTS } from './label-selector-parser.ts';

export interface FieldRequirement {
  readonly field: string;
  readonly equal: boolean;
  readonly value: string;
}

/** Splits a selector into its terms at unescaped commas. */
function splitTerms(text: string): string[] {
  const terms: string[] = [];
  let start = 0;
  const add = (end: number): void => {
    if (end > start) terms.push(text.slice(start, end));
    if (terms.length > MAX_REQUIREMENTS) throw new Error(`it has more than ${MAX_REQUIREMENTS} requirements`);
    start = end + 1;
  };
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === ',') add(at);
  }
  add(text.length);
  return terms.sort();
}

function unescape(value: string): string {
  let plain = '';
  for (let at = 0; at < value.length; at += 1) {
    const char = value.charAt(at);
    if (char === '\\') {
      at += 1;
      const escaped = value.charAt(at);
      if (escaped !== '\\' && escaped !== ',' && escaped !== '=') {
        throw new Error(`invalid field selector: invalid escape sequence: \\${escaped}`);
      }
      plain += escaped;
    } else if (char === ',' || char === '=') {
      throw new Error(`invalid field selector: unescaped character in value: ${char.charCodeAt(0)}`);
    } else {
      plain += char;
    }
  }
  return plain;
}

/**
 * Parses a field selector into requirements that must all match. Throws a plain Error with kube-apiserver's wording
 * for an invalid selector.
 */
export function parseFieldSelector(text: string): FieldRequirement[] {
  const requirements = splitTerms(text).map((term) => {
    const match = /^(?<field>[^=!]*(?:!(?!=)[^=!]*)*)(?<operator>!=|==|=)(?<value>.*)$/s.exec(term);
    const { field, operator, value } = match?.groups ?? {};
    if (field === undefined || value === undefined) {
      throw new Error(`invalid selector: '${text}'; can't understand '${term}'`);
    }
    return { field, equal: operator !== '!=', value: unescape(value) };
  });
  // kube-apiserver ignores a term without field and value.
  return requirements.filter(({ field, value }) => field !== '' || value !== '');
}
