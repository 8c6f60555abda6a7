/** Of so many that are left: the rest is for who comes next. */
export function mostOfOne(left: number): number {
  return Math.max(1, Math.floor((left * 3) / 4));
}
