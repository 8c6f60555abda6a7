// Label selectors: evaluation. The parser is in label-selector-parser.ts.
import type { LabelRequirement } from './label-requirement.ts';
import { LabelRule } from './label-rule.ts';
import { parseLabelSelectorText } from './label-selector-parser.ts';

export type Labels = Readonly<Record<string, string>>;

export interface LabelSelector {
  readonly requirements: readonly LabelRequirement[];
  matches(labels: Labels): boolean;
}

/** Up to this many keys, each key is looked up in the labels; above it, each label is looked up in the keys. */
const FEW_KEYS = 8;

export const EVERY_LABEL: LabelSelector = { requirements: [], matches: () => true };

/** Throws a plain Error with kube-apiserver's wording for an invalid selector. */
export function parseLabelSelector(text: string): LabelSelector {
  const requirements = parseLabelSelectorText(text);
  if (requirements.length === 0) return EVERY_LABEL;
  const rules = new Map<string, LabelRule>();
  for (const requirement of requirements) {
    const rule = rules.get(requirement.key) ?? new LabelRule();
    rule.add(requirement);
    rules.set(requirement.key, rule);
  }
  return { requirements, matches: rules.size > FEW_KEYS ? byLabel(rules) : byKey([...rules]) };
}

function byKey(rules: readonly (readonly [string, LabelRule])[]): LabelSelector['matches'] {
  return (labels) => {
    for (const [key, rule] of rules) {
      const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
      if (value === undefined ? rule.required : !rule.takes(value)) return false;
    }
    return true;
  };
}

/** Costs time proportional to the labels of the object, however long the selector, since it runs for every object. */
function byLabel(rules: ReadonlyMap<string, LabelRule>): LabelSelector['matches'] {
  let required = 0;
  for (const rule of rules.values()) if (rule.required) required++;
  return (labels) => {
    let found = 0;
    for (const key of Object.keys(labels)) {
      const rule = rules.get(key);
      if (!rule) continue;
      if (!rule.takes(labels[key] ?? '')) return false;
      if (rule.required) found++;
    }
    return found === required;
  };
}
