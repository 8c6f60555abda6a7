/** The parsed path: routing and authorization both read this one value, so they can not disagree. */
export type RequestInfo = ResourceRequest | NonResourceRequest;

export interface ResourceRequest {
  readonly isResourceRequest: true;
  /** Decoded once, for logs and metrics; never used for routing again. */
  readonly path: string;
  readonly prefix: 'api' | 'apis' | 'kapis';
  readonly group: string;
  readonly version: string;
  /** `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`, … as RBAC has them. */
  readonly verb: string;
  readonly namespace: string;
  readonly resource: string;
  readonly subresource: string;
  readonly name: string;
  /** Decoded segments from the resource on: [resource, name, subresource, …]. */
  readonly parts: readonly string[];
}

export interface NonResourceRequest {
  readonly isResourceRequest: false;
  readonly path: string;
  /** The HTTP method in lower case. */
  readonly verb: string;
}
