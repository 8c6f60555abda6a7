import type { Deadline } from '../../../deadline.ts';
import type { Queries } from '../requests/queries.ts';
import { numberIn } from '../requests/row-values.ts';
import type { FieldNames } from '../selection/fields.ts';
import { isOneOf, quoted } from '../selection/logsql.ts';
import type { Questions, QuickQuestion } from '../selection/question.ts';
import type { Judge } from './judge.ts';

export interface Counted {
  readonly logs: number;
  readonly containers: number;
}

/** Lines without the id of their container count it by its name, in its pod. */
export async function countContainers(
  queries: Queries,
  { quick, exact }: Questions,
  { namespace, pod, container, containerID }: FieldNames,
  judge: Judge,
  deadline: Deadline,
): Promise<Counted> {
  const names = [namespace, pod, container].map(quoted).join(', ');
  const id = quoted(containerID);
  const counted = (filter: string): string =>
    [
      `count() if (${filter}) as n`,
      `count_uniq(${id}) if (${filter}) as ids`,
      `count_uniq(${names}) if (${id}:="" ${filter}) as named`,
    ].join(', ');
  if (quick) {
    const pipe = `stats ${counted(quick.sure)}, ${judge.counted(quick, 1)}`;
    const [row = {}] = await queries.allRows(quick, [pipe], deadline);
    const judged = await judge.judged([row], quick, deadline);
    const ids = [...new Set(judged?.lines.map((line) => line.containerID))];
    if (judged && !ids.includes('')) {
      const both = ids.length === 0 ? 0 : await alsoSure(queries, quick, containerID, ids, deadline);
      const logs = numberIn(row, 'n') + judged.lines.length;
      return { logs, containers: containersIn(row) + ids.length - both };
    }
  }
  // Nearly every line has the id; names, which cost more, are only asked for when some have none.
  const simple = `stats count() as n, count(${id}) as told, count_uniq(${id}) as ids`;
  const [row = {}] = await queries.allRows(exact, [simple], deadline);
  const logs = numberIn(row, 'n');
  if (logs === numberIn(row, 'told')) return { logs, containers: numberIn(row, 'ids') };
  const [all = {}] = await queries.allRows(exact, [`stats ${counted('*')}`], deadline);
  return { logs: numberIn(all, 'n'), containers: containersIn(all) };
}

/** How many of these containers have lines that are wanted for sure. */
async function alsoSure(
  queries: Queries,
  { lines, extraFilters, sure }: QuickQuestion,
  containerID: string,
  ids: readonly string[],
  deadline: Deadline,
): Promise<number> {
  // Filtering by container costs the store less than filtering by text, so it comes first.
  const question = { lines: `${isOneOf(containerID, ids)} ${lines}`, extraFilters };
  const pipes = [`filter ${sure}`, `stats count_uniq(${quoted(containerID)}) as ids`];
  const [row = {}] = await queries.allRows(question, pipes, deadline);
  return numberIn(row, 'ids');
}

function containersIn(row: Readonly<Record<string, unknown>>): number {
  return numberIn(row, 'ids') + numberIn(row, 'named');
}
