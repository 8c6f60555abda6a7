/** Of so many that last for hours, also for callers who may see nothing: nobody alone can take all of them. */
export function mostOfOne(count: number): number {
  return Math.max(1, Math.floor((count * 3) / 4));
}
