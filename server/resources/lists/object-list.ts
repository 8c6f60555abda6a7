// An immutable sorted list in chunks. A list with one more or one less object shares all other chunks, so the time of a change does
// not grow with the list.

/** Maximum number of objects of a chunk. A change copies a chunk and the list of chunks. */
const CHUNK = 512;

export class ObjectList<T> implements Iterable<T> {
  readonly length: number;
  readonly #chunks: readonly (readonly T[])[];

  private constructor(chunks: readonly (readonly T[])[], length: number) {
    this.#chunks = chunks;
    this.length = length;
  }

  /** `objects`: sorted. */
  static of<T>(objects: readonly T[]): ObjectList<T> {
    const chunks = [];
    for (let at = 0; at < objects.length; at += CHUNK) chunks.push(objects.slice(at, at + CHUNK));
    return new ObjectList(chunks, objects.length);
  }

  *[Symbol.iterator](): Generator<T, undefined> {
    for (const chunk of this.#chunks) yield* chunk;
    return undefined;
  }

  /** Returns the objects from the index `first` to `last`, which is excluded. */
  slice(first: number, last: number): T[] {
    const found: T[] = [];
    let start = 0;
    for (const chunk of this.#chunks) {
      if (start >= last) break;
      const end = start + chunk.length;
      if (end > first) found.push(...chunk.slice(Math.max(0, first - start), last - start));
      start = end;
    }
    return found;
  }

  /** Returns the list with an object, before equal ones. */
  with(object: T, compare: (left: T, right: T) => number): ObjectList<T> {
    const { chunk, at } = this.#placeOf(object, compare);
    const added = (this.#chunks[chunk] ?? []).toSpliced(at, 0, object);
    const half = added.length >>> 1;
    const parts = added.length > CHUNK ? [added.slice(0, half), added.slice(half)] : [added];
    return new ObjectList(this.#chunks.toSpliced(chunk, 1, ...parts), this.length + 1);
  }

  /** Returns the list without an object; this list if it does not contain the object. */
  without(object: T, compare: (left: T, right: T) => number): ObjectList<T> {
    const { chunk, at } = this.#placeOf(object, compare);
    const before = this.#chunks[chunk];
    if (before?.[at] !== object) return this;
    const parts = before.length > 1 ? [before.toSpliced(at, 1)] : [];
    return new ObjectList(this.#chunks.toSpliced(chunk, 1, ...parts), this.length - 1);
  }

  /** Returns the place of the first object that is not before `object`, or the end of the last chunk. */
  #placeOf(
    object: T,
    compare: (left: T, right: T) => number,
  ): { readonly chunk: number; readonly at: number } {
    const chunks = this.#chunks;
    const isBefore = (other: T | undefined): boolean => other !== undefined && compare(other, object) < 0;
    const chunk = firstIndex(chunks.length - 1, (index) => !isBefore(chunks[index]?.at(-1)));
    const objects = chunks[chunk] ?? [];
    return { chunk, at: firstIndex(objects.length, (index) => !isBefore(objects[index])) };
  }
}

/** Returns the first index below `length` with the property, which all higher ones have too; `length` if none has it. */
function firstIndex(length: number, has: (index: number) => boolean): number {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (has(middle)) high = middle;
    else low = middle + 1;
  }
  return Math.max(low, 0);
}
