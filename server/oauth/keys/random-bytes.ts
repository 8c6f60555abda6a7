/** As many random bytes as asked for. */
export type RandomBytes = (count: number) => Buffer;
