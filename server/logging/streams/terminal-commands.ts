// What terminals take for commands rather than for text: colours, titles, cursor movements (ECMA-48).

/**
 * Each part stops at what could begin another one, so that it runs in linear time: lines come from anybody, and the one
 * of node:util takes minutes for some.
 */
const PARTS = [
  // Control sequences, as colours are.
  '(?:\\x1b\\[|\\x9b)[0-?]*[ -/]*[@-~]',
  // Control strings, as titles are, up to their end.
  '(?:\\x1b[\\]PX^_]|[\\x90\\x98\\x9d-\\x9f])[^\\x07\\x1b\\x80-\\x9f]*(?:\\x07|\\x1b\\\\|\\x9c)',
  '\\x1b[ -/]*[0-~]',
];
const COMMANDS = new RegExp(PARTS.join('|'), 'g');
/** What begins one, or is one: going back over what was written, or to other letters. U+0085 is a newline of old. */
// oxlint-disable-next-line no-control-regex -- control characters are what it looks for
const CONTROLS = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f]/g;

/** Without them, and without all control characters but tabs, newlines and carriage returns. */
export function withoutCommands(text: string): string {
  // Then once more: what was taken out may have kept two halves apart.
  return text.replaceAll(COMMANDS, '').replaceAll(CONTROLS, '');
}
