/** Longer than any text of ours; who asks for long names without end must not fill the disk. */
const MAX_TEXT = 1024;
const MAX_AGENT = 256;

/** Names and reasons come from outside; a terminal that shows the log may obey control characters, beyond ASCII too. */
export function printable(text: string, most: number = MAX_TEXT): string {
  return text.slice(0, most).replaceAll(/\p{Cc}/gu, '?');
}

/** What a program calls itself, as a record has it. */
export function recordedAgent(agent: string): string {
  return printable(agent, MAX_AGENT);
}
