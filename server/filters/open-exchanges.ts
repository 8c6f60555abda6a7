/** What is kept here knows its place. */
export interface Placed {
  /** Of nobody but the list. */
  place: number;
}

/**
 * The requests that have no answer yet, in no order. A list, since a Set takes new memory whenever one of a few is deleted,
 * as by each request of a quiet server: 1 to 2 µs of the 35 that a GET of one object takes.
 */
export class OpenExchanges<Exchange extends Placed> {
  readonly #list: Exchange[] = [];

  get size(): number {
    return this.#list.length;
  }

  add(exchange: Exchange): void {
    exchange.place = this.#list.push(exchange) - 1;
  }

  /** Does nothing for one that is not here. */
  delete(exchange: Exchange): void {
    if (this.#list[exchange.place] !== exchange) return;
    const last = this.#list.pop();
    if (last === undefined || last === exchange) return;
    this.#list[exchange.place] = last;
    last.place = exchange.place;
  }

  /** As they are now: whoever reads them may end some. */
  all(): readonly Exchange[] {
    return [...this.#list];
  }
}
