/**
 * At most about so many characters of a text: its beginning and its end, for in between a sentence repeats what it was
 * given.
 */
export function elided(text: string, most: number): string {
  if (text.length <= most) return text;
  const half = most >> 1;
  return `${text.slice(0, half)}…${text.slice(text.length - half)}`.toWellFormed();
}
