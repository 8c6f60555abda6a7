// Type of a row of the benchmark table, and functions that format the measured values. Each row has a goal: a limit for
// the measured value.

/** One row of the bench table: the same work measured for a baseline (`peer`) and for ks-apiserver (`ours`). */
export interface Row {
  readonly work: string;
  readonly peer?: string;
  /** Name of the peer, if it is not kube-apiserver. */
  readonly against?: string;
  readonly ours: string;
  /** Our figure divided by that of the peer, or the difference; undefined for absolute goals. */
  readonly ratio?: string;
  readonly goal: string;
  /** Undefined if the measurement does not decide. */
  readonly met: boolean | undefined;
  readonly note?: string;
  /** Reason for a missed goal, from profiles; reported only if the goal is missed. */
  readonly shortfall?: string;
}

export function milliseconds(value: number): string {
  if (value < 10) return `${value.toFixed(2)} ms`;
  return value < 1000 ? `${value.toFixed(0)} ms` : `${(value / 1000).toFixed(2)} s`;
}

export function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(bytes < 1e7 ? 2 : 0)} MB`;
}

export function perSecond(rate: number): string {
  return `${Math.round(rate).toLocaleString('en')}/s`;
}

/** A row with the goal that our figure is at most `goal` times that of the peer. */
export function atMost(
  work: string,
  peer: number,
  ours: number,
  goal: number,
  format: (value: number) => string,
): Row {
  const share = ours / peer;
  const ratio = `${share.toFixed(3)} ×`;
  const base = { work, peer: format(peer), ours: format(ours), ratio };
  return { ...base, goal: `≤ ${goal.toFixed(3)} ×`, met: share <= goal };
}

/** A row with the goal that our figure is at least `goal` times that of the peer. */
export function atLeast(
  work: string,
  peer: number,
  ours: number,
  goal: number,
  format: (value: number) => string,
): Row {
  const share = ours / peer;
  const ratio = `${share.toFixed(share < 1 ? 2 : 1)} ×`;
  return { work, peer: format(peer), ours: format(ours), ratio, goal: `≥ ${goal} ×`, met: share >= goal };
}

/** A row with the goal that our figure is below an absolute bound. */
export function below(work: string, ours: number, bound: number, format: (value: number) => string): Row {
  return { work, ours: format(ours), goal: `< ${format(bound)}`, met: ours < bound };
}
