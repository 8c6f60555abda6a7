import type { Asking, Deadline } from '../requests/asking.ts';
import type { FieldNames } from '../selection/fields.ts';
import { isOneOf, quoted } from '../selection/logsql.ts';
import type { Question, Questions } from '../selection/question.ts';
import type { Judge } from './judge.ts';
import { numberIn } from './overview.ts';

export interface Counted {
  readonly logs: number;
  readonly containers: number;
}

/** Lines without the id of their container count it by its name, in its pod. */
export async function countContainers(
  asking: Asking,
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
    const pipe = `stats ${counted(quick.sure)}, count() if (${quick.unsure}) as unsure`;
    const [row = {}] = await asking.allRows(quick, [pipe], deadline);
    const judged = numberIn(row, 'unsure') === 0 ? [] : await judge.lines(quick, deadline);
    const ids = [...new Set(judged?.map((line) => line.containerID))];
    if (judged && !ids.includes('')) {
      const both =
        ids.length === 0
          ? 0
          : await containersOf(asking, quick, `${quick.sure} ${isOneOf(containerID, ids)}`, id, deadline);
      return { logs: numberIn(row, 'n') + judged.length, containers: containersIn(row) + ids.length - both };
    }
  }
  // Nearly every line has the id; what the names would cost is asked for when some have not.
  const simple = `stats count() as n, count(${id}) as told, count_uniq(${id}) as ids`;
  const [row = {}] = await asking.allRows(exact, [simple], deadline);
  const logs = numberIn(row, 'n');
  if (logs === numberIn(row, 'told')) return { logs, containers: numberIn(row, 'ids') };
  const [all = {}] = await asking.allRows(exact, [`stats ${counted('*')}`], deadline);
  return { logs: numberIn(all, 'n'), containers: containersIn(all) };
}

async function containersOf(
  asking: Asking,
  question: Question,
  filter: string,
  id: string,
  deadline: Deadline,
): Promise<number> {
  const pipes = [`filter ${filter}`, `stats count_uniq(${id}) as ids`];
  const [row = {}] = await asking.allRows(question, pipes, deadline);
  return numberIn(row, 'ids');
}

function containersIn(row: Readonly<Record<string, unknown>>): number {
  return numberIn(row, 'ids') + numberIn(row, 'named');
}
