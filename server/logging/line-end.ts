/** Removes newlines at the end of a line, which some collectors do not remove. Idempotent. */
export function withoutLineEnd(line: string): string {
  let end = line.length;
  while (line[end - 1] === '\n') end--;
  return line.slice(0, end);
}
