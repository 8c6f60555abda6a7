/** Of one selector; each is tried on every object. kube-apiserver has no such bound, and nobody's comes near it. */
export const MAX_REQUIREMENTS = 1000;

export type LabelOperator = '=' | '==' | '!=' | 'in' | 'notin' | 'exists' | '!' | '>' | '<';

export interface LabelRequirement {
  readonly key: string;
  readonly operator: LabelOperator;
  /** Sorted and without repetitions; empty for `exists` and `!`. */
  readonly values: readonly string[];
}
