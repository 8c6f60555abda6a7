// The maximum of log lines in the memory of the page, in number and in characters, because a line can have 1 MiB.

/** Number of neighbouring lines that are rendered together. */
export const BLOCK = 50;
export const MAX_LINES = 10_000;
export const MAX_CHARACTERS = 64 * 1024 * 1024;

/** The newest lines within the limits, without whole blocks of older ones. `lines`: the newest one last. */
export function newestOf<T extends { readonly log: string }>(lines: readonly T[]): T[] {
  let characters = 0;
  const excess = lines.findLastIndex(({ log }, index) => {
    characters += log.length;
    return characters > MAX_CHARACTERS || lines.length - index > MAX_LINES;
  });
  return lines.slice(Math.ceil((excess + 1) / BLOCK) * BLOCK);
}
