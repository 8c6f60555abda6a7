/** Shortens a text to about `most` characters by replacing the middle with an ellipsis. */
export function elided(text: string, most: number): string {
  if (text.length <= most) return text;
  const half = most >> 1;
  return `${text.slice(0, half)}…${text.slice(text.length - half)}`.toWellFormed();
}
