/** Replaces the text between two markers of a Markdown document. Throws unless each marker occurs exactly once. */
export function replaceSection(text: string, name: string, content: string): string {
  const begin = `<!-- generated: ${name} -->`;
  const end = `<!-- end: ${name} -->`;
  const from = text.indexOf(begin);
  const to = text.indexOf(end);
  if (from < 0 || to < from || text.indexOf(begin, from + 1) >= 0) {
    throw new Error(`the markers ${begin} and ${end} must occur once, in this order`);
  }
  return `${text.slice(0, from + begin.length)}\n\n${content.trim()}\n\n${text.slice(to)}`;
}
