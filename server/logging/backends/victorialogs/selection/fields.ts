/** Names of the fields of a line; those of the time and of the stream are the store's own. */
export interface FieldNames {
  readonly message: string;
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
  readonly containerID: string;
}
