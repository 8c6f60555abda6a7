/** Those who want to hear of a change. One that throws does not keep the others from hearing. */
export class ChangeListeners {
  readonly #listeners = new Set<() => void>();
  readonly #onError: (error: unknown) => void;

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  /** Returns the function that ends it. */
  add(listener: () => void): () => void {
    const entry = () => listener();
    this.#listeners.add(entry);
    return () => this.#listeners.delete(entry);
  }

  notify(): void {
    for (const listener of this.#listeners) {
      try {
        listener();
      } catch (error) {
        this.#onError(error);
      }
    }
  }
}
