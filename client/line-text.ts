// The text of log lines, which can be hostile: control characters and texts that the terminal or the browser reorders.

/**
 * A colour of a terminal (ECMA-48), or one control, bidirectional or invisible character. Variation selectors of emoji are
 * common, and hide no text.
 */
const SPECIAL =
  // oxlint-disable-next-line no-control-regex -- it finds control characters
  /\u001b\[[0-9;]*m|(?!\t|[\ufe0e-\ufe0f])[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]/gu;
/** Maximum number of members of a line. */
const MAX_FIELDS = 200;

/** The text without the colours of terminals, with the names of characters that would change or hide other text. */
export function visibleText(text: string): string {
  return text.replaceAll(SPECIAL, (special) => (special.length > 2 ? '' : nameOf(special)));
}

function nameOf(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code === 10) return '↵';
  if (code < 32) return String.fromCodePoint(0x2400 + code);
  return `<U+${code.toString(16).toUpperCase().padStart(4, '0')}>`;
}

/** The members of a line that is a JSON object; also behind a prefix, such as a time. */
export function fieldsOfLine(line: string): (readonly [name: string, value: string])[] {
  const begin = line.indexOf('{');
  if (begin === -1 || begin > 200 || line.length > 100_000) return [];
  try {
    const members = Object.entries(JSON.parse(line.slice(begin))).slice(0, MAX_FIELDS);
    return members.map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)]);
  } catch {
    return [];
  }
}
