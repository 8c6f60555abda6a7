// Quotes strings like Go's `%q`, the format of invalid values in kube-apiserver's errors.

const SHORT: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\u0007': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
};
/** Characters that Go escapes. Of all separators, only the space is printable in Go. */
const NOT_PLAIN = /["\\]|[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu;

export function goQuoted(text: string): string {
  return `"${text.replace(NOT_PLAIN, (char) => SHORT[char] ?? escaped(char.codePointAt(0) ?? 0))}"`;
}

function escaped(code: number): string {
  const [letter, digits] = code < 0x80 ? ['x', 2] : code < 0x1_0000 ? ['u', 4] : ['U', 8];
  return `\\${letter}${code.toString(16).padStart(digits, '0')}`;
}
