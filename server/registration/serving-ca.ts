/** The CA that callers have to trust, as the TLS listener has it at the moment. */
export interface ServingCA {
  /** PEM, one certificate or several. */
  current(): string;
  /** Calls `listener` after each change; returns the function that ends it. */
  onChange(listener: () => void): () => void;
}
