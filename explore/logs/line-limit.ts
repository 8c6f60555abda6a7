// The maximum of log lines in the memory of the page, in number and in characters, because a line can have 1 MiB.

/** Number of neighbouring lines that are rendered together. */
export const BLOCK = 50;
export const MAX_LINES = 10_000;
export const MAX_CHARACTERS = 64 * 1024 * 1024;

interface Line {
  readonly log: string;
}

/** The newest lines within the limits, without whole blocks of older ones. `lines`: the newest one last. */
export function newestOf<T extends Line>(lines: readonly T[]): T[] {
  return lines.slice(Math.ceil(excessOf(lines) / BLOCK) * BLOCK);
}

/** Whether no further lines fit. */
export function isFull(lines: readonly Line[]): boolean {
  return lines.length >= MAX_LINES || excessOf(lines) > 0;
}

/** Returns the number of the oldest lines that are beyond the limits. */
function excessOf(lines: readonly Line[]): number {
  let characters = 0;
  const last = lines.findLastIndex(({ log }, index) => {
    characters += log.length;
    return characters > MAX_CHARACTERS || lines.length - index > MAX_LINES;
  });
  return last + 1;
}
