/** Names of the fields, as the configuration has them. */
export interface FieldNames {
  readonly time: string;
  readonly message: string;
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
  readonly containerID: string;
}
