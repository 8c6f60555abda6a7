import type { Asking, Deadline } from './asking.ts';
import type { FieldNames } from './fields.ts';
import { quoted } from './logsql.ts';
import { countUnsure, numberIn, unsureIn } from './overview.ts';
import type { Question } from './question.ts';

export interface Counted {
  readonly logs: number;
  readonly containers: number;
  /** Lines among them that have to be looked at more closely. */
  readonly unsure: number;
}

/** Lines without the id of their container count it by its name, in its pod. */
export async function countContainers(
  asking: Asking,
  question: Question,
  unsure: string | undefined,
  { namespace, pod, container, containerID }: FieldNames,
  deadline: Deadline,
): Promise<Counted> {
  const names = [namespace, pod, container].map(quoted).join(', ');
  const pipe = [
    'stats count() as n',
    `count_uniq(${quoted(containerID)}) as ids`,
    `count_uniq(${names}) if (${quoted(containerID)}:="") as named`,
  ].join(', ');
  const [row = {}] = await asking.allRows(question, [`${pipe}${countUnsure(unsure)}`], deadline);
  return {
    logs: numberIn(row, 'n'),
    containers: numberIn(row, 'ids') + numberIn(row, 'named'),
    unsure: unsureIn(row),
  };
}
