// SelfSubjectReviews, whose responses contain the user as whom a request runs.
import { record } from '../../../apis/reading/unknown-value.ts';
import type { RawResponse } from './raw-request.ts';

export const SELF_REVIEWS = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
export const SELF_REVIEW = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };

export interface Reviewed {
  readonly status: number;
  /** The user of the request, or the error message. */
  readonly user: unknown;
}

export function reviewed({ status, body }: Pick<RawResponse, 'status' | 'body'>): Reviewed {
  const parsed = record(JSON.parse(body.toString('utf8')));
  return { status, user: status === 201 ? record(parsed['status'])['userInfo'] : parsed['message'] };
}
