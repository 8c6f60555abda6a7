// Runs the stages of `npm test`.
import { messageOf } from '../../apis/reading/thrown-value.ts';
import { type FinishedStage, failedWith, type Stage, type StageContext } from './stage.ts';

/** Runs the gates in parallel, then the suites in their order. A failure does not skip later stages. */
export async function runStages(
  stages: readonly Stage[],
  given: Omit<StageContext, 'live'>,
): Promise<FinishedStage[]> {
  const context = { ...given, live: true };
  const gates = await Promise.all(
    stages.filter(({ kind }) => kind === 'gate').map((stage) => runStage(stage, context)),
  );
  const suites = stages.filter(({ kind }) => kind === 'suite');
  const inTurn = suites.filter(({ order }) => order === undefined);
  const beside = suites.filter(({ order }) => order === 'beside');
  const shared = { ...context, live: inTurn.length === 0 || beside.length === 0 };
  const finished = await Promise.all([runSuites(inTurn, shared), runSuites(beside, shared)]);
  const alone = suites.filter(({ order }) => order === 'alone');
  return [...gates, ...finished.flat(), ...(await runSuites(alone, context))];
}

async function runSuites(suites: readonly Stage[], context: StageContext): Promise<FinishedStage[]> {
  const finished: FinishedStage[] = [];
  for (const stage of suites) {
    const heading = `\n── ${stage.name} ──`;
    const isBeside = stage.order === 'beside' && !context.live;
    if (!isBeside) context.print(heading);
    const print = isBeside ? (text: string) => context.print(`${heading}\n${text}`) : context.print;
    finished.push(await runStage(stage, { ...context, print }));
  }
  return finished;
}

/** A stage that throws or is interrupted has failed. */
async function runStage(stage: Stage, context: StageContext): Promise<FinishedStage> {
  const began = performance.now();
  let result: Awaited<ReturnType<Stage['run']>>;
  try {
    result = await stage.run(context);
  } catch (error) {
    result = failedWith(messageOf(error));
  }
  const finished = { ...result, stage, seconds: (performance.now() - began) / 1000 };
  if (stage.kind === 'gate') {
    context.print(
      `${stage.name} ${result.tally.failed > 0 ? 'failed' : 'passed'} (${finished.seconds.toFixed(1)} s)`,
    );
  }
  return finished;
}
