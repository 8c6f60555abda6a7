// Interface of authorizers. An authorizer allows or denies a request by user, verb and resource or path.
import type { UserInfo } from '../authentication/user.ts';
import type { CallContext } from '../cluster/call-context.ts';

/** The attributes of a SubjectAccessReview. */
export type Attributes = ResourceAttributes | NonResourceAttributes;

export interface ResourceAttributes {
  readonly user: UserInfo;
  /** The first segment of the path of a request. It is not part of the review. */
  readonly prefix?: 'api' | 'apis' | 'kapis';
  readonly verb: string;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  /** The selectors of a list or watch, whose result contains only matching objects. */
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

interface NonResourceAttributes {
  readonly user: UserInfo;
  readonly verb: string;
  readonly path: string;
}

export interface Decision {
  readonly allowed: boolean;
  readonly reason: string;
}

export interface Authorizer {
  /** Returns the decision. Throws ServiceUnavailable if the cluster is unreachable; it never allows by default. */
  authorize(attributes: Attributes, context: CallContext): Promise<Decision> | Decision;
}
