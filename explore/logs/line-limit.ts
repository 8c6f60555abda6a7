// The maximum of log lines in the memory of the page, in number and in characters, because a line can have 1 MiB.

/** Maximum number of lines that are shown, or that wait. */
export const MAX_LINES = 10_000;
export const MAX_CHARACTERS = 64 * 1024 * 1024;

type Line = { readonly log: string };

export function charactersOf(lines: readonly Line[]): number {
  return lines.reduce((sum, { log }) => sum + log.length, 0);
}

/** The number of the oldest blocks to drop. The newest one stays. */
export function excessOf(blocks: readonly { readonly lines: readonly Line[] }[]): number {
  let [count, characters] = [0, 0];
  return (
    blocks.findLastIndex(({ lines }, index) => {
      count += lines.length;
      characters += charactersOf(lines);
      return (count > MAX_LINES || characters > MAX_CHARACTERS) && index < blocks.length - 1;
    }) + 1
  );
}
