/** Names and reasons come from outside; a terminal that shows the log may obey control characters, beyond ASCII too. */
export function printable(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, '?');
}

const MAX_AGENT = 256;

/** What a program calls itself, as a record has it. */
export function recordedAgent(agent: string): string {
  return printable(agent.slice(0, MAX_AGENT));
}
