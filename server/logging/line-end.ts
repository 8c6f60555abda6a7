/** Some collectors keep the newline at the end of a line. All that are there go: a line may be looked at twice. */
export function withoutLineEnd(said: string): string {
  let end = said.length;
  while (said[end - 1] === '\n') end--;
  return said.slice(0, end);
}
