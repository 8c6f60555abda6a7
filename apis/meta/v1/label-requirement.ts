/**
 * Maximum number of requirements of a selector; each is evaluated for every object. kube-apiserver has no limit, and
 * no known selector reaches this one.
 */
export const MAX_REQUIREMENTS = 1000;

export type LabelOperator = '=' | '==' | '!=' | 'in' | 'notin' | 'exists' | '!' | '>' | '<';

export interface LabelRequirement {
  readonly key: string;
  readonly operator: LabelOperator;
  /** Sorted, without duplicates; empty for `exists` and `!`. */
  readonly values: readonly string[];
}
