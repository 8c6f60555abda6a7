// Stores take 4,096 bytes of a request's first line; the rest of it needs its place too.

/** Characters of the names of indices. */
export const ROOM_FOR_NAMES = 2_048;

/** With those of the ones that are excluded. */
export const ROOM_WITH_EXCLUDED = 3_072;
