// Lines of a text that another program is still writing.

/** Returns the complete lines. The last one may lack its end. */
export function wholeLines(text: string): string[] {
  return text
    .slice(0, text.lastIndexOf('\n') + 1)
    .split('\n')
    .filter(Boolean);
}
