// Bars for rows of the bench: how many times our figure is better than that of the peer, or its share of a limit. The rows
// have texts of figures, such as `198 ms`, because these are what the report stores.
import type { Bar } from '../charts/bar-chart.ts';
import type { Row } from './rows/row.ts';

/** Factor by which our figure is better than that of the peer; below 1 if it is worse. */
export function comparison(row: Row, label: string): Bar {
  const { peer = '', ours, ratio = '', goal, met } = row;
  const [base, own] = [quantity(peer), quantity(ours)];
  const higherIsBetter = goal.startsWith('≥');
  const share = ratio.endsWith('×') ? number(ratio) : own / base;
  const allowed = limit(goal, base) / base;
  const value = higherIsBetter ? share : 1 / share;
  if (!(value > 0 && Number.isFinite(value)))
    throw new Error(`no chart for the ratio of "${row.work}": ${ratio}`);
  return {
    name: row.work,
    label,
    value,
    goal: higherIsBetter ? allowed : 1 / allowed,
    figure: `${value.toFixed(value < 1 ? 2 : value < 10 ? 1 : 0)} ×${met === false ? ' ✗' : ''}`,
    bad: value < 1,
    cells: [peer, ours].map((cell) => cell.replace(' lines', '')),
  };
}

export function shareOfLimit({ work, ours, goal, met }: Row, label: string): Bar {
  const value = quantity(ours) / limit(goal, 0);
  const figure = `${Math.round(value * 100)} %${met === false ? ' ✗' : ''}`;
  return { name: work, label, value, goal: 1, figure, bad: met === false, cells: [goal, ours] };
}

/** Largest or smallest figure of ours that meets a goal. */
function limit(goal: string, peer: number): number {
  if (goal === 'not later') return peer;
  const terms = [...goal.matchAll(TERM)].map(([term, , unit]) =>
    unit === '×' ? number(term) * peer : quantity(term),
  );
  if (terms.length === 0) throw new Error(`no figure in the goal "${goal}"`);
  const isDifference = goal.endsWith(' later') || (goal.includes('+') && !goal.includes('×'));
  return terms.reduce((sum, term) => sum + term, isDifference ? peer : 0);
}

const UNITS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  kB: 1e3,
  MB: 1e6,
  GB: 1e9,
  '/s': 1,
  'MB/s': 1,
  'GB/s': 1e3,
};
const TERM = /([\d.,]+) ?(×|ms|s|kB|MB\/s|MB|GB\/s|GB|\/s)/g;

/** Value of a figure of the table, such as `198 ms` or `20,276/s`, in a unit of its dimension. */
function quantity(figure: string): number {
  const [, , unit = ''] = [...figure.matchAll(TERM)][0] ?? [];
  const scale = UNITS[unit];
  if (scale === undefined) throw new Error(`no figure with a known unit: "${figure}"`);
  return number(figure) * scale;
}

function number(text: string): number {
  return Number(/[\d.,]+/.exec(text)?.[0].replaceAll(',', ''));
}
