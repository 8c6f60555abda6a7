// All requirements of a label selector for one key, combined, so that a value is tested once.
import { inInt64 } from '../../reading/go-number.ts';
import type { LabelRequirement } from './label-requirement.ts';

/** Numeric comparisons require a signed 64-bit integer; other values do not match. */
function integer(text: string): bigint | undefined {
  if (!/^[+-]?\d+$/.test(text)) return undefined;
  const value = BigInt(text.replace(/^\+/, ''));
  return inInt64(value) ? value : undefined;
}

export class LabelRule {
  #required = false;
  #forbidden = false;
  #among: ReadonlySet<string> | undefined;
  #not: Set<string> | undefined;
  /** Exclusive bounds. */
  #above: bigint | undefined;
  #below: bigint | undefined;

  /** Whether an object without the key does not match. */
  get required(): boolean {
    return this.#required;
  }

  add({ operator, values }: LabelRequirement): void {
    if (operator === '!') this.#forbidden = true;
    else if (operator === '!=' || operator === 'notin') {
      this.#not ??= new Set();
      for (const value of values) this.#not.add(value);
    } else {
      this.#required = true;
      if (operator === '>' || operator === '<') this.#bound(operator, integer(values[0] ?? ''));
      else if (operator !== 'exists')
        this.#among = this.#among?.intersection(new Set(values)) ?? new Set(values);
    }
  }

  takes(value: string): boolean {
    if (this.#forbidden || this.#among?.has(value) === false) return false;
    if (this.#not?.has(value)) return false;
    const [above, below] = [this.#above, this.#below];
    if (above === undefined && below === undefined) return true;
    const number = integer(value);
    if (number === undefined) return false;
    return (above === undefined || number > above) && (below === undefined || number < below);
  }

  #bound(operator: '>' | '<', limit: bigint | undefined): void {
    const [above, below] = [this.#above, this.#below];
    if (limit === undefined) this.#forbidden = true;
    else if (operator === '<') this.#below = below !== undefined && below < limit ? below : limit;
    else this.#above = above !== undefined && above > limit ? above : limit;
  }
}
