// `ks-apiserver version`: prints the version, as --version does.
import type { CommandLine } from '../../apis/reading/command-line.ts';
import { versionLine } from '../config/build-info.ts';
import { type Command, runCommandLine } from './command.ts';

const LINE = {
  command: 'ks-apiserver version',
  usage: [''],
  about: 'Prints the version of ks-apiserver and of Node.js.',
  flags: {},
} as const satisfies CommandLine;

export const versionCommand: Command = (context) =>
  runCommandLine(LINE, context, async () => {
    context.print(`${await versionLine()}\n`);
    return 0;
  });
