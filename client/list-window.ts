// The objects of a list that a table with virtual rows loads. Lists have only pages, so that the visible rows must be on one
// page of a suitable size.

/** Parameters of a list. */
export interface ListWindow {
  readonly page: number;
  readonly limit: number;
}

/** The smallest page that contains the objects from `first` to `last`, which is excluded, and at least `minimum` objects. */
export function windowOf(first: number, last: number, minimum = 100): ListWindow {
  for (let limit = Math.max(1, minimum); ; limit++) {
    const before = Math.floor(first / limit);
    if (last <= (before + 1) * limit) return { page: before + 1, limit };
  }
}
