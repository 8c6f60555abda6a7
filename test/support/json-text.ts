// Generator of arbitrary JSON texts for property tests.
import * as fc from 'fast-check';

/** Arbitrary JSON texts with any order of members, white space and escapes. */
export function jsonText(value: fc.Arbitrary<unknown> = fc.jsonValue()): fc.Arbitrary<string> {
  return fc.tuple(value, fc.infiniteStream(fc.nat(5))).map(([value, choices]) => {
    const space = () => ['', '', '', ' ', '\t', ' \r '][next(choices)] ?? '';
    return write(value, space, () => next(choices) === 0);
  });
}

function next(choices: fc.Stream<number>): number {
  return choices.next().value ?? 0;
}

function write(value: unknown, space: () => string, escape: () => boolean): string {
  const around = (text: string) => space() + text + space();
  if (typeof value === 'string') return around(quote(value, escape));
  if (Array.isArray(value))
    return around(`[${value.map((item) => write(item, space, escape)).join(',')}${space()}]`);
  if (typeof value !== 'object' || value === null) return around(JSON.stringify(value));
  const members = Object.entries(value).map(
    ([name, member]) => `${around(quote(name, escape))}:${write(member, space, escape)}`,
  );
  return around(`{${members.join(',')}${space()}}`);
}

function quote(text: string, escape: () => boolean): string {
  if (text === '' || !escape()) return JSON.stringify(text);
  const units = Array.from({ length: text.length }, (_, i) =>
    text.charCodeAt(i).toString(16).padStart(4, '0'),
  );
  return `"${units.map((unit) => `\\u${unit}`).join('')}"`;
}
